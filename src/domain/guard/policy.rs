//! The user's own rules: what is never done, what is always asked, what may be done. Written by the
//! user alone; nothing that a page or a model says gets in here.
use serde::Deserialize;
use toml::Spanned;
use url::{Host, Url};

use crate::domain::guard::{Case, Class};

/// The rules in force.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Policy {
    /// No file: every act by its class.
    #[default]
    None,
    Rules(Rules),
    /// A file that cannot be used: nothing but reads is done.
    Broken(BadPolicy),
}

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPolicy {
    #[error("policy.toml, line {line}: {why}")]
    Line { line: usize, why: String },
    #[error("policy.toml cannot be read: {0}")]
    Unreadable(String),
}

/// `policy.toml`, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    default: Otherwise,
    allow: Vec<Rule>,
    confirm: Vec<Rule>,
    deny: Vec<Rule>,
}

/// What is done where no rule fits, unless the act only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Otherwise {
    #[default]
    Class,
    Confirm,
    Deny,
}

/// One rule: a deed or a class, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    written: String,
    deed: String,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Anywhere,
    Host(String),
    /// The host and everything below it.
    Below(String),
}

/// What the rules say of an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    Deny(String),
    Confirm(String),
    /// As the class says.
    ByClass,
}

/// What a rule may name: deeds, classes, and all of it.
const DEEDS: &[&str] = &[
    "click",
    "fill",
    "select",
    "press",
    "evaluate",
    "accept",
    "navigate",
    "read",
    "soft_write",
    "irreversible",
    "*",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    default: Otherwise,
    #[serde(default)]
    allow: Vec<Spanned<String>>,
    #[serde(default)]
    confirm: Vec<Spanned<String>>,
    #[serde(default)]
    deny: Vec<Spanned<String>>,
}

impl Policy {
    /// Reads the text of the file, where there is one.
    pub fn of(text: Result<Option<String>, String>) -> Self {
        match text {
            Ok(None) => Self::None,
            Ok(Some(text)) => Rules::parse(&text).map_or_else(Self::Broken, Self::Rules),
            Err(why) => Self::Broken(BadPolicy::Unreadable(why)),
        }
    }

    /// Says what the rules make of an act of a class. A navigation is judged by where it goes.
    pub fn order(&self, case: &Case, class: Class) -> Order {
        match self {
            Self::None => Order::ByClass,
            Self::Broken(_) if class == Class::Read => Order::ByClass,
            Self::Broken(why) => {
                Order::Deny(format!("{why}; until it is mended nothing but reads is done"))
            }
            Self::Rules(rules) => rules.order(case, class),
        }
    }
}

impl Rules {
    fn parse(text: &str) -> Result<Self, BadPolicy> {
        let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let written: Written = toml::from_str(text).map_err(|error| BadPolicy::Line {
            line: line(error.span().map_or(0, |span| span.start)),
            why: error.message().lines().next().unwrap_or_default().to_owned(),
        })?;
        let rules = |list: Vec<Spanned<String>>| {
            let read = |rule: Spanned<String>| {
                let line = line(rule.span().start);
                Rule::parse(rule.as_ref()).map_err(|why| BadPolicy::Line { line, why })
            };
            list.into_iter().map(read).collect::<Result<Vec<_>, _>>()
        };
        let Written { default, allow, confirm, deny } = written;
        Ok(Self { default, allow: rules(allow)?, confirm: rules(confirm)?, deny: rules(deny)? })
    }

    fn order(&self, case: &Case, class: Class) -> Order {
        let address = if case.deed == "navigate" { &case.payload } else { &case.url };
        let host = host(address).unwrap_or_default();
        let fits = |rules: &[Rule]| {
            let fitting = rules.iter().find(|rule| rule.fits(&case.deed, class, &host));
            fitting.map(|rule| rule.written.clone())
        };
        if let Some(rule) = fits(&self.deny) {
            return Order::Deny(format!("policy.toml denies `{rule}`"));
        }
        if let Some(rule) = fits(&self.confirm) {
            return Order::Confirm(format!("policy.toml asks for `{rule}`"));
        }
        match self.default {
            _ if class == Class::Read || fits(&self.allow).is_some() => Order::ByClass,
            Otherwise::Class => Order::ByClass,
            Otherwise::Confirm => {
                Order::Confirm("policy.toml asks for all that it does not allow".into())
            }
            Otherwise::Deny => Order::Deny("policy.toml denies all that it does not allow".into()),
        }
    }
}

impl Rule {
    fn parse(written: &str) -> Result<Self, String> {
        let (deed, place) = written.split_once('@').unwrap_or((written, "*"));
        let (deed, place) = (deed.trim(), place.trim());
        if !DEEDS.contains(&deed) {
            let known = DEEDS.join(", ");
            return Err(format!("`{deed}` is nothing that is done; there are {known}"));
        }
        let named = |name: &str| {
            let host = host(&format!("http://{name}/")).filter(|host| !host.contains('*'));
            host.ok_or_else(|| {
                format!("`{place}` is no host; write `shop.example` or `*.shop.example`")
            })
        };
        let place = match place.strip_prefix("*.") {
            _ if place == "*" => Place::Anywhere,
            Some(below) => Place::Below(named(below)?),
            None => Place::Host(named(place)?),
        };
        Ok(Self { written: written.to_owned(), deed: deed.to_owned(), place })
    }

