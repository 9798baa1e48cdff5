//! Answers that are not in good order: each is survived, or bought once and told.
use std::time::Duration;

use strawmanus::domain::tool::ToolCall;
use strawmanus::model::service::Patience;
use strawmanus::model::wire::Wire;
use strawmanus::ports::model::{Answer, FaultKind, Meaning, ModelError};
use strawmanus::practice::model::slips::Slip;

use super::table::{SCRIPT, Table, WIRES};

const BUSY: Slip = Slip::Status { status: 429, kind: "", message: "later", after_ms: Some(300) };

fn what(answer: &Answer) -> String {
    match &answer.meaning {
        Meaning::Call(call) => call.what(),
        Meaning::Fault { kind, why } => format!("{kind:?}: {why}"),
    }
}

#[tokio::test]
async fn a_call_is_understood_however_it_is_written() {
    let mut notes = Vec::new();
    for wire in WIRES {
        for slip in [
            Slip::Plain,
            Slip::Fenced,
            Slip::ProseAndCall,
            Slip::StringValues,
            Slip::StringArguments,
            Slip::ObjectArguments,
            Slip::TwoCalls,
            Slip::NoIds,
        ] {
            let mut table = Table::lay(wire, SCRIPT);
            (0..3).for_each(|at| table.service.slip_at(at, slip));
            for wanted in ["click [3]", "input 'two' into [4] and press Enter", "finish"] {
                let answer = table.ask().await.unwrap();
                assert_eq!(what(&answer), wanted, "{wire:?} {slip:?}");
                notes.extend(answer.note.map(|note| format!("{slip:?}: {note}")));
                table.told("changed");
            }
            assert_eq!(table.service.asked().len(), 3);
        }
    }
    notes.sort();
    notes.dedup();
    insta::assert_snapshot!(notes.join("\n"));
}

#[tokio::test]
async fn what_is_no_call_is_bought_once_and_the_model_sees_its_mistake() {
    let mut says = Vec::new();
    for wire in WIRES {
        for (slip, wanted) in [
            (Slip::Empty, FaultKind::Empty),
            (Slip::Prose, FaultKind::NoCall),
            (Slip::UnknownTool, FaultKind::NoSuchTool),
            (Slip::BadIndex, FaultKind::BadArguments),
            (Slip::WrongTypes, FaultKind::BadArguments),
            (Slip::BadFinish, FaultKind::BadArguments),
            (Slip::TooLongAnswer, FaultKind::CutOff),
        ] {
            let mut table = Table::lay(wire, SCRIPT);
            table.service.slip_at(0, slip);
            table.service.slip_at(1, slip);
            for _ in 0..2 {
                let answer = table.ask().await.unwrap();
                let Meaning::Fault { kind, .. } = &answer.meaning else { panic!("{answer:?}") };
                assert_eq!(*kind, wanted, "{wire:?} {slip:?}");
                assert!(answer.usage.input > 0);
                says.push(format!("{slip:?}: {}", what(&answer)));
                table.told("no_call");
            }
            assert_eq!(what(&table.ask().await.unwrap()), "click [3]");
            let asked = table.service.asked();
            assert_eq!(asked.len(), 3, "each was bought once");
            let messages = asked[2].body["messages"].as_array().unwrap();
            let told = messages.iter().filter(|message| message["role"] != "system");
            let replayed: String = told.map(ToString::to_string).collect();
            let seen = match slip {
                Slip::Empty => "an answer that could not be used",
                Slip::Prose => "I would press the button.",
                Slip::UnknownTool => "browser_fly",
                Slip::BadIndex => "the red one",
                Slip::WrongTypes => "press_enter",
                Slip::BadFinish => "done",
                _ => "First of all, let me",
            };
            assert_eq!(replayed.matches(seen).count(), 2, "{wire:?} {slip:?}: {replayed}");
            let errors = replayed.matches("is_error").count();
            let called = matches!(wanted, FaultKind::NoSuchTool | FaultKind::BadArguments);
            let marked = called && wire == Wire::Anthropic;
            assert_eq!(errors, if marked { 2 } else { 0 }, "{replayed}");
        }
    }
    says.sort();
    says.dedup();
    insta::assert_snapshot!(says.join("\n"));
}

