//! What asking again does not help, and what a server does not know.
use serde_json::json;
use strawmanus::model::wire::Wire;
use strawmanus::ports::model::{Failed, ModelError};
use strawmanus::practice::model::slips::Slip;

use super::table::{SCRIPT, Table, WIRES};

async fn failed(wire: Wire, slip: Slip) -> Failed {
    let mut table = Table::lay(wire, SCRIPT);
    table.service.slip_at(0, slip);
    let failed = table.ask().await.unwrap_err();
    assert_eq!(table.service.asked().len(), 1, "{wire:?} {slip:?}");
    failed
}

#[tokio::test]
async fn a_refused_key_and_a_bad_request_are_final() {
    for wire in WIRES {
        let variable = wire.key_variable();
        for status in [401, 403] {
            let failed = failed(wire, Slip::status(status)).await;
            assert_eq!(failed.error, ModelError::Denied { status, variable });
        }
        for status in [400, 402, 404, 422] {
            let failed = failed(wire, Slip::status(status)).await;
            assert_eq!(failed.error, ModelError::Status { status, detail: "no".into() });
        }
        let garbage = failed(wire, Slip::Garbage).await;
        assert!(matches!(garbage.error, ModelError::Unreadable(_)), "{garbage:?}");
        let kind = "insufficient_quota";
        let spent = Slip::Status { status: 429, kind, message: "spent", after_ms: None };
        let error = ModelError::Status { status: 429, detail: "spent".into() };
        assert_eq!(failed(wire, spent).await.error, error);
    }
}

#[tokio::test]
async fn what_cannot_be_read_any_more_and_what_is_refused_have_their_own_reasons() {
    for wire in WIRES {
        for (status, kind, message) in [
            (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            (400, "context_length_exceeded", "no"),
            (413, "request_too_large", "no"),
        ] {
            let slip = Slip::Status { status, kind, message, after_ms: None };
            let failed = failed(wire, slip).await;
            assert_eq!(failed.error, ModelError::TooLong { detail: message.into() });
        }
        let refused = failed(wire, Slip::Refusal).await;
        let detail = "I cannot help with that.".into();
        assert_eq!(refused.error, ModelError::Refused { detail });
        assert!(refused.usage.input > 0, "it was paid for");
    }
}

#[tokio::test]
async fn fields_that_a_server_does_not_know_are_left_out_from_then_on() {
    let cases: [(Wire, &[&'static str]); 2] = [
        (Wire::Anthropic, &["tool_choice", "stream"]),
        (
            Wire::OpenAi,
            &[
                "tool_choice",
                "parallel_tool_calls",
                "max_completion_tokens",
                "max_tokens",
                "stream_options",
                "stream",
            ],
        ),
    ];
    for (wire, fields) in cases {
        let mut table = Table::lay(wire, SCRIPT);
        fields.iter().for_each(|field| table.service.refuse_field(field));
        table.ask().await.unwrap();
        let asked = table.service.asked();
        assert_eq!(asked.len(), fields.len() + 1);
        assert_eq!(asked[0].body["model"], json!("claude-test"));
        table.told("changed");
        table.ask().await.unwrap();
        assert_eq!(table.service.asked().len(), fields.len() + 2, "it is remembered");
    }
    // A field that it cannot be asked without is a mistake of ours.
    let mut table = Table::lay(Wire::Anthropic, SCRIPT);
    table.service.refuse_field("max_tokens");
    let failed = table.ask().await.unwrap_err();
    assert!(matches!(failed.error, ModelError::Status { status: 400, .. }), "{failed:?}");
}