    fn fits(&self, deed: &str, class: Class, host: &str) -> bool {
        let class = match class {
            Class::Read => "read",
            Class::SoftWrite => "soft_write",
            Class::Irreversible => "irreversible",
        };
        let both = deed == "fill_and_enter" && matches!(self.deed.as_str(), "fill" | "press");
        let named = both || self.deed == "*" || self.deed == deed || self.deed == class;
        named
            && match &self.place {
                Place::Anywhere => true,
                Place::Host(name) => host == name,
                Place::Below(name) => {
                    host == name
                        || host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'))
                }
            }
    }
}

/// The host of an address, written in one way.
fn host(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    Some(url.host_str()?.trim_end_matches('.').to_owned()).filter(|host| !host.is_empty())
}

/// Whether a host is of this machine, or of names that are for tests: no real money or secret is
/// sent there.
pub fn is_for_tests(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            ["localhost", "test"].iter().any(|top| {
                name == *top || name.strip_suffix(top).is_some_and(|rest| rest.ends_with('.'))
            })
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        Policy::of(Ok(Some(text.to_owned())))
    }

    fn case(deed: &str, url: &str) -> Case {
        Case { deed: deed.into(), url: url.into(), payload: url.into(), ..Case::default() }
    }

    fn word(policy: &Policy, deed: &str, url: &str, class: Class) -> &'static str {
        match policy.order(&case(deed, url), class) {
            Order::Deny(_) => "deny",
            Order::Confirm(_) => "confirm",
            Order::ByClass => "class",
        }
    }

    #[test]
    fn deny_comes_before_confirm_before_allow_before_the_default() {
        let policy = policy(
            r#"
            default = "deny"
            allow = ["click@*.shop.example", "fill@shop.example", "evaluate"]
            confirm = ["evaluate", "irreversible@mail.example", "press@shop.example"]
            deny = ["click@evil.shop.example", "navigate@*.evil.example"]
            "#,
        );
        let soft = Class::SoftWrite;
        for (deed, url, class, said) in [
            ("click", "https://shop.example/", soft, "class"),
            ("click", "https://a.SHOP.example./", soft, "class"),
            ("click", "https://workshop.example/", soft, "deny"),
            ("click", "https://evil.shop.example/", soft, "deny"),
            ("click", "https://evil.shop.example/", Class::Read, "deny"),
            ("fill", "https://a.shop.example/", soft, "deny"),
            ("fill", "https://shop.example:444/", soft, "class"),
            ("fill_and_enter", "https://shop.example/", soft, "confirm"),
            ("evaluate", "https://else.example/", soft, "confirm"),
            ("evaluate", "https://else.example/", Class::Read, "confirm"),
            ("click", "https://mail.example/", Class::Irreversible, "confirm"),
            ("click", "https://mail.example/", soft, "deny"),
            ("click", "https://mail.example/", Class::Read, "class"),
            ("navigate", "https://x.evil.example/", Class::Read, "deny"),
            ("navigate", "https://notevil.example/", Class::Read, "class"),
        ] {
            assert_eq!(word(&policy, deed, url, class), said, "{deed} {url} {class:?}");
        }
    }

    #[test]
    fn without_rules_the_class_decides_and_a_broken_file_lets_only_reads_pass() {
        for none in [Policy::None, policy(""), policy("allow = ['click']")] {
            assert_eq!(word(&none, "click", "https://a.example/", Class::Irreversible), "class");
        }
        for (text, line, why) in [
            ("deny = [", 1, "expected"),
            ("\ndeny = ['click',\n 'clik@a.example']", 3, "`clik` is nothing that is done"),
            ("# a\nallow = ['click@']", 2, "is no host"),
            ("confirm = ['click@*evil.example']", 1, "is no host"),
            ("refuse = []", 1, "unknown field `refuse`"),
            ("default = 'perhaps'", 1, "unknown variant `perhaps`"),
        ] {
            let broken = policy(text);
            let Policy::Broken(BadPolicy::Line { line: at, why: said }) = &broken else {
                panic!("{text}: {broken:?}")
            };
            assert!(*at == line && said.contains(why), "{text}: line {at}: {said}");
            assert_eq!(word(&broken, "click", "https://a.example/", Class::Read), "class");
            assert_eq!(word(&broken, "click", "https://a.example/", Class::SoftWrite), "deny");
        }
        let unreadable = Policy::of(Err("permission denied".into()));
        let said = unreadable.order(&case("click", ""), Class::SoftWrite);
        let why = "policy.toml cannot be read: permission denied; until it is mended nothing but reads is done";
        assert_eq!(said, Order::Deny(why.into()));
    }

    #[test]
    fn only_names_for_tests_and_this_machine_are_for_tests() {
        for (url, tests) in [
            ("http://shop.localhost:1/", true),
            ("http://localhost/", true),
            ("http://a.shop.test./", true),
            ("http://127.0.0.1:80/", true),
            ("http://[::1]/", true),
            ("http://2130706433/", true),
            ("https://contest/", false),
            ("https://localhost.example/", false),
            ("https://test.example/", false),
            ("http://10.0.0.1/", false),
            ("about:blank", false),
        ] {
            assert_eq!(is_for_tests(url), tests, "{url}");
        }
    }
}
