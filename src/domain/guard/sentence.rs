//! From a class to what is done with an act: the user's policy, and what the user allows beforehand.
use crate::domain::guard::policy::{Order, Policy, is_for_tests};
use crate::domain::guard::words::List;
use crate::domain::guard::{Case, Class, Judgement, Words, classify};
use crate::domain::run::Consent;

/// What is done with an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sentence {
    Pass,
    /// Irreversible, and allowed beforehand.
    Allow,
    /// A person is asked.
    Hold,
    /// Not even a person's approval lets it pass.
    Deny,
}

/// Judges an act. The user's rules come first; where they leave it to the class, what cannot be
/// undone is held, unless it was allowed beforehand for its host. Money and secrets never are, but
/// on hosts that are for tests.
pub fn sentence(
    case: &Case,
    words: &Words,
    policy: &Policy,
    consent: &Consent,
) -> (Judgement, Sentence) {
    let judgement = classify(case, words);
    let told = |why: String| Judgement { why, ..judgement.clone() };
    match policy.order(case, judgement.class) {
        Order::Deny(why) => return (told(why), Sentence::Deny),
        Order::Confirm(why) => return (told(why), Sentence::Hold),
        Order::ByClass => {}
    }
    if judgement.class < Class::Irreversible {
        return (judgement, Sentence::Pass);
    }
    if !consent.covers(&host(&case.url)) {
        return (judgement, Sentence::Hold);
    }
    match delicate(case, words).filter(|_| !is_for_tests(&case.url)) {
        None => (judgement, Sentence::Allow),
        Some(what) => {
            let why = &judgement.why;
            (told(format!("{why}; {what}, which --auto-approve does not cover")), Sentence::Hold)
        }
    }
}

/// What no consent covers that was given beforehand.
fn delicate(case: &Case, words: &Words) -> Option<String> {
    if case.secrets {
        return Some("it sends a secret".into());
    }
    if case.card {
        return Some("its form asks for a card".into());
    }
    let texts = case.texts.iter().map(String::as_str);
    let mut told = [case.name.as_str(), case.form_submit.as_str()].into_iter().chain(texts);
    let word = told.find_map(|text| words.find(text, &[List::Money]))?;
    Some(format!("'{word}' is about money"))
}

/// Returns the host of a URL, empty where there is none: no consent covers that.
fn host(url: &str) -> String {
    let parsed = url::Url::parse(url).ok();
    parsed.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(case: &Case, policy: &str, hosts: &[&str]) -> (String, Sentence) {
        let words = Words::parse(include_str!("../../../config/guard.toml")).unwrap();
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let consent = Consent { auto_approve: true, hosts };
        let policy = Policy::of(Ok(Some(policy.to_owned())));
        let (judgement, sentence) = sentence(case, &words, &policy, &consent);
        (judgement.why, sentence)
    }

    fn press(name: &str, url: &str) -> Case {
        Case {
            deed: "click".into(),
            tag: "button".into(),
            role: "button".into(),
            name: name.into(),
            url: url.into(),
            ..Case::default()
        }
    }

    #[test]
    fn consent_covers_no_money_and_no_secret_but_on_hosts_for_tests() {
        let shop = ["shop.example", "shop.localhost"];
        let send = press("Send", "https://shop.example/");
        assert_eq!(said(&send, "", &shop).1, Sentence::Allow);
        assert_eq!(said(&send, "", &["other.example"]).1, Sentence::Hold);
        let money = ["Pay now", "Place your order", "Jetzt kaufen", "Payer", "Comprar", "Оплатить"];
        for name in money.into_iter().chain(["결제하기", "購入する", "立即支付"]) {
            let (why, sentence) = said(&press(name, "https://shop.example/"), "", &shop);
            assert_eq!(sentence, Sentence::Hold, "{name}");
            assert!(why.ends_with("is about money, which --auto-approve does not cover"), "{why}");
            let practice = press(name, "http://shop.localhost:8000/");
            assert_eq!(said(&practice, "", &shop).1, Sentence::Allow, "{name}");
        }
        let card = Case { card: true, ..send.clone() };
        let secret = Case { secrets: true, ..send.clone() };
        for case in [card, secret] {
            assert_eq!(said(&case, "", &shop).1, Sentence::Hold);
            let practice = Case { url: "http://shop.localhost/".into(), ..case };
            assert_eq!(said(&practice, "", &shop).1, Sentence::Allow);
        }
    }

    #[test]
    fn the_policy_comes_first_and_its_allow_lifts_no_hold() {
        let shop = ["shop.example"];
        let send = press("Send", "https://shop.example/");
        let look = press("Details", "https://shop.example/");
        for (case, policy, sentence) in [
            (&send, "allow = ['click', 'irreversible']", Sentence::Allow),
            (&send, "confirm = ['irreversible']", Sentence::Hold),
            (&send, "deny = ['click@shop.example']", Sentence::Deny),
            (&look, "confirm = ['click']", Sentence::Hold),
            (&look, "deny = ['*@*.example']", Sentence::Deny),
            (&look, "default = 'confirm'", Sentence::Hold),
            (&look, "default = 'confirm'\nallow = ['click']", Sentence::Pass),
            (&look, "nonsense", Sentence::Deny),
        ] {
            assert_eq!(said(case, policy, &shop).1, sentence, "{} {policy}", case.name);
        }
        assert_eq!(said(&send, "allow = ['click', 'irreversible']", &[]).1, Sentence::Hold);
    }
}
