//! Why one request brought no answer, and whether another may.
use std::time::Duration;

use serde_json::Value;

use crate::domain::cost::Usage;
use crate::model::retry::Retry;
use crate::ports::model::ModelError;

/// How much of an error's text is passed on, in characters.
const DETAIL: usize = 300;

/// Why one request brought no answer.
#[derive(Debug)]
pub(super) struct Failure {
    pub error: ModelError,
    pub again: Again,
    /// What it cost all the same.
    pub usage: Usage,
}

/// Whether sending again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Never,
    /// After what the service asks for, or after our own wait.
    After(Option<Duration>),
    /// Without a field that the server does not take.
    Without(&'static str),
}

impl Failure {
    pub fn last(error: ModelError) -> Self {
        Self { error, again: Again::Never, usage: Usage::default() }
    }

    /// A connection that breaks may hold next time; what was sent changes nothing but the bill.
    pub fn passing(error: ModelError) -> Self {
        Self { error, again: Again::After(None), usage: Usage::default() }
    }

    pub fn unreachable(error: &reqwest::Error) -> Self {
        Self::passing(ModelError::Unreachable(deepest(error)))
    }

    pub fn broken_off(why: impl Into<String>) -> Self {
        Self::passing(ModelError::BrokenOff(why.into()))
    }

    #[must_use]
    pub fn costing(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }
}

/// Returns the words of an error's last cause, which say most.
pub(super) fn deepest(error: &reqwest::Error) -> String {
    let mut why = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(deeper) = source {
        why = deeper.to_string();
        source = deeper.source();
    }
    why
}

/// What a service said instead of an answer.
#[derive(Debug)]
pub(super) struct Complaint {
    pub status: u16,
    /// The service's words for its kind: `overloaded_error`, `context_length_exceeded`.
    kinds: Vec<String>,
    /// The field that it names.
    field: String,
    message: String,
    asked: Option<Duration>,
}

impl Complaint {
    /// Reads the body of an answer with the status `status`.
    pub fn of_status(status: u16, body: &str, asked: Option<Duration>) -> Self {
        let parsed: Value = serde_json::from_str(body).unwrap_or_default();
        let whole = parsed.get("error").unwrap_or(&parsed);
        let mut complaint = Self::of_error(whole, asked);
        complaint.status = status;
        if complaint.message.is_empty() {
            body.clone_into(&mut complaint.message);
        }
        complaint
    }

    /// Reads an error that came where an answer should have: its kind stands for a status.
    pub fn of_error(error: &Value, asked: Option<Duration>) -> Self {
        let word = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let message = error.as_str().map_or_else(|| word("message"), str::to_owned);
        let kinds = vec![word("type"), word("code")];
        let number = error["code"].as_u64().or_else(|| word("code").parse().ok());
        let number = number.and_then(|code| u16::try_from(code).ok());
        let number = number.filter(|code| (400..600).contains(code));
        let status = number.or_else(|| kinds.iter().find_map(|kind| status_of(kind)));
        let status = status.unwrap_or(500);
        Self { status, kinds, field: word("param"), message, asked }
    }

