//! Sends a command to the daemon, and starts or replaces the daemon when that is needed.
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::config::home::Home;
use crate::control::answer::{Answer, Failure};
use crate::control::build::Build;
use crate::control::daemon::{lock_holder, lock_is_free, open_private};
use crate::control::link::{Link, NoLink};
use crate::control::protocol::{Ask, Hello, Line, PROTOCOL, RefusalKind, Request};
use crate::control::server::GRACE;
use crate::control::starter::{Starter, Starting};
use crate::control::verbs::Verb;
use crate::domain::outcome::OutcomeKind;

/// How long a daemon may take to start, or an old one to end.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// How long a caller waits for its turn while others start or replace the daemon.
const TURN_PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at whether something has changed.
const PAUSE: Duration = Duration::from_millis(15);
/// After the server's own deadline a caller waits this much longer before it gives the daemon up.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// Where a request goes.
pub struct Client {
    home: Home,
    build: Build,
    starter: Arc<dyn Starter>,
}

/// How sending a request went.
enum Sent {
    Answered(Box<Answer>),
    /// The daemon did not act on it; it may be sent again.
    NotBegun,
    /// It may or may not have been begun.
    Lost,
}

impl Client {
    /// `home` must be prepared.
    pub fn new(home: Home, build: Build, starter: Arc<dyn Starter>) -> Self {
        Self { home, build, starter }
    }

    /// Sends `request` to the daemon, which is started when there is none, and returns its answer.
    /// It is sent once: when the connection breaks, the daemon is asked what became of it, and if
    /// nobody knows, the answer is `in_doubt`.
    pub async fn send(&self, request: Request, mut show: impl FnMut(&str, &Value)) -> Answer {
        let patience = request.deadline.map(|deadline| deadline.0 + GRACE + LAST_PATIENCE);
        let sending = self.send_once(request, &mut show);
        match patience {
            // Starting is not the command's time.
            Some(patience) => tokio::time::timeout(patience + TURN_PATIENCE, sending)
                .await
                .unwrap_or_else(|_| Answer::failed(4, self.mute("it does not answer"))),
            None => sending.await,
        }
    }

    /// Sends `request` to a daemon of this build that is there, and starts or replaces none.
    ///
    /// # Errors
    /// Says why nobody answered.
    pub async fn send_to_present(&self, request: Request) -> Result<Answer, Failure> {
        let absent = || {
            let failure = Failure::new("daemon", "no daemon is running");
            failure.hint("the next command starts one")
        };
        let link = match Link::open(&self.home.socket()).await {
            Ok(link) if self.fits(&link.hello) => link,
            Ok(_) => {
                return Err(Failure::new("daemon", "the daemon is another build of strawmanus")
                    .hint("the next command replaces it"));
            }
            Err(NoLink::Absent) => return Err(absent()),
            Err(NoLink::Mute(why)) => return Err(self.mute(&why)),
        };
        match exchange(link, &Ask::Request(Box::new(request)), &mut |_, _| {}).await {
            Sent::Answered(answer) => Ok(*answer),
            Sent::NotBegun | Sent::Lost => Err(absent()),
        }
    }

    async fn send_once(&self, request: Request, show: &mut impl FnMut(&str, &Value)) -> Answer {
        // No daemon is started to end it.
        if matches!(request.verb, Verb::Close { .. }) && self.is_absent().await {
            return Answer::told("nothing is open", json!({}));
        }
        let ask = Ask::Request(Box::new(request.clone()));
        // Only a request that was not begun is sent again.
        for _ in 0..5 {
            let link = match self.connect().await {
                Ok(link) => link,
                Err(failure) => return Answer::failed(4, failure),
            };
            match exchange(link, &ask, show).await {
                Sent::Answered(answer) => return *answer,
                Sent::NotBegun => tokio::time::sleep(PAUSE).await,
                Sent::Lost => return self.what_became(&request).await,
            }
        }
        Answer::failed(4, self.mute("it ended again and again"))
    }

