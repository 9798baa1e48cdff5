//! An HTTPS port whose certificate nobody vouches for.
use std::net::Ipv4Addr;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 30\r\n\
    Connection: close\r\n\r\n<title>Secret</title><p>inside";

/// Serves one page to whoever takes its self-signed certificate, until it is dropped.
pub struct Tls {
    port: u16,
    accepting: JoinHandle<()>,
}

impl Tls {
    pub async fn start() -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(self_signed()));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(acceptor.clone(), stream));
            }
        });
        Self { port, accepting }
    }

    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}/", self.port)
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn self_signed() -> ServerConfig {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap()
}

/// A client that refuses the certificate ends the handshake; that is what this is for.
async fn answer(acceptor: TlsAcceptor, stream: TcpStream) {
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let mut request = vec![0; 8 * 1024];
    if stream.read(&mut request).await.is_ok() {
        let _ = stream.write_all(ANSWER).await;
        let _ = stream.shutdown().await;
    }
}
