//! The wire to the browser: whole messages in both directions, over a pipe or a WebSocket.
use std::io;

use async_trait::async_trait;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// The largest message taken from a browser; a full-page picture stays far below.
const LARGEST: usize = 512 << 20;

/// What takes messages to the browser.
#[async_trait]
pub(super) trait Outgoing: Send + 'static {
    async fn send(&mut self, message: String) -> io::Result<()>;
}

/// What brings messages of the browser. `None` when the other end closed.
#[async_trait]
pub(super) trait Incoming: Send + 'static {
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>>;
}

/// Both directions of one wire.
pub(super) struct Wire {
    pub outgoing: Box<dyn Outgoing>,
    pub incoming: Box<dyn Incoming>,
}

impl Wire {
    /// Messages of JSON, each closed by a NUL byte.
    pub fn pipe(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            outgoing: Box::new(PipeOut(write)),
            incoming: Box::new(PipeIn(BufReader::with_capacity(1 << 16, read))),
        }
    }

    /// Opens a WebSocket. `ws://` only.
    pub async fn web_socket(url: &str) -> Result<Self, Box<tokio_tungstenite::tungstenite::Error>> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(LARGEST))
            .max_frame_size(Some(LARGEST));
        let (stream, _) = tokio_tungstenite::connect_async_with_config(url, Some(config), true)
            .await
            .map_err(Box::new)?;
        let (outgoing, incoming) = stream.split();
        Ok(Self { outgoing: Box::new(SocketOut(outgoing)), incoming: Box::new(SocketIn(incoming)) })
    }
}

struct PipeOut<W>(W);

#[async_trait]
impl<W: AsyncWrite + Send + Unpin + 'static> Outgoing for PipeOut<W> {
    async fn send(&mut self, message: String) -> io::Result<()> {
        let mut bytes = message.into_bytes();
        bytes.push(0);
        self.0.write_all(&bytes).await?;
        self.0.flush().await
    }
}

struct PipeIn<R>(BufReader<R>);

#[async_trait]
impl<R: AsyncRead + Send + Unpin + 'static> Incoming for PipeIn<R> {
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut message = Vec::new();
        (&mut self.0).take(LARGEST as u64).read_until(0, &mut message).await?;
        match message.pop() {
            Some(0) => Ok(Some(message)),
            // The other end closed, perhaps in the middle of a message that is of no use now.
            _ if message.len() + 1 < LARGEST => Ok(None),
            _ => Err(io::Error::other("a message of the browser is too large")),
        }
    }
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

struct SocketOut(SplitSink<Socket, Message>);

#[async_trait]
impl Outgoing for SocketOut {
    async fn send(&mut self, message: String) -> io::Result<()> {
        self.0.send(Message::text(message)).await.map_err(io::Error::other)
    }
}

struct SocketIn(SplitStream<Socket>);

#[async_trait]
impl Incoming for SocketIn {
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.0.next().await {
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(Message::Text(text))) => return Ok(Some(text.as_bytes().to_vec())),
                Some(Ok(Message::Binary(bytes))) => return Ok(Some(bytes.to_vec())),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(error)) => return Err(io::Error::other(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pipe_carries_whole_messages_however_they_are_cut() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let (read, write) = tokio::io::split(ours);
        let mut wire = Wire::pipe(read, write);
        wire.outgoing.send("{\"id\":1}".into()).await.unwrap();
        let mut sent = [0; 9];
        theirs.read_exact(&mut sent).await.unwrap();
        assert_eq!(&sent, b"{\"id\":1}\0");
        theirs.write_all(b"{\"a\":").await.unwrap();
        theirs.write_all(b"1}\0{}\0{\"cut").await.unwrap();
        drop(theirs);
        assert_eq!(wire.incoming.next().await.unwrap().unwrap(), b"{\"a\":1}");
        assert_eq!(wire.incoming.next().await.unwrap().unwrap(), b"{}");
        assert_eq!(wire.incoming.next().await.unwrap(), None);
    }
}