    /// Whether there is no daemon; one that is just coming or going is waited for.
    async fn is_absent(&self) -> bool {
        let until = Instant::now() + START_PATIENCE;
        while matches!(Link::open(&self.home.socket()).await, Err(NoLink::Absent)) {
            if lock_is_free(&self.home) {
                return true;
            }
            if Instant::now() > until {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        false
    }

    /// Asks a living daemon for the answer that was lost. Starts none: a new one knows nothing.
    async fn what_became(&self, request: &Request) -> Answer {
        let ask = Ask::Became(request.id.clone());
        for _ in 0..3 {
            if let Ok(link) = Link::open(&self.home.socket()).await {
                match exchange(link, &ask, &mut |_, _| {}).await {
                    Sent::Answered(answer) => return *answer,
                    Sent::NotBegun => break,
                    Sent::Lost => {}
                }
            }
            tokio::time::sleep(PAUSE * 4).await;
        }
        in_doubt(&request.verb)
    }

    /// Connects to a daemon of this build.
    pub async fn connect(&self) -> Result<Link, Failure> {
        match Link::open(&self.home.socket()).await {
            Ok(link) if self.fits(&link.hello) => return Ok(link),
            Err(NoLink::Mute(why)) => return Err(self.mute(&why)),
            Ok(_) | Err(NoLink::Absent) => {}
        }
        let _turn = self.turn().await?;
        self.start_or_replace().await
    }

    fn fits(&self, hello: &Hello) -> bool {
        let build = hello.build.as_ref();
        hello.protocol == PROTOCOL && build.is_some_and(|build| build.serves(&self.build))
    }

    /// Waits until no other caller starts or replaces the daemon.
    async fn turn(&self) -> Result<File, Failure> {
        let path = self.home.start_lock_file();
        let trouble = |error: io::Error| {
            Failure::new("daemon", format!("{} cannot be locked: {error}", path.display()))
                .hint("run `strawmanus doctor`")
        };
        let lock = open_private(&path).map_err(trouble)?;
        let until = Instant::now() + TURN_PATIENCE;
        while lock.try_lock().is_err() {
            if Instant::now() > until {
                return Err(self.mute("another command has been starting it for too long"));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(lock)
    }

    async fn start_or_replace(&self) -> Result<Link, Failure> {
        let until = Instant::now() + START_PATIENCE;
        let mut started: Option<Starting> = None;
        loop {
            match Link::open(&self.home.socket()).await {
                Ok(link) if self.fits(&link.hello) => return Ok(link),
                Ok(link) => self.replace(link).await?,
                Err(NoLink::Mute(why)) => return Err(self.mute(&why)),
                Err(NoLink::Absent) => {}
            }
            let over = started.as_mut().is_none_or(Starting::has_ended);
            if over && lock_is_free(&self.home) {
                match &started {
                    Some(daemon) => return Err(daemon_died(daemon)),
                    None => started = Some(self.start()?),
                }
            }
            if Instant::now() > until {
                return Err(self.mute("it does not answer"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn start(&self) -> Result<Starting, Failure> {
        self.starter.start(&self.home).map_err(|error| {
            Failure::new("daemon", format!("the daemon cannot be started: {error}"))
                .hint("run `strawmanus doctor`")
        })
    }

    /// Tells a daemon of another build to end, and waits until it has.
    async fn replace(&self, mut link: Link) -> Result<(), Failure> {
        let pid = link.hello.pid;
        let asked = link.say(&Ask::Shutdown(true)).await;
        if let (Ok(()), Ok(Some(Line::Refused(refusal)))) = (asked, link.next().await) {
            let what = link.hello.busy.unwrap_or(refusal.message);
            let message =
                format!("the daemon is another build of strawmanus, and {what} is under way");
            let hint = "wait until it is over, or end it with the strawmanus that began it";
            return Err(Failure::new("daemon", message).hint(hint));
        }
        let until = Instant::now() + START_PATIENCE;
        while !lock_is_free(&self.home) {
            if Instant::now() > until {
                let message = format!("the daemon of another build (process {pid}) does not end");
                return Err(Failure::new("daemon", message).hint(format!("run `kill {pid}`")));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    fn mute(&self, why: &str) -> Failure {
        let pid = lock_holder(&self.home);
        let who = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        let failure = Failure::new("daemon", format!("the daemon{who} is of no use: {why}"));
        failure.hint("run `strawmanus doctor`")
    }
}

async fn exchange(mut link: Link, ask: &Ask, show: &mut impl FnMut(&str, &Value)) -> Sent {
    if link.say(ask).await.is_err() {
        return Sent::NotBegun;
    }
    loop {
        match link.next().await {
            Ok(Some(Line::Progress { text, json })) => show(&text, &json),
            Ok(Some(Line::Answer(answer))) => return Sent::Answered(answer),
            Ok(Some(Line::Unknown(_))) => return Sent::NotBegun,
            Ok(Some(Line::Refused(refusal))) => match refusal.kind {
                RefusalKind::Ending | RefusalKind::ForeignBuild => return Sent::NotBegun,
                _ => {
                    let failure = Failure::new("daemon", refusal.message);
                    return Sent::Answered(Box::new(Answer::failed(4, failure)));
                }
            },
            Ok(Some(Line::Hello(_) | Line::Ending(_))) => {}
            Ok(None) | Err(_) => return Sent::Lost,
        }
    }
}

fn daemon_died(daemon: &Starting) -> Failure {
    let tail = daemon.log_tail();
    let why = if tail.is_empty() { String::new() } else { format!(":\n{tail}") };
    Failure::new("daemon", format!("the daemon ended as soon as it was started{why}"))
        .hint("run `strawmanus doctor`")
}

fn in_doubt(verb: &Verb) -> Answer {
    let name = verb.name();
    let hint = match verb {
        Verb::Run { .. } | Verb::Demo {} => "see `strawmanus runs`",
        _ => "look before you repeat it: `strawmanus observe`",
    };
    let message = format!("the daemon was lost during `{name}`; what it did is not known");
    Answer::acted(OutcomeKind::InDoubt, message).with_hint(hint)
}

/// Makes the id of a request: 128 bits that no other request has.
pub fn new_request_id() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}
