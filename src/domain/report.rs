//! What a run leaves to read: its report, its trace, the guard's decisions. Pure.
mod escape;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::domain::journal::{Entry, Judged, Standing, Status, Step, Verdict};
use crate::domain::report::escape::{address, answer, line};
use crate::domain::run::RunOrder;
use crate::domain::tool::ToolCall;

/// How many lines of a step's delta a report shows; the trace has all.
const DELTA_LINES: usize = 5;

/// Says how a run ends, and why, from its journal alone: as it says itself once it has ended, or
/// else by what its model finished with. Without either it broke off.
pub fn verdict(standing: &Standing) -> (Status, String) {
    if let Some(ended) = &standing.ended {
        return (ended.status, ended.why.clone());
    }
    let Some((_, missing)) = standing.finished() else {
        return (Status::Failed, "the run broke off before it finished".into());
    };
    if let Some(missing) = missing {
        return (Status::Partial, missing.to_owned());
    }
    if let Some(step) = standing.in_doubt().next() {
        return (Status::Partial, format!("step {} is in doubt: {}", step.number, step.what));
    }
    let (found, expected) = (entities(standing).len(), standing.expect.unwrap_or(0));
    if found < usize::try_from(expected).unwrap_or(usize::MAX) {
        return (
            Status::Partial,
            format!("facts of {found} entities were recorded, of {expected}"),
        );
    }
    match standing.held().count() {
        0 => (Status::Complete, "finished".into()),
        1 => (Status::Partial, "it lacks nothing but 1 held act".into()),
        held => (Status::Partial, format!("it lacks nothing but {held} held acts")),
    }
}

/// Returns the exit code that the CLI contract gives a run: 0 Complete, 3 when it lacks nothing but
/// its held acts, 1 otherwise.
pub fn exit_code(standing: &Standing) -> u8 {
    let whole_but_held = matches!(standing.finished(), Some((_, None)))
        && standing.in_doubt().next().is_none()
        && standing.held().next().is_some();
    match verdict(standing).0 {
        Status::Complete => 0,
        Status::Partial if whole_but_held => 3,
        Status::Partial | Status::Blocked | Status::Failed => 1,
    }
}

/// A fact without a source: no report is written with one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the fact `{claim}` has no source; a report states nothing that was not read somewhere")]
pub struct Unsourced {
    pub claim: String,
}

/// Writes `report.md`. Its last line is fixed: programs read it.
///
/// # Errors
/// When a fact has no source.
pub fn report(order: &RunOrder, standing: &Standing) -> Result<String, Unsourced> {
    let sections = [
        title(order),
        answered(standing),
        found(standing),
        facts(standing)?,
        done(standing),
        held(standing),
        blockers(standing),
        telemetry(order, standing),
        status_line(order, standing),
    ];
    let written: Vec<_> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    Ok(written.join("\n\n") + "\n")
}

/// The entities that facts were recorded of, in the order of their first.
fn entities(standing: &Standing) -> Vec<&str> {
    let mut entities: Vec<&str> = Vec::new();
    for fact in &standing.facts {
        let name = fact.entity.trim();
        if !entities.iter().any(|other| other.to_lowercase() == name.to_lowercase()) {
            entities.push(name);
        }
    }
    entities
}

/// A table of what was found of each entity.
fn found(standing: &Standing) -> String {
    let entities = entities(standing);
    let mut attributes: Vec<&str> = Vec::new();
    for fact in &standing.facts {
        if !attributes.contains(&fact.attribute.as_str()) {
            attributes.push(&fact.attribute);
        }
    }
    if entities.is_empty() {
        return String::new();
    }
    let head = attributes.iter().map(|name| cell(name)).collect::<Vec<_>>().join(" | ");
    let rule = attributes.iter().map(|_| " --- |").collect::<String>();
    let mut text = format!("## Entities\n\n| Entity | {head} |\n| --- |{rule}");
    for entity in entities {
        let _ = write!(text, "\n| {} |", cell(entity));
        for attribute in &attributes {
            // What was recorded last is what the run came to.
            let fact = standing.facts.iter().rev().find(|fact| {
                fact.attribute == *attribute
                    && fact.entity.trim().to_lowercase() == entity.to_lowercase()
            });
            let value = fact.map(|fact| match &fact.unit {
                Some(unit) => format!("{} {unit}", fact.value),
                None => fact.value.clone(),
            });
            let _ = write!(text, " {} |", cell(&value.unwrap_or_default()));
        }
    }
    text
}

