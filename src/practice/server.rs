//! Starting and stopping the practice web.
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::serve::ListenerExt;
use tokio::net::TcpSocket;
use tokio::sync::oneshot;

use crate::practice::exchange::Asked;
use crate::practice::ledger::{self, Received};
use crate::practice::raw::Raw;
use crate::practice::web::Web;

/// How much to start.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many ports serve the sites: each is another origin. At least one is opened.
    pub ports: usize,
}

/// A practice web that serves until it is dropped. It has a thread and a runtime of its own, so a
/// test that pauses time or blocks its thread does not stop it.
#[derive(Debug)]
pub struct Practice {
    web: Arc<Web>,
    ports: Vec<u16>,
    raw: Vec<(Raw, u16)>,
    refused: (TcpSocket, u16),
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { ports: 3 }
    }
}

impl Practice {
    /// Opens the ports, on 127.0.0.1 alone, and serves.
    ///
    /// # Errors
    /// Fails when the machine has no port, thread or runtime left.
    pub fn start(options: Options) -> io::Result<Self> {
        let sites = (0..options.ports.max(1)).map(|_| open()).collect::<io::Result<Vec<_>>>()?;
        let odd = Raw::ALL.map(|raw| Ok((raw, open()?)));
        let odd = odd.into_iter().collect::<io::Result<Vec<_>>>()?;
        let ports = sites.iter().map(port_of).collect::<io::Result<Vec<_>>>()?;
        let raw = odd.iter().map(|(raw, listener)| Ok((*raw, port_of(listener)?)));
        let raw = raw.collect::<io::Result<Vec<_>>>()?;
        let web = Arc::new(Web::new(ports.clone(), port_for(&raw, Raw::EmptyReply))?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let serving = serve(Arc::clone(&web), sites, odd, stopped);
        let thread = std::thread::Builder::new().name("practice".into());
        // The runtime ends with the closure, and every connection with it.
        let thread = thread.spawn(move || runtime.block_on(serving))?;
        let (stop, thread) = (Some(stop), Some(thread));
        Ok(Self { web, ports, raw, refused: refuse()?, stop, thread })
    }

    /// Returns the address of `path` (from its slash on) at a site: `shop`, `mail`, `news`, `test`, or
    /// any other name, which has the pages under `/t/` only.
    pub fn url(&self, site: &str, path: &str) -> String {
        self.url_at(0, &format!("{site}.localhost"), path)
    }

    /// Returns the address of `path` at a host on the port `at`.
    pub fn url_at(&self, at: usize, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port(at))
    }

    /// Returns the port `at`, counted from 0, and round again after the last.
    pub fn port(&self, at: usize) -> u16 {
        self.ports[at % self.ports.len()]
    }

    /// Returns a port that breaks HTTP in that way.
    pub fn raw_port(&self, raw: Raw) -> u16 {
        port_for(&self.raw, raw)
    }

    /// Returns a port that refuses connections: bound, so nobody else gets it, but never listened on.
    pub fn refused_port(&self) -> u16 {
        self.refused.1
    }

    /// Returns everything received so far, in order.
    pub fn ledger(&self) -> Vec<Received> {
        self.web.ledger.rows()
    }

    /// Returns how many requests had this method and path, on whatever host.
    pub fn count(&self, method: &str, path: &str) -> usize {
        ledger::count(&self.ledger(), method, path)
    }

    /// Lets go what waits at `/__hold/NAME`, and whatever comes there later.
    pub fn release(&self, name: &str) {
        self.web.holds.release(name);
    }

    /// Makes what comes to `/__hold/NAME` wait again.
    pub fn shut(&self, name: &str) {
        self.web.holds.shut(name);
    }

    /// Returns how many requests wait at `/__hold/NAME`.
    pub fn waiting(&self, name: &str) -> usize {
        self.web.holds.waiting(name)
    }

    /// Waits until exactly `requests` wait at `/__hold/NAME`.
    pub async fn reached(&self, name: &str, requests: usize) {
        self.web.holds.reached(name, requests).await;
    }
}

impl Drop for Practice {
    /// Ends every connection and closes every port before it returns.
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Fails when the thread has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic in it was printed when it happened.
            let _ = thread.join();
        }
    }
}

async fn serve(
    web: Arc<Web>,
    sites: Vec<TcpListener>,
    odd: Vec<(Raw, TcpListener)>,
    stopped: oneshot::Receiver<()>,
) {
    let router = Router::new().fallback(answer).with_state(web);
    for listener in sites {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        let prompt = listener.tap_io(|stream| {
            // Only makes answers slower where it fails.
            let _ = stream.set_nodelay(true);
        });
        let router = router.clone();
        tokio::spawn(async move { axum::serve(prompt, router).await });
    }
    for (raw, listener) in odd {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        tokio::spawn(raw.serve(listener));
    }
    // An error means that the sender is gone, which also means stop.
    let _ = stopped.await;
}

async fn answer(State(web): State<Arc<Web>>, request: Request) -> Response<Body> {
    web.answer(Asked::read(request).await).await.into_response()
}

fn open() -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn refuse() -> io::Result<(TcpSocket, u16)> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let port = socket.local_addr()?.port();
    Ok((socket, port))
}

fn port_of(listener: &TcpListener) -> io::Result<u16> {
    Ok(listener.local_addr()?.port())
}

fn port_for(ports: &[(Raw, u16)], raw: Raw) -> u16 {
    ports.iter().find(|(kind, _)| *kind == raw).map_or(0, |(_, port)| *port)
}