    /// Says what it is to the caller. `secret` is taken out of what is passed on; `variable` is
    /// where the key came from; `spare` are the fields that were sent and need not be.
    pub fn failure(
        self,
        secret: Option<&str>,
        variable: &'static str,
        spare: &[&'static str],
    ) -> Failure {
        let status = self.status;
        if matches!(status, 401 | 403) {
            return Failure::last(ModelError::Denied { status, variable });
        }
        let flat = self.message.split_whitespace().collect::<Vec<_>>().join(" ");
        let safe = secret.map_or_else(|| flat.clone(), |secret| flat.replace(secret, "…"));
        let detail: String = safe.chars().take(DETAIL).collect();
        if self.is_too_long() {
            return Failure::last(ModelError::TooLong { detail });
        }
        let again = match spare.iter().find(|field| self.names(field)) {
            Some(field) if matches!(status, 400 | 422) => Again::Without(field),
            // Money that is spent does not come back by waiting.
            _ if self.is("insufficient_quota") => Again::Never,
            _ if Retry::helps(status) => Again::After(self.asked),
            _ => Again::Never,
        };
        Failure { error: ModelError::Status { status, detail }, again, usage: Usage::default() }
    }

    fn is(&self, kind: &str) -> bool {
        self.kinds.iter().any(|it| it == kind)
    }

    /// Messages' errors have one kind for everything that is wrong with a request, so that its
    /// words must tell.
    fn is_too_long(&self) -> bool {
        let kinds = ["context_length_exceeded", "exceed_context_size_error", "request_too_large"];
        let words = [
            "prompt is too long",
            "input is too long",
            "exceed context limit",
            "maximum context length",
            "context size",
            "context window",
        ];
        let message = self.message.to_lowercase();
        let said = self.status == 400 && words.iter().any(|words| message.contains(words));
        self.status == 413 || said || kinds.iter().any(|kind| self.is(kind))
    }

    /// Whether it is about a field of the request.
    fn names(&self, field: &str) -> bool {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let in_text = |text: &str| text.split(|c| !word(c)).any(|part| part == field);
        in_text(&self.field) || in_text(&self.message)
    }
}

/// Which status an error would have had that came in the middle of an answer.
fn status_of(kind: &str) -> Option<u16> {
    Some(match kind {
        "overloaded_error" => 529,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        "timeout_error" => 504,
        "api_error" | "server_error" => 500,
        "request_too_large" => 413,
        "not_found_error" => 404,
        "permission_error" => 403,
        "billing_error" => 402,
        "authentication_error" | "invalid_api_key" => 401,
        "invalid_request_error" | "context_length_exceeded" => 400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failure(status: u16, body: &Value, spare: &[&'static str]) -> Failure {
        Complaint::of_status(status, &body.to_string(), None).failure(Some("sk-1"), "KEY", spare)
    }

    #[test]
    fn the_key_is_taken_out_of_what_is_passed_on() {
        let failure = failure(400, &json!({ "error": { "message": "sk-1 is\n odd" } }), &[]);
        assert_eq!(failure.error, ModelError::Status { status: 400, detail: "… is odd".into() });
    }

    #[test]
    fn a_conversation_that_is_too_long_is_told_from_other_mistakes() {
        let message =
            |text: &str| json!({ "error": { "type": "invalid_request_error", "message": text } });
        for (status, body) in [
            (400, message("prompt is too long: 210000 tokens > 200000 maximum")),
            (400, message("input length and `max_tokens` exceed context limit: 199000 + 8192")),
            (400, json!({ "error": { "code": "context_length_exceeded", "message": "x" } })),
            (413, json!({})),
        ] {
            let error = failure(status, &body, &["max_tokens"]).error;
            assert!(matches!(error, ModelError::TooLong { .. }), "{body}: {error:?}");
        }
        let other = failure(400, &message("messages.1: text must be non-empty"), &[]);
        assert!(matches!(other.error, ModelError::Status { status: 400, .. }));
        assert_eq!(other.again, Again::Never);
    }

    #[test]
    fn a_field_is_left_out_only_where_it_is_named_and_was_sent() {
        let spare = ["max_completion_tokens", "tool_choice"];
        let named = json!({ "error": { "message": "Unsupported parameter: 'tool_choice'." } });
        assert_eq!(failure(400, &named, &spare).again, Again::Without("tool_choice"));
        assert_eq!(failure(400, &named, &[]).again, Again::Never);
        assert_eq!(failure(404, &named, &spare).again, Again::Never);
        let by_param = json!({ "error": { "message": "no", "param": "max_completion_tokens" } });
        assert_eq!(failure(422, &by_param, &spare).again, Again::Without("max_completion_tokens"));
        let longer = json!({ "error": { "message": "my_tool_choice_x is odd" } });
        assert_eq!(failure(400, &longer, &spare).again, Again::Never);
    }

    #[test]
    fn errors_in_the_middle_have_a_status() {
        let of = |error: Value| {
            let failure = Complaint::of_error(&error, None).failure(None, "KEY", &[]);
            (failure.again != Again::Never, failure.error)
        };
        for (error, status, again) in [
            (json!({ "type": "overloaded_error", "message": "m" }), 529, true),
            (json!({ "type": "server_error", "message": "m" }), 500, true),
            (json!({ "code": 502, "message": "m" }), 502, true),
            (json!({ "code": "insufficient_quota", "message": "m" }), 429, false),
            (json!({ "type": "invalid_request_error", "message": "m" }), 400, false),
            (json!("m"), 500, true),
        ] {
            let wanted = ModelError::Status { status, detail: "m".into() };
            assert_eq!(of(error.clone()), (again, wanted), "{error}");
        }
        let denied = of(json!({ "type": "authentication_error", "message": "sk" }));
        assert_eq!(denied, (false, ModelError::Denied { status: 401, variable: "KEY" }));
    }
}
