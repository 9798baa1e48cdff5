//! Ports that break HTTP on purpose.
use std::future::pending;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What such a port does with every connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw {
    /// Reads a request, then closes.
    EmptyReply,
    /// Accepts, and never says a word.
    Silent,
    /// Promises 1,000 bytes of HTML, sends some, closes.
    CutShort,
    /// Answers with what is no HTTP.
    Garbage,
}

impl Raw {
    pub const ALL: [Self; 4] = [Self::EmptyReply, Self::Silent, Self::CutShort, Self::Garbage];

    /// Serves `listener` until it is dropped.
    pub async fn serve(self, listener: TcpListener) {
        // Accepting fails when the machine is out of sockets; then tests fail by themselves.
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(self.meet(stream));
        }
    }

    async fn meet(self, mut stream: TcpStream) {
        // Closing with unread bytes would be a reset, so the request is read first.
        let mut request = vec![0; 16 * 1024];
        if stream.read(&mut request).await.is_err() {
            return;
        }
        let answer: &[u8] = match self {
            Self::EmptyReply => b"",
            Self::Silent => return pending().await,
            Self::CutShort => {
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<p>Half"
            }
            Self::Garbage => b"\x16\x03 this is no HTTP\r\n\r\n",
        };
        // The client may be gone already; there is nobody left to tell.
        let _ = stream.write_all(answer).await;
        let _ = stream.shutdown().await;
    }
}
