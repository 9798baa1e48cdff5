//! A caller's end of one connection to the daemon.
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::control::protocol::{Ask, Hello, Line};

/// A daemon that is there says so within this time, also on a machine that is busy.
const HELLO_PATIENCE: Duration = Duration::from_secs(10);

/// A connection on which the daemon has said who it is.
#[derive(Debug)]
pub struct Link {
    pub hello: Hello,
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

/// Why there is no connection.
#[derive(Debug)]
pub enum NoLink {
    /// No daemon: no socket, nobody behind it, or one that was just ending.
    Absent,
    /// Somebody is there and does not speak as a daemon does.
    Mute(String),
}

impl Link {
    /// Connects and waits for the daemon's hello.
    pub async fn open(socket: &Path) -> Result<Self, NoLink> {
        match tokio::time::timeout(HELLO_PATIENCE, Self::greet(socket)).await {
            Ok(Ok(link)) => Ok(link),
            Ok(Err(error)) => Err(match error.kind() {
                ErrorKind::NotFound
                | ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionReset
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof => NoLink::Absent,
                _ => NoLink::Mute(error.to_string()),
            }),
            Err(_) => Err(NoLink::Mute("it says nothing".to_owned())),
        }
    }

    async fn greet(socket: &Path) -> io::Result<Self> {
        let (reader, writer) = UnixStream::connect(socket).await?.into_split();
        let mut reader = BufReader::new(reader);
        match next_line(&mut reader).await? {
            Some(Line::Hello(hello)) => Ok(Self { hello, reader, writer }),
            Some(_) => Err(io::Error::new(ErrorKind::InvalidData, "it does not greet")),
            None => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Writes one line. After an error the daemon has not seen all of it, and acts on no part.
    pub async fn say(&mut self, ask: &Ask) -> io::Result<()> {
        let mut line = serde_json::to_string(ask)?;
        line.push('\n');
        self.writer.write_all(line.as_bytes()).await
    }

    /// Reads one line; nothing when the daemon has hung up.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        next_line(&mut self.reader).await
    }
}

async fn next_line(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Line>> {
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    if !line.ends_with('\n') {
        return Ok(None);
    }
    serde_json::from_str(&line)
        .map(Some)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}
