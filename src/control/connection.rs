//! One connection of the daemon: reads a line, acts on it, writes lines.
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, watch};

use crate::control::answers::Outcome;
use crate::control::handler::Progress;
use crate::control::protocol::{Ask, Line, PROTOCOL, Refusal, RefusalKind, Request};
use crate::control::server::Server;

/// A caller that does not read for this long is given up; its answer can still be asked for.
const WRITE_PATIENCE: Duration = Duration::from_secs(10);
/// Live steps that may wait for a slow caller.
const STEPS: usize = 256;

pub(crate) struct Connection {
    server: Arc<Server>,
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    stranger: bool,
}

/// Why a connection is over.
enum Over {
    /// The caller has gone, or does not read.
    Gone,
    Refused(Refusal),
}

impl From<io::Error> for Over {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Just enough of a request to see which version wrote it.
#[derive(Deserialize)]
struct Versioned {
    request: Option<Head>,
}

#[derive(Deserialize)]
struct Head {
    v: u32,
    #[serde(flatten)]
    _rest: IgnoredAny,
}

impl Connection {
    pub(crate) fn new(server: Arc<Server>, stream: UnixStream) -> Self {
        // The folder is private already; this holds even where its mode was changed by hand.
        let own = nix::unistd::geteuid().as_raw();
        let stranger = !stream.peer_cred().is_ok_and(|peer| peer.uid() == own);
        let (reader, writer) = stream.into_split();
        Self { server, reader: BufReader::new(reader), writer, stranger }
    }

    pub(crate) async fn serve(mut self) {
        if self.stranger {
            tracing::warn!("a process of another user was turned away");
            return;
        }
        if let Err(Over::Refused(refusal)) = self.talk().await {
            tracing::warn!(kind = ?refusal.kind, message = refusal.message, "a line was refused");
            let _ = self.write(&Line::Refused(refusal)).await;
        }
    }

    async fn talk(&mut self) -> Result<(), Over> {
        self.write(&Line::Hello(self.server.hello())).await?;
        while let Some(ask) = self.read().await? {
            match ask {
                Ask::Request(request) => self.request(*request).await?,
                Ask::Became(id) => self.became(id).await?,
                Ask::Shutdown(_) => return self.shut_down().await,
            }
        }
        Ok(())
    }

    async fn request(&mut self, request: Request) -> Result<(), Over> {
        if !self.server.build.serves(&request.build) {
            return Err(refused(
                RefusalKind::ForeignBuild,
                format!("this daemon is build {}, the caller {}", self.server.build, request.build),
            ));
        }
        if self.server.is_ending() {
            return Err(refused(RefusalKind::Ending, "this daemon is ending; ask the next one"));
        }
        let _active = self.server.active();
        let (steps, mut shown) = mpsc::channel(STEPS);
        let (gone, seen_gone) = watch::channel(false);
        let id = request.id.clone();
        let outcome = self.server.begin(request, Progress::new(steps, seen_gone));
        let over = match outcome {
            Some(outcome) => self.show(&mut shown, outcome).await,
            None => self.write(&Line::Unknown(id)).await,
        };
        if over.is_err() {
            gone.send_replace(true);
        }
        over
    }

    /// Writes steps as they come, then the answer; ends early when the caller hangs up.
    async fn show(
        &mut self,
        steps: &mut mpsc::Receiver<Line>,
        mut outcome: Outcome,
    ) -> Result<(), Over> {
        let mut watching = true;
        let line = loop {
            tokio::select! {
                biased;
                Some(step) = steps.recv() => {
                    let text = serde_json::to_string(&step).unwrap_or_default();
                    write_line(&mut self.writer, &text).await?;
                }
                told = answer_of(&mut outcome) => break told.ok_or(Over::Gone)?,
                // Bytes of a next line stay where they are; no bytes mean that nobody is there.
                waiting = self.reader.fill_buf(), if watching => {
                    if waiting?.is_empty() {
                        return Err(Over::Gone);
                    }
                    watching = false;
                }
            }
        };
        while let Ok(step) = steps.try_recv() {
            let text = serde_json::to_string(&step).unwrap_or_default();
            write_line(&mut self.writer, &text).await?;
        }
        write_line(&mut self.writer, &line).await
    }

    async fn became(&mut self, id: String) -> Result<(), Over> {
        let _active = self.server.active();
        match self.server.answers.find(&id) {
            Some(outcome) => {
                let (_, mut no_steps) = mpsc::channel(1);
                self.show(&mut no_steps, outcome).await
            }
            None => self.write(&Line::Unknown(id)).await,
        }
    }

    async fn shut_down(&mut self) -> Result<(), Over> {
        if let Some(what) = self.server.handler.busy() {
            return Err(refused(RefusalKind::Busy, format!("{what} is under way")));
        }
        self.write(&Line::Ending(true)).await?;
        self.server.end();
        Ok(())
    }

    /// Reads one line. Returns nothing when the caller has hung up.
    async fn read(&mut self) -> Result<Option<Ask>, Over> {
        let limit = self.server.limits.line;
        let mut line = Vec::new();
        let mut bounded = (&mut self.reader).take(limit as u64 + 1);
        let read = bounded.read_until(b'\n', &mut line).await?;
        if read > limit {
            return Err(refused(
                RefusalKind::BadLine,
                format!("the line is longer than {limit} bytes"),
            ));
        }
        // A line that was cut off was not meant to be acted on.
        if line.last() != Some(&b'\n') {
            return Ok(None);
        }
        parse(&line).map(Some).map_err(Over::Refused)
    }

    async fn write(&mut self, line: &Line) -> Result<(), Over> {
        let text = serde_json::to_string(line).map_err(|_| Over::Gone)?;
        write_line(&mut self.writer, &text).await
    }
}

async fn answer_of(outcome: &mut Outcome) -> Option<Arc<str>> {
    outcome.wait_for(Option::is_some).await.ok()?.clone()
}

async fn write_line(writer: &mut OwnedWriteHalf, text: &str) -> Result<(), Over> {
    let line = format!("{text}\n");
    match tokio::time::timeout(WRITE_PATIENCE, writer.write_all(line.as_bytes())).await {
        Ok(written) => Ok(written?),
        Err(_) => Err(Over::Gone),
    }
}

fn refused(kind: RefusalKind, message: impl Into<String>) -> Over {
    Over::Refused(Refusal { kind, message: message.into() })
}

fn parse(line: &[u8]) -> Result<Ask, Refusal> {
    let bad = |error: serde_json::Error| Refusal {
        kind: RefusalKind::BadLine,
        message: format!("the line cannot be read: {error}"),
    };
    let versioned: Versioned = serde_json::from_slice(line).map_err(bad)?;
    if let Some(head) = versioned.request.filter(|head| head.v != PROTOCOL) {
        return Err(Refusal {
            kind: RefusalKind::ForeignProtocol,
            message: format!("this daemon speaks protocol {PROTOCOL}, the caller {}", head.v),
        });
    }
    serde_json::from_slice(line).map_err(bad)
}
