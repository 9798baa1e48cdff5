//! What the model is told each turn, and how it is asked.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use crate::actors::orchestrator::deeds::{Deed, NO_CALL, has_failed};
use crate::actors::orchestrator::looping::{End, Loop};
use crate::domain::journal::{Answered, Event, Status, Step};
use crate::domain::page::change::changes;
use crate::domain::plan::{Budget, ladder};
use crate::domain::told::{Told, fold_point};
use crate::domain::tool::ToolCall;
use crate::messages::orchestrator::RunError;
use crate::ports::model::{
    Answer, Conversation, Failed, Meaning, Message, ModelError, Picture, Turn,
};

/// Tokens of the instructions and of the table of tools, which stand before every conversation.
const STANDING: u64 = 4_000;
/// What a page is cut to, as a part of its usual bound, once the model says that it is told too much.
const SQUEEZED: usize = 4;

/// What asking the model led to.
pub enum Asked {
    Call(ToolCall),
    /// An answer that is no call; its step is over.
    Fault,
    Over(End),
}

impl Loop {
    /// Asks the model; its answer is on disk before it is used.
    pub async fn ask(&mut self, step: u32) -> Result<Asked, RunError> {
        let mut told = self.tell();
        self.fold(false).await?;
        let mut squeezed = false;
        loop {
            let most_tokens = match self.affordable(step, &told) {
                Ok(most) => most,
                Err(why) => return Ok(Asked::Over(End::blocked(why))),
            };
            let url = self.worker.url();
            self.record(Event::Asked { step, url, told: told.clone() }).await?;
            self.desk.post(format!("step {step}: asking {}", self.note.model.name()));
            let conversation = self.conversation(step, &told).await;
            let conversation = Conversation { most_tokens, ..conversation };
            let asked = Instant::now();
            let answer = self.note.model.answer(&conversation).await;
            self.tally.asked(asked.elapsed());
            let Failed { error, usage } = match answer {
                Ok(answer) => return self.answered(step, answer).await,
                Err(failed) => failed,
            };
            let why = error.to_string();
            self.record(Event::Unanswered { step, why: why.clone(), usage }).await?;
            if !matches!(error, ModelError::TooLong { .. }) || squeezed {
                return Ok(Asked::Over(End::failed(why)));
            }
            squeezed = true;
            self.fold(true).await?;
            self.squeeze(&mut told);
        }
    }

    async fn answered(&mut self, step: u32, answer: Answer) -> Result<Asked, RunError> {
        let Answer { raw, meaning, usage, note } = answer;
        match meaning {
            Meaning::Call(meant) => {
                let (raw, call) = self.worker.discreet(raw, &meant);
                let call = Some(call);
                self.record(Event::Answered { step, raw, call, note, usage }).await?;
                Ok(Asked::Call(meant))
            }
            Meaning::Fault { why, .. } => {
                let note = Some(why.clone());
                self.record(Event::Answered { step, raw, call: None, note, usage }).await?;
                self.came(step, Deed::told(NO_CALL, vec![why])).await?;
                Ok(Asked::Fault)
            }
        }
    }

    /// Says how long the answer may be within the run's budget.
    fn affordable(&self, step: u32, told: &Told) -> Result<Option<u32>, String> {
        let turns = self.turns_but(step);
        let sizes = turns.iter().enumerate().map(|(at, (told, answered))| {
            told.size(at < self.standing.folded) + answered.output_tokens
        });
        let next = STANDING + sizes.sum::<u64>() + told.size(false);
        let (limits, price) = (&self.order.limits, self.order.price.as_ref());
        Budget { limits, price }.left(self.standing.usage, next)
    }

    /// What the model is told now: what came of its last call, and what became of the page.
    fn tell(&mut self) -> Told {
        let last = self.standing.steps.iter().rev().find(|step| step.outcome.is_some()).cloned();
        let mut told = Told { nonce: self.world.nonces.draw(), ..Told::default() };
        let mut result = last.as_ref().and_then(|step| self.result_of(step));
        let before = self.shown.take();
        let now = self.worker.newest.clone();
        let looked = matches!(last.as_ref().and_then(|l| l.call.as_ref()), Some(ToolCall::View {}));
        let change = before.zip(now.as_ref()).and_then(|(before, now)| changes(&before, now));
        match change.filter(|_| !looked) {
            Some(lines) if lines.is_empty() => {}
            Some(lines) => {
                let lines = lines.iter().map(|line| format!("\n{line}"));
                result.get_or_insert_default().extend(lines);
            }
            None => told.page = now.as_ref().map(|page| page.within(self.markdown_bound())),
        }
        let news = std::mem::take(&mut self.worker.news);
        let news: String = news.iter().map(|line| format!("\n! {line}")).collect();
        if !news.is_empty() {
            result.get_or_insert_default().push_str(&news);
        }
        told.result = result.map(|text| text.trim_start().to_owned());
        told.note = self.notes(last.as_ref()).join("\n");
        told.picture = last.and_then(|step| step.picture);
        self.shown = now;
        told
    }

    /// The outcome of a step and its delta; of one whose answer was no call, nothing.
    fn result_of(&self, step: &Step) -> Option<String> {
        let outcome = step.outcome.as_deref().filter(|outcome| *outcome != NO_CALL)?;
        let lines: Vec<_> =
            std::iter::once(outcome).chain(step.delta.iter().map(String::as_str)).collect();
        let text = lines.join("\n");
        let asked_for = step.call.as_ref().is_some_and(is_asked_for);
        Some(if asked_for { text } else { self.order.context.shorten(&text) })
    }

