//! `attach` on a terminal: looks at the daemon four times a second and draws what it sees. It starts no
//! daemon and needs no actor to answer.
mod keys;
mod model;
mod view;

use std::io::{self, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::cli::attach::model::{Heard, Model, Wish, decision};
use crate::cli::attach::view::{Paint, draw};
use crate::control::answer::{Answer, Failure};
use crate::control::client::{Client, new_request_id};
use crate::control::protocol::Request;
use crate::control::sight::Sight;
use crate::control::verbs::Verb;
use crate::domain::ids::{HoldId, RunId};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);
/// A key is seen this soon.
const KEY_PAUSE: Duration = Duration::from_millis(50);

/// Shows the house until the person leaves. `request` is any request of this caller.
pub async fn show(client: Client, request: Request, run: Option<RunId>) -> Answer {
    match watch(Arc::new(client), request, run).await {
        Ok(()) => Answer::default(),
        Err(error) => {
            let failure = Failure::new("internal", format!("the terminal is of no use: {error}"));
            Answer::failed(4, failure.hint("use `strawmanus attach --json`"))
        }
    }
}

/// The terminal, taken over; given back when this is dropped, and when anything panics.
struct Screen(DefaultTerminal);

impl Screen {
    fn open() -> io::Result<Self> {
        ratatui::try_init().map(Self)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

async fn watch(client: Arc<Client>, request: Request, run: Option<RunId>) -> io::Result<()> {
    let (mut terminated, mut hung_up, mut interrupted) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
        signal(SignalKind::interrupt())?,
    );
    let (news, mut heard) = mpsc::unbounded_channel();
    let eyes = Eyes { client, request, news };
    let paint = if has_colours() { Paint::Colours } else { Paint::Plain };
    let mut model = Model::new(run);
    let mut screen = Screen::open()?;
    let _keys = Keys::listen(eyes.news.clone());
    let mut looks = tokio::time::interval(PAUSE);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut looking = eyes.look(model.run);
    loop {
        screen.0.draw(|frame| draw(&model, paint, frame.area(), frame.buffer_mut()))?;
        let wish = tokio::select! {
            Some(news) = heard.recv() => news.and_then(|news| model.update(news)),
            _ = looks.tick() => looking.is_finished().then_some(Wish::Look),
            _ = terminated.recv() => Some(Wish::Leave),
            _ = hung_up.recv() => Some(Wish::Leave),
            _ = interrupted.recv() => Some(Wish::Leave),
        };
        match wish {
            Some(Wish::Leave) => return Ok(()),
            Some(Wish::Look) => {
                looking.abort();
                looking = eyes.look(model.run);
            }
            Some(Wish::Approve(id)) => eyes.decide(id, Verb::Approve { id: Some(id) }),
            Some(Wish::Deny(id)) => eyes.decide(id, Verb::Deny { id }),
            None => {}
        }
    }
}

/// Colours are for terminals that can show them, and people who want them (`NO_COLOR`).
fn has_colours() -> bool {
    anstream::AutoStream::choice(&stdout()) != anstream::ColorChoice::Never
}

/// How the daemon is asked; what it says comes back as news.
struct Eyes {
    client: Arc<Client>,
    request: Request,
    news: News,
}

/// News for the model; none where only the size of the window changed.
type News = mpsc::UnboundedSender<Option<Heard>>;

impl Eyes {
    fn look(&self, run: Option<RunId>) -> tokio::task::JoinHandle<()> {
        let (client, news) = (Arc::clone(&self.client), self.news.clone());
        let request = self.asking(Verb::Attach { run });
        tokio::spawn(async move {
            let _ = news.send(Some(seen(client.send_to_present(request).await)));
        })
    }

    fn decide(&self, id: HoldId, verb: Verb) {
        let (client, news) = (Arc::clone(&self.client), self.news.clone());
        let request = self.asking(verb);
        tokio::spawn(async move {
            let _ = news.send(Some(decision(id, client.send_to_present(request).await)));
        });
    }

    fn asking(&self, verb: Verb) -> Request {
        Request { id: new_request_id(), verb, ..self.request.clone() }
    }
}

fn seen(answer: Result<Answer, Failure>) -> Heard {
    let told = |failure: Failure| match failure.hint {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message,
    };
    match answer {
        Ok(Answer { error: Some(failure), .. }) | Err(failure) => Heard::Lost(told(failure)),
        Ok(answer) => match serde_json::from_value::<Sight>(answer.data) {
            Ok(sight) => Heard::Seen(Box::new(sight)),
            Err(error) => Heard::Lost(format!("the daemon cannot be understood: {error}")),
        },
    }
}

/// Reads the keyboard in a thread of its own, for reading blocks.
struct Keys(Arc<AtomicBool>);

impl Keys {
    fn listen(news: News) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen_over = Arc::clone(&over);
        std::thread::spawn(move || {
            while !seen_over.load(Ordering::Relaxed) {
                let said = match event::poll(KEY_PAUSE) {
                    Ok(false) => continue,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                let told = match said {
                    Ok(event) => news.send(keys::meaning(&event).map(Heard::Key)),
                    // The terminal is gone: nobody sees anything any more.
                    Err(_) => news.send(Some(Heard::Key(keys::Key::Leave))),
                };
                if told.is_err() {
                    return;
                }
            }
        });
        Self(over)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
