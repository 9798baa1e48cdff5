//! `run` in the foreground: shows the steps as they come, asks the person when the run needs one, and
//! ends the run in good order on Ctrl-C.
mod face;
mod keyboard;
mod screen;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::cli::print::Printer;
use crate::cli::run::face::{Deed, Face, Heard};
use crate::cli::run::keyboard::{Keyboard, Typed};
use crate::cli::run::screen::Screen;
use crate::config::RunLimits;
use crate::control::answer::Answer;
use crate::control::client::{Client, new_request_id};
use crate::control::protocol::Request;
use crate::control::verbs::Verb;

/// How often the time of the step under way is shown anew.
const TICK: Duration = Duration::from_secs(1);

/// Sends a run to the daemon and stays with it until it is over, or the person leaves.
pub async fn follow(
    client: Client,
    request: Request,
    limits: &RunLimits,
    printer: Printer,
) -> Answer {
    let client = Arc::new(client);
    let attended = request.context.terminal && !request.globals.json;
    let (told, tidings) = mpsc::unbounded_channel();
    let aside = Aside { client: Arc::clone(&client), request: request.clone(), limits, told };
    let (steps, shown) = mpsc::unbounded_channel();
    let sending = client.send(request, move |text, json| {
        let _ = steps.send((text.to_owned(), json.clone()));
    });
    let mut caller = Caller {
        face: Face::new(attended),
        screen: Screen::new(printer, attended),
        keyboard: Keyboard::default(),
        aside,
        began: Instant::now(),
    };
    tokio::pin!(sending);
    let left = caller.listen(shown, tidings, &mut sending).await;
    caller.screen.clear();
    left
}

/// Who called, and what they have to see and speak with.
struct Caller<'a> {
    face: Face,
    screen: Screen,
    keyboard: Keyboard,
    aside: Aside<'a>,
    began: Instant,
}

type Shown = mpsc::UnboundedReceiver<(String, serde_json::Value)>;

impl Caller<'_> {
    async fn listen(
        &mut self,
        mut shown: Shown,
        mut tidings: mpsc::UnboundedReceiver<Answer>,
        sending: &mut (impl Future<Output = Answer> + Unpin),
    ) -> Answer {
        let mut interrupts = signal(SignalKind::interrupt()).ok();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let left = tokio::select! {
                biased;
                () = interrupted(&mut interrupts) => self.take(Heard::Interrupt),
                Some((text, json)) = shown.recv() => self.take(Heard::Step(&text, &json)),
                answer = &mut *sending => {
                    while let Ok((text, json)) = shown.try_recv() {
                        self.take(Heard::Step(&text, &json));
                    }
                    return answer;
                }
                typed = self.keyboard.next() => match typed {
                    Typed::Line(line) => {
                        self.screen.typed();
                        self.take(Heard::Typed(line))
                    }
                    Typed::End => self.take(Heard::EndOfInput),
                },
                Some(answer) = tidings.recv() => self.take(Heard::Told(Box::new(answer))),
                _ = ticks.tick() => self.take(Heard::Tick),
            };
            if let Some(answer) = left {
                return answer;
            }
        }
    }

    /// Takes in what was heard and does what follows; returns the answer to leave with, if one does.
    fn take(&mut self, heard: Heard<'_>) -> Option<Answer> {
        let mut left = None;
        if let Heard::Step(told, _) = heard {
            self.screen.told(told);
        }
        for deed in self.face.update(heard, self.began.elapsed()) {
            match deed {
                Deed::Step(line) => self.screen.step(&line),
                Deed::Say(text) => self.screen.say(&text),
                Deed::Listen => self.keyboard.listen(),
                Deed::Send(verb) => self.aside.send(verb),
                Deed::Leave(answer) => left = Some(*answer),
            }
        }
        self.screen.tail(self.face.tail());
        left
    }
}

async fn interrupted(interrupts: &mut Option<Signal>) {
    match interrupts {
        Some(interrupts) => drop(interrupts.recv().await),
        None => std::future::pending().await,
    }
}

/// Asks the daemon beside the run: on a connection of its own, for the run's is taken.
struct Aside<'a> {
    client: Arc<Client>,
    request: Request,
    limits: &'a RunLimits,
    told: mpsc::UnboundedSender<Answer>,
}

impl Aside<'_> {
    fn send(&self, verb: Verb) {
        let (client, told) = (Arc::clone(&self.client), self.told.clone());
        let deadline = verb.patience(self.limits);
        let request = Request { id: new_request_id(), verb, deadline, ..self.request.clone() };
        tokio::spawn(async move {
            let answer = client.send_to_present(request).await;
            let _ = told.send(answer.unwrap_or_else(|failure| Answer::failed(4, failure)));
        });
    }
}

#[cfg(test)]
mod tests;