    /// What we say ourselves, outside of any fence.
    fn notes(&self, last: Option<&Step>) -> Vec<String> {
        let mut notes = Vec::new();
        let Some(last) = last else {
            let today = self.world.clock.now().strftime("%Y-%m-%d").to_string();
            notes
                .push(format!("Today is {today}. You may take {} steps.", self.order.limits.steps));
            return notes;
        };
        if let Some(note) = last.answered.as_ref().and_then(|answered| answered.note.as_ref()) {
            notes.push(match last.outcome.as_deref() {
                Some(NO_CALL) => format!(
                    "Your answer was no call that can be carried out: {note}. Answer with exactly one call of a tool."
                ),
                _ => format!("Your last answer was mended: {note}."),
            });
        }
        if let (Some(met), Some(ToolCall::AskUser { .. } | ToolCall::Takeover { .. })) =
            (&last.met, &last.call)
        {
            notes.push(if met.is_empty() {
                "The user has done their part.".to_owned()
            } else {
                format!("The user answers: {met}")
            });
        }
        let failed = |step: &&Step| {
            step.outcome.as_ref().is_some_and(|outcome| has_failed(outcome, &step.delta))
        };
        let failures = self.standing.steps.iter().rev().filter(|s| s.outcome.is_some());
        let failures = failures.take_while(failed).count();
        let place = last.call.as_ref().and_then(|call| self.worker.centre_of(call));
        notes.extend(ladder(failures, place));
        let done = self.standing.steps.iter().filter(|step| step.outcome.is_some()).count();
        let left =
            usize::try_from(self.order.limits.steps).unwrap_or(usize::MAX).saturating_sub(done);
        if left <= 5 {
            notes.push(format!("{left} steps are left: finish with what you have."));
        }
        notes
    }

    /// Folds older turns, all at once, when the conversation has grown too long, or is said to be.
    async fn fold(&mut self, now: bool) -> Result<(), RunError> {
        let turns = self.turns_but(0);
        let mut bounds = self.order.context;
        if now {
            (bounds.fold_at, bounds.recent_steps) = (0, 1);
        }
        let sizes: Vec<_> =
            turns.iter().map(|(told, answered)| (*told, answered.output_tokens)).collect();
        let Some(before) = fold_point(&sizes, self.standing.folded, &bounds) else {
            return Ok(());
        };
        self.record(Event::Folded { before }).await
    }

    fn squeeze(&self, told: &mut Told) {
        let most = self.markdown_bound() / SQUEEZED;
        if let (Some(page), Some(now)) = (&mut told.page, &self.worker.newest) {
            *page = now.within(most);
        }
    }

    /// Characters of a page's Markdown.
    fn markdown_bound(&self) -> usize {
        usize::try_from(self.order.context.markdown).unwrap_or(usize::MAX).saturating_mul(3)
    }

    /// Every turn that was told and answered, but those of one step.
    fn turns_but(&self, step: u32) -> Vec<(&Told, &Answered)> {
        let others = self.standing.steps.iter().filter(|other| other.number != step);
        others.filter_map(|step| Some((step.told.as_ref()?, step.answered.as_ref()?))).collect()
    }

    async fn conversation(&self, step: u32, told: &Told) -> Conversation {
        let turns = self.turns_but(step);
        let pictures = self.pictures(&turns, told).await;
        let message = |at: usize, told: &Told| {
            let folded = at < self.standing.folded;
            let text = told.words(folded);
            let task = format!("The task:\n{}\n\n", self.order.task);
            let picture = told.picture.as_ref().filter(|_| !folded);
            Message {
                text: if at == 0 { task + &text } else { text },
                picture: picture.and_then(|name| pictures.get(name).cloned()),
            }
        };
        let over = turns.iter().enumerate().map(|(at, (told, answered))| Turn {
            message: message(at, told),
            raw: answered.raw.clone(),
            call: answered.call.clone(),
        });
        let number = usize::try_from(step).unwrap_or(usize::MAX).saturating_sub(1);
        let newest = message(turns.len(), told);
        Conversation { turns: over.collect(), newest, number, most_tokens: None }
    }

    /// The pictures that are told, from the run's folder; one that is lost is told of in words alone.
    async fn pictures(
        &self,
        turns: &[(&Told, &Answered)],
        told: &Told,
    ) -> HashMap<String, Arc<Picture>> {
        let mut pictures = HashMap::new();
        if !self.note.model.sees() {
            return pictures;
        }
        let unfolded = turns.iter().skip(self.standing.folded).map(|(told, _)| *told);
        for name in unfolded.chain([told]).filter_map(|told| told.picture.clone()) {
            if let Ok(png) = self.world.files.read(&self.order.folder.join(&name)).await {
                pictures.insert(name, Arc::new(Picture(png)));
            }
        }
        pictures
    }
}

/// Whether what came of a call is what the model wanted to read, however long.
fn is_asked_for(call: &ToolCall) -> bool {
    matches!(
        call,
        ToolCall::Extract { .. } | ToolCall::FileRead { .. } | ToolCall::ConsoleView { .. }
    )
}

impl End {
    pub fn blocked(why: String) -> Self {
        Self { status: Status::Blocked, why, answer: None }
    }

    pub fn failed(why: String) -> Self {
        Self { status: Status::Failed, why, answer: None }
    }
}