#[tokio::test]
async fn what_breaks_off_is_asked_for_again_and_its_cost_counts() {
    for wire in WIRES {
        for slip in [
            Slip::CutShort,
            Slip::EndedEarly,
            Slip::Stall,
            Slip::Silent,
            Slip::ErrorEvent,
            Slip::status(529),
            Slip::status(500),
            BUSY,
        ] {
            let mut table = Table::lay(wire, SCRIPT);
            table.service.slip_at(0, slip);
            table.service.slip_at(1, slip);
            let answer = table.ask().await.unwrap();
            assert_eq!(what(&answer), "click [3]", "{wire:?} {slip:?}");
            let asked = table.service.asked();
            assert_eq!(asked.len(), 3, "{wire:?} {slip:?}");
            assert_eq!(asked[0].body, asked[2].body);
            // Messages says at once what was read.
            let begun =
                matches!(slip, Slip::CutShort | Slip::EndedEarly | Slip::Stall | Slip::ErrorEvent);
            let tries = if begun && wire == Wire::Anthropic { 3 } else { 1 };
            let input = answer.usage.input;
            let mut clean = Table::lay(wire, SCRIPT);
            let once = clean.ask().await.unwrap().usage.input;
            assert_eq!(input, once * tries, "{wire:?} {slip:?}");
        }
    }
}

#[tokio::test]
async fn the_tries_are_limited_and_the_reason_has_a_type() {
    for wire in WIRES {
        for slip in
            [Slip::CutShort, Slip::Stall, Slip::Silent, Slip::ErrorEvent, Slip::status(529), BUSY]
        {
            let mut table = Table::lay(wire, SCRIPT);
            (0..9).for_each(|at| table.service.slip_at(at, slip));
            let failed = table.ask().await.unwrap_err();
            let fits = match slip {
                Slip::CutShort => matches!(failed.error, ModelError::BrokenOff(_)),
                Slip::Stall | Slip::Silent => matches!(failed.error, ModelError::Silent { .. }),
                Slip::Status { status, .. } => {
                    matches!(failed.error, ModelError::Status { status: it, .. } if it == status)
                }
                _ => matches!(failed.error, ModelError::Status { status: 529, .. }),
            };
            assert!(fits, "{wire:?} {slip:?}: {failed:?}");
            assert_eq!(table.service.asked().len(), 4, "{wire:?} {slip:?}");
            let begun = matches!(slip, Slip::CutShort | Slip::Stall | Slip::ErrorEvent);
            assert_eq!(failed.usage.input > 0, begun && wire == Wire::Anthropic);
        }
    }
}

#[tokio::test]
async fn a_service_is_given_the_time_that_it_asks_for_but_not_any_time() {
    let mut table = Table::lay(Wire::Anthropic, SCRIPT);
    table.service.slip_at(0, BUSY);
    let begun = tokio::time::Instant::now();
    table.ask().await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(300));

    let mut table = Table::lay(Wire::OpenAi, SCRIPT);
    let tomorrow =
        Slip::Status { status: 429, kind: "", message: "later", after_ms: Some(86_400_000) };
    table.service.slip_at(0, tomorrow);
    let failed = table.ask().await.unwrap_err();
    assert_eq!(failed.error, ModelError::Status { status: 429, detail: "later".into() });
    assert_eq!(table.service.asked().len(), 1);
}

#[tokio::test]
async fn a_whole_answer_may_take_only_so_long() {
    let mut table = Table::lay(Wire::Anthropic, SCRIPT);
    let patience = Patience { stall: Duration::from_secs(60), whole: Duration::from_millis(300) };
    table.model = super::table::model(Wire::Anthropic, &table.base()).with_patience(patience);
    table.service.slip_at(0, Slip::Stall);
    let answer = table.ask().await.unwrap();
    assert!(matches!(answer.meaning, Meaning::Call(ToolCall::Click(_))));
    assert_eq!(table.service.asked().len(), 2);
}
