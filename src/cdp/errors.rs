//! Where the protocol's errors become the ports' errors: once, by variant and code.
use std::time::Duration;

use crate::ports::page::{PageError, Unreachable};

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// The browser answered with an error.
    Protocol {
        code: i64,
        message: String,
    },
    /// The answer is not what the protocol says.
    Unreadable(String),
    TimedOut,
    /// The process of the session died, before the call or during it.
    Crashed,
    /// The session is gone.
    Detached,
    /// The connection is gone.
    Closed,
}

/// What DevTools answers when a session is not known.
const NO_SESSION: i64 = -32001;
/// What DevTools answers when a command was understood and could not be carried out.
pub(super) const FAILED: i64 = -32000;

/// Says what an error of the call `what` means for the page.
pub(super) fn page_error(error: CallError, what: &'static str, patience: Duration) -> PageError {
    match error {
        CallError::Protocol { code: NO_SESSION, .. } | CallError::Detached => PageError::Gone,
        CallError::Protocol { message, .. } => PageError::Refused { what, why: message },
        CallError::Unreadable(why) => {
            PageError::Refused { what, why: format!("its answer cannot be read: {why}") }
        }
        CallError::TimedOut => PageError::TimedOut { what, patience },
        CallError::Crashed => PageError::Crashed,
        CallError::Closed => PageError::Lost,
    }
}

/// Names the reason in Chromium's list of network errors (`net::ERR_…`).
pub(super) fn unreachable(net_error: &str) -> PageError {
    let name = net_error.strip_prefix("net::ERR_").unwrap_or(net_error);
    let why = match name {
        "NAME_NOT_RESOLVED"
        | "NAME_RESOLUTION_FAILED"
        | "DNS_TIMED_OUT"
        | "DNS_MALFORMED_RESPONSE"
        | "DNS_SERVER_FAILED"
        | "ICANN_NAME_COLLISION" => Unreachable::DnsFailed,
        "CONNECTION_REFUSED" => Unreachable::ConnectionRefused,
        "EMPTY_RESPONSE" => Unreachable::EmptyReply,
        "ABORTED" => Unreachable::Aborted,
        "INVALID_URL" | "UNKNOWN_URL_SCHEME" | "DISALLOWED_URL_SCHEME" | "UNSAFE_PORT" => {
            Unreachable::BadUrl
        }
        _ if name.starts_with("CERT_") || name.starts_with("SSL_") || name.starts_with("TLS") => {
            Unreachable::TlsFailed
        }
        "BAD_SSL_CLIENT_AUTH_CERT" => Unreachable::TlsFailed,
        _ => Unreachable::Other,
    };
    PageError::Unreachable { why, detail: net_error.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_errors_are_named() {
        for (net, why) in [
            ("net::ERR_NAME_NOT_RESOLVED", Unreachable::DnsFailed),
            ("net::ERR_CONNECTION_REFUSED", Unreachable::ConnectionRefused),
            ("net::ERR_CERT_AUTHORITY_INVALID", Unreachable::TlsFailed),
            ("net::ERR_SSL_PROTOCOL_ERROR", Unreachable::TlsFailed),
            ("net::ERR_EMPTY_RESPONSE", Unreachable::EmptyReply),
            ("net::ERR_ABORTED", Unreachable::Aborted),
            ("net::ERR_INVALID_URL", Unreachable::BadUrl),
            ("net::ERR_ADDRESS_UNREACHABLE", Unreachable::Other),
        ] {
            assert_eq!(unreachable(net), PageError::Unreachable { why, detail: net.into() });
        }
    }

    #[test]
    fn a_lost_session_means_that_the_page_is_gone() {
        let patience = Duration::from_secs(1);
        let lost = CallError::Protocol { code: -32001, message: "Session not found".into() };
        assert_eq!(page_error(lost, "x", patience), PageError::Gone);
        let refused = CallError::Protocol { code: FAILED, message: "no".into() };
        assert_eq!(
            page_error(refused, "x", patience),
            PageError::Refused { what: "x", why: "no".into() }
        );
        assert_eq!(
            page_error(CallError::TimedOut, "x", patience),
            PageError::TimedOut { what: "x", patience }
        );
    }
}
