//! A run's journal as a person reads it while the run goes on.

use crate::domain::journal::{Entry, Event, Need, Status, Verdict};
use crate::domain::outcome::OutcomeKind;

/// Returns what a person reads of an entry while the run goes on; nothing of what only replays need.
pub fn line(entry: &Entry) -> Option<String> {
    Some(match &entry.what {
        Event::Began { run, task, model, .. } => format!("run {run} ({model}): {task}"),
        Event::Intended { step, what, .. } => format!("{step:>3}  {what}"),
        Event::Judged { verdict: Verdict::Held { id }, judgement, .. } => {
            format!("     ⚠ held for a person as {id}: {}", judgement.why)
        }
        // That was told when it was judged.
        Event::Came { outcome, .. } if outcome == OutcomeKind::Held.word() => return None,
        Event::Came { outcome, delta, .. } => {
            let first = delta.first().map(|line| format!(": {line}")).unwrap_or_default();
            format!("     → {outcome}{first}")
        }
        Event::Restarted { what, why, .. } => format!("     ↻ {what} was started again: {why}"),
        Event::Resumed { step } => format!("     ↻ the run goes on after step {step}"),
        Event::Ended { status: Status::Complete, .. } => "     Complete".into(),
        Event::Ended { status, why, .. } => format!("     {}: {why}", status.word()),
        Event::Asked { .. }
        | Event::Answered { .. }
        | Event::Judged { .. }
        | Event::Unanswered { .. }
        | Event::Folded { .. }
        | Event::Recorded { .. } => return None,
        Event::Waiting { need, .. } => need_line(need),
        Event::Met { how, .. } => format!("     … {how}"),
        Event::Notified { text, .. } => format!("     » {text}"),
    })
}

fn need_line(need: &Need) -> String {
    match need {
        Need::Approval { hold, .. } => {
            format!("     … waits for `strawmanus approve {hold}` or `strawmanus deny {hold}`")
        }
        Need::Answer { question } => format!("     ? {question}"),
        Need::Takeover { reason, suggestion } => {
            let suggestion = suggestion.iter().map(|text| format!(" ({text})")).collect::<String>();
            format!("     ✋ yours now: {reason}{suggestion}")
        }
    }
}