/// What stands in a table is one line; bars in it are escaped as everywhere.
fn cell(text: &str) -> String {
    line(text, 120)
}

fn facts(standing: &Standing) -> Result<String, Unsourced> {
    let mut text = String::new();
    for fact in &standing.facts {
        if fact.sources.is_empty() {
            return Err(Unsourced { claim: fact.claim.clone() });
        }
        let _ = write!(text, "\n- {}", line(&fact.claim, 500));
        for source in &fact.sources {
            let title = line(&source.title, 120);
            let title = if title.is_empty() { String::new() } else { format!("{title}, ") };
            let at = source.at.strftime("%Y-%m-%d %H:%M");
            let _ = write!(text, "\n  - {title}{} ({at} UTC)", address(&source.url));
        }
    }
    Ok(if text.is_empty() { text } else { format!("## Facts\n{text}") })
}

fn title(order: &RunOrder) -> String {
    let short = line(&order.task, 100);
    let whole = line(&order.task, usize::MAX);
    if short == whole { format!("# {short}") } else { format!("# {short}\n\n> {whole}") }
}

fn answered(standing: &Standing) -> String {
    let said = standing.ended.as_ref().and_then(|ended| ended.answer.as_deref());
    let said = said.or_else(|| standing.finished().map(|(answer, _)| answer));
    let text = said.map(answer).filter(|text| !text.is_empty());
    format!("## Answer\n\n{}", text.unwrap_or_else(|| "None.".into()))
}

fn done(standing: &Standing) -> String {
    let mut text = String::from("## What was done\n");
    if standing.steps.is_empty() {
        text.push_str("\nNothing.");
    }
    for step in &standing.steps {
        let outcome = match &step.outcome {
            Some(outcome) => line(outcome, 200),
            None if step.in_doubt() => "begun; what came of it is not known".into(),
            None if step.call.is_some() => "done".into(),
            None => "no call".into(),
        };
        let what = if step.what.is_empty() { "the model was asked" } else { &step.what };
        let _ = write!(text, "\n{}. {}: {outcome}", step.number, line(what, 200));
        for delta in step.delta.iter().take(DELTA_LINES) {
            let _ = write!(text, "\n   - {}", line(delta, 200));
        }
        if let Some(more) = step.delta.len().checked_sub(DELTA_LINES + 1) {
            let _ = write!(text, "\n   - … and {} more", more + 1);
        }
    }
    text
}

fn held(standing: &Standing) -> String {
    let mut text = String::new();
    for (step, judged) in standing.held() {
        let Verdict::Held { id } = judged.verdict else { continue };
        let _ = write!(
            text,
            "\n- **{id}**, step {}\n  - what: {}\n  - why: {}\n  - target: {}",
            step.number,
            line(&judged.what, 200),
            line(&judged.judgement.why, 200),
            address(&judged.url),
        );
    }
    if text.is_empty() { text } else { format!("## Held for approval (not performed)\n{text}") }
}

fn blockers(standing: &Standing) -> String {
    let (status, why) = verdict(standing);
    let mut blockers = Vec::new();
    if status != Status::Complete {
        blockers.push(line(&why, 500));
    }
    for step in standing.in_doubt() {
        let what = line(&step.what, 200);
        blockers.push(format!(
            "step {} ({what}) may have happened: look before doing it again",
            step.number
        ));
    }
    if blockers.is_empty() {
        return String::new();
    }
    format!("## Blockers\n\n- {}", blockers.join("\n- "))
}

fn telemetry(order: &RunOrder, standing: &Standing) -> String {
    let each = standing.restarts.iter().map(|(what, count)| format!("{} {count}", line(what, 40)));
    let each: Vec<_> = each.collect();
    let restarts = match standing.restarts.values().sum::<u32>() {
        0 => "0".to_owned(),
        all => format!("{all} ({})", each.join(", ")),
    };
    let resumed = match standing.resumed {
        0 => String::new(),
        times => format!("\n- Resumed from the journal: {times}"),
    };
    let usage = standing.usage;
    let calls = standing.steps.iter().filter(|step| step.answered.is_some()).count();
    let cost = cost_of(order, standing).map(|dollars| format!("\n- Cost: {dollars:.4} USD"));
    let rating = standing.steps.iter().rev().find_map(|step| match &step.call {
        Some(ToolCall::Finish { autonomy, .. }) => *autonomy,
        _ => None,
    });
    let rating =
        rating.map(|rating| format!("\n- Autonomy, as the agent rates itself: {rating} of 5"));
    format!(
        "## Telemetry\n\n- Run: {}, session {}\n- Model: {}\n- Steps: {}, model calls: {calls}\n- Restarts: {restarts}{resumed}\n- Tokens: {} in ({} from the cache), {} out{}{}",
        order.id,
        order.session,
        line(&standing.model, 100),
        standing.steps.len(),
        usage.input,
        usage.cached,
        usage.output,
        cost.unwrap_or_default(),
        rating.unwrap_or_default(),
    )
}

