//! Web addresses as people type them. Pure.
use url::{Host, Url};

/// Why a text is no address to go to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error(
        "`{text}` is no web address ({why}); write it like example.com or http://localhost:8080/a"
    )]
    Malformed { text: String, why: String },
    #[error("`{scheme}:` addresses are not opened; use http or https")]
    Scheme { scheme: String },
}

/// Schemes that a page is opened with when they are typed out.
const OPENED: &[&str] = &["http", "https", "about", "data", "file"];

/// Returns the address that `text` means; the scheme is added when it is missing: `http` for this
/// machine, `https` elsewhere.
pub fn address(text: &str) -> Result<Url, BadAddress> {
    let text = text.trim();
    let malformed =
        |why: &str| BadAddress::Malformed { text: text.to_owned(), why: why.to_owned() };
    if text.is_empty() {
        return Err(malformed("it is empty"));
    }
    if text.chars().any(char::is_whitespace) && !text.starts_with("data:") {
        return Err(malformed("it has a blank in it"));
    }
    let (url, typed) = match Url::parse(text) {
        // `localhost:8080` parses as the scheme `localhost`.
        Ok(url) if !looks_like_host(text, url.scheme()) => (url, true),
        Ok(_) | Err(url::ParseError::RelativeUrlWithoutBase) => {
            let guess = Url::parse(&format!("http://{text}"));
            (guess.map_err(|error| malformed(&error.to_string()))?, false)
        }
        Err(error) => return Err(malformed(&error.to_string())),
    };
    if !OPENED.contains(&url.scheme()) {
        return Err(BadAddress::Scheme { scheme: url.scheme().to_owned() });
    }
    if typed || is_local(&url) {
        return Ok(url);
    }
    Url::parse(&format!("https://{text}")).map_err(|error| malformed(&error.to_string()))
}

/// Whether what comes before the first colon is a host with a port, not a scheme.
fn looks_like_host(text: &str, scheme: &str) -> bool {
    let rest = text.get(scheme.len() + 1..).unwrap_or_default();
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !port.is_empty() && port.chars().all(|c| c.is_ascii_digit())
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Whether two addresses are of one site: one host, one below the other, or both below one name that
/// is no public suffix as far as its shape tells (`co.uk`, `com.au`).
pub fn same_site(one: &Url, other: &Url) -> bool {
    let (Some(Host::Domain(one)), Some(Host::Domain(other))) = (one.host(), other.host()) else {
        return one.host() == other.host();
    };
    one == other || site_of(one) == site_of(other)
}

fn site_of(host: &str) -> &str {
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at);
    let (last, second, third) = (dots.next(), dots.next(), dots.next());
    let (Some(last), Some(second)) = (last, second) else {
        return host;
    };
    let short = last - second - 1 <= 3 && host.len() - last - 1 == 2;
    let from = if short { third.map_or(0, |at| at + 1) } else { second + 1 };
    &host[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_added_where_they_are_missing() {
        for (typed, meant) in [
            ("example.com", "https://example.com/"),
            ("example.com/a?b#c", "https://example.com/a?b#c"),
            ("example.com:8443/x", "https://example.com:8443/x"),
            ("localhost:8080", "http://localhost:8080/"),
            ("shop.localhost:8080/cart", "http://shop.localhost:8080/cart"),
            ("127.0.0.1:9", "http://127.0.0.1:9/"),
            ("[::1]:9/a", "http://[::1]:9/a"),
            ("http://example.com", "http://example.com/"),
            ("about:blank", "about:blank"),
            ("  https://a.b/  ", "https://a.b/"),
            ("data:text/html,<p>a b", "data:text/html,<p>a b"),
        ] {
            assert_eq!(address(typed).unwrap().as_str(), meant, "{typed}");
        }
    }

    #[test]
    fn sites_are_told_apart() {
        let same = |one: &str, other: &str| {
            let url = |host| Url::parse(&format!("http://{host}/x")).unwrap();
            same_site(&url(one), &url(other))
        };
        for (one, other) in [
            ("a.example", "a.example:8080"),
            ("example.com", "api.example.com"),
            ("www.example.com", "api.example.com"),
            ("a.shop.co.uk", "shop.co.uk"),
            ("127.0.0.1:1", "127.0.0.1:2"),
        ] {
            assert!(same(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("example.com", "example.org"),
            ("shop.localhost", "mail.localhost"),
            ("shop.co.uk", "mail.co.uk"),
            ("127.0.0.1", "127.0.0.2"),
            ("localhost", "127.0.0.1"),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for typed in ["", "   ", "two words", "http://", "http://exa mple.com", "https://a:99999"] {
            let error = address(typed).unwrap_err();
            assert!(matches!(error, BadAddress::Malformed { .. }), "{typed}: {error}");
        }
        for typed in
            ["javascript:alert(1)", "chrome://settings", "view-source:http://a", "ftp://a.b"]
        {
            assert!(matches!(address(typed), Err(BadAddress::Scheme { .. })), "{typed}");
        }
    }
}