/// What the run's answers cost, in US dollars, where the model has a price.
pub fn cost_of(order: &RunOrder, standing: &Standing) -> Option<f64> {
    order.price.map(|price| price.of(standing.usage))
}

/// Returns everything that a run leaves behind, by file name.
///
/// # Errors
/// When a fact has no source.
pub fn files(
    order: &RunOrder,
    standing: &Standing,
    entries: &[Entry],
) -> Result<[(&'static str, String); 3], Unsourced> {
    Ok([
        ("report.md", report(order, standing)?),
        ("trace.json", trace(order, standing, entries)),
        ("guard.json", decisions(standing)),
    ])
}

/// Returns the last line of every report.
pub fn status_line(order: &RunOrder, standing: &Standing) -> String {
    let found = entities(standing).len();
    let entities = match order.expect {
        Some(expect) => format!("{found}/{expect}"),
        None if found > 0 => found.to_string(),
        None => "n/a".into(),
    };
    let minutes = duration_ms(standing) as f64 / 60_000.0;
    format!(
        "**Status:** {} | **Entities Found:** {entities} | **Duration:** {minutes:.1} min",
        verdict(standing).0.word()
    )
}

/// How long the run took, as its journal tells; never negative, whatever the wall clock did.
fn duration_ms(standing: &Standing) -> i64 {
    match (standing.began, standing.last) {
        (Some(began), Some(last)) => (last.as_millisecond() - began.as_millisecond()).max(0),
        _ => 0,
    }
}

/// Writes `trace.json`: how the run stands, step by step, and its journal whole.
pub fn trace(order: &RunOrder, standing: &Standing, entries: &[Entry]) -> String {
    let (status, why) = verdict(standing);
    let answer = standing.ended.as_ref().and_then(|ended| ended.answer.clone());
    pretty(&json!({
        "v": 1,
        "run": order.id,
        "task": order.task,
        "session": order.session,
        "url": order.url,
        "model": standing.model,
        "status": status,
        "why": why,
        "exit_code": exit_code(standing),
        "answer": answer.or_else(|| standing.finished().map(|(answer, _)| answer.to_owned())),
        "began": standing.began,
        "last": standing.last,
        "duration_ms": duration_ms(standing),
        "tokens": {
            "input": standing.usage.input,
            "output": standing.usage.output,
            "cached": standing.usage.cached,
            "written": standing.usage.written,
        },
        "cost_usd": cost_of(order, standing),
        "facts": standing.facts,
        "restarts": standing.restarts,
        "resumed": standing.resumed,
        "steps": standing.steps.iter().map(traced).collect::<Vec<_>>(),
        "journal": entries,
    }))
}

fn traced(step: &Step) -> Value {
    json!({
        "step": step.number,
        "began": step.began,
        "url": step.url,
        "call": step.call,
        "what": step.what,
        "outcome": step.outcome,
        "delta": step.delta,
        "in_doubt": step.in_doubt(),
    })
}

/// Writes `guard.json`: every decision of the guard, in order.
pub fn decisions(standing: &Standing) -> String {
    let all =
        standing.steps.iter().flat_map(|step| step.judged.iter().map(move |j| decision(step, j)));
    pretty(&json!({ "v": 1, "decisions": all.collect::<Vec<_>>() }))
}

fn decision(step: &Step, judged: &Judged) -> Value {
    let (verdict, hold) = match &judged.verdict {
        Verdict::Passed => ("passed", None),
        Verdict::Allowed => ("allowed", None),
        Verdict::Approved { id } => ("approved", Some(id.to_string())),
        Verdict::Held { id } => ("held", Some(id.to_string())),
    };
    json!({
        "step": step.number,
        "what": judged.what,
        "url": judged.url,
        "class": judged.judgement.class,
        "why": judged.judgement.why,
        "verdict": verdict,
        "hold": hold,
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests;
