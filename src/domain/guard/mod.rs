//! What may be done without a person. Pure: classes come from the facts of one action and a table
//! of words.
mod code;
pub mod policy;
pub mod sentence;
mod text;
pub mod ticket;
mod words;

use serde::{Deserialize, Serialize};

use crate::domain::guard::words::List;
use crate::domain::keys::Chord;

pub use crate::domain::guard::words::{BadWords, Words};

/// How much an action can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Read,
    SoftWrite,
    Irreversible,
}

/// What is known of an action before it is dispatched: the element that would really be hit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Case {
    /// `click`, `fill`, `fill_and_enter`, `select`, `press`, `navigate`, `evaluate`, `accept`.
    pub deed: String,
    /// Of the page.
    pub url: String,
    pub tag: String,
    pub role: String,
    /// Accessible name, and beside it every other text that the element shows or carries:
    /// text, value of a button, `aria-label`, `title`.
    pub name: String,
    pub texts: Vec<String>,
    /// `type` of an input or button.
    pub kind: String,
    /// Its form: method, action and the label of what submits it. Empty without a form.
    pub form_method: String,
    pub form_action: String,
    pub form_submit: String,
    /// The form or landmark has `role=search`, or its only text field is a search field.
    pub search: bool,
    /// Whether dispatching can submit the form: a submit button, Enter in a field.
    pub submits: bool,
    /// A text field of several lines, or one that composes a message.
    pub compose: bool,
    /// Its form asks for a card.
    pub card: bool,
    /// It would send a secret: what is typed, or what its form holds.
    pub secrets: bool,
    /// The keys of a press, or the text of a fill (never of a secret field).
    pub payload: String,
}

/// What the guard makes of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub class: Class,
    /// Such as `click target text contains 'send'`.
    pub why: String,
}

impl Judgement {
    fn of(class: Class, why: impl Into<String>) -> Self {
        Self { class, why: why.into() }
    }
}

/// A link with more words than this is a headline: what it is about is not what it does.
const HEADLINE: usize = 6;

/// Says how much an action can break, from what it would hit. What is not known is held.
pub fn classify(case: &Case, words: &Words) -> Judgement {
    match case.deed.as_str() {
        "click" => click(case, words, "click"),
        "fill" | "select" if case.tag == "select" => choose(case, words),
        "fill" if case.submits => enter(case, words),
        "fill_and_enter" => {
            let pressed = press(&Case { payload: "Enter".into(), ..case.clone() }, words);
            Judgement { class: pressed.class.max(Class::SoftWrite), ..pressed }
        }
        "accept" => accept(case, words),
        "fill" => Judgement::of(Class::SoftWrite, "fill changes a field"),
        "press" => press(case, words),
        "navigate" => navigate(case, words),
        "evaluate" => code::classify(&case.payload, &words.code),
        "scroll" | "hover" | "view" => Judgement::of(Class::Read, format!("{} reads", case.deed)),
        other => Judgement::of(Class::Irreversible, format!("{other} is not known to be harmless")),
    }
}

fn click(case: &Case, words: &Words, deed: &str) -> Judgement {
    if sets_a_state(case) {
        return Judgement::of(Class::SoftWrite, format!("{deed} sets a state"));
    }
    if takes_text(case) || (case.role == "tab" && !case.submits) {
        return Judgement::of(Class::Read, format!("{deed} on a {} changes nothing", case.role));
    }
    let lists = lists(case);
    if let Some(word) = label(case).find_map(|text| spoken(case, text, words, lists)) {
        let why = format!("{deed} target text contains '{word}'");
        return Judgement::of(Class::Irreversible, why);
    }
    if case.submits {
        return form(case, words, deed);
    }
    if let Some(word) = label(case).find_map(|text| words.find(text, &[List::Soft])) {
        return Judgement::of(Class::SoftWrite, format!("{deed} target text contains '{word}'"));
    }
    let button = matches!(case.role.as_str(), "button" | "menuitem") || case.tag == "button";
    let class = if button { Class::SoftWrite } else { Class::Read };
    Judgement::of(class, format!("{deed} target text has no word of the table"))
}

/// Choosing an option, which may submit what the select stands in.
fn choose(case: &Case, words: &Words) -> Judgement {
    if !case.submits {
        return Judgement::of(Class::SoftWrite, "choosing changes a field");
    }
    match words.find(&case.payload, lists(case)) {
        Some(word) => {
            let why = format!("choosing submits, and the option contains '{word}'");
            Judgement::of(Class::Irreversible, why)
        }
        None => form(case, words, "choosing"),
    }
}

/// What a dialog asks is what OK says yes to.
fn accept(case: &Case, words: &Words) -> Judgement {
    match words.find(&case.name, &[List::Irreversible]) {
        Some(word) => {
            let why = format!("accept says yes to a question that contains '{word}'");
            Judgement::of(Class::Irreversible, why)
        }
        None => Judgement::of(Class::SoftWrite, "accept says yes to a question"),
    }
}

/// What submitting a form does, when its button's own text says nothing.
fn form(case: &Case, words: &Words, deed: &str) -> Judgement {
    if let Some(word) = words.find(&case.form_submit, lists(case)) {
        let why = format!("{deed} submits a form whose button text contains '{word}'");
        return Judgement::of(Class::Irreversible, why);
    }
    if reads(case) && case.search {
        return Judgement::of(Class::Read, format!("{deed} submits a search"));
    }
    let path = case.form_action.split(['?', '#']).next().unwrap_or_default();
    match words.find(path_only(path), &[List::Irreversible]) {
        Some(word) if !reads(case) => {
            let why = format!("{deed} submits a form whose address contains '{word}'");
            Judgement::of(Class::Irreversible, why)
        }
        _ if reads(case) || says_soft(case, words) => {
            Judgement::of(Class::SoftWrite, format!("{deed} submits a form"))
        }
        // What is not known is held.
        _ => {
            let why = format!("{deed} posts a form whose button says nothing that is known");
            Judgement::of(Class::Irreversible, why)
        }
    }
}

/// Whether a form's button, or what is pressed, says that it changes what can be changed back; one
/// that has no words says nothing against it.
fn says_soft(case: &Case, words: &Words) -> bool {
    let chooses = takes_text(case) || case.tag == "select";
    let pressed = label(case).filter(|_| !chooses).chain([case.form_submit.as_str()]);
    let said: Vec<&str> = pressed.filter(|text| !text.trim().is_empty()).collect();
    said.is_empty() || said.iter().any(|text| words.find(text, &[List::Soft]).is_some())
}

fn press(case: &Case, words: &Words) -> Judgement {
    let Ok(chord) = case.payload.parse::<Chord>() else {
        return Judgement::of(Class::Irreversible, "the pressed key is not known");
    };
    let strong = chord.control || chord.meta;
    match chord.key.as_str() {
        "Enter" if case.compose && chord.shift && !strong => {
            Judgement::of(Class::SoftWrite, "Shift+Enter begins a line")
        }
        "Enter" if takes_text(case) && strong => {
            let why = format!("{chord} in a field often sends what it holds");
            Judgement::of(Class::Irreversible, why)
        }
        "Enter" if takes_text(case) || case.compose => enter(case, words),
        "Enter" | " " if !takes_text(case) => click(case, words, &format!("press {chord} on")),
        "Delete" if !takes_text(case) && !case.compose => {
            Judgement::of(Class::Irreversible, "Delete outside a text field deletes what is chosen")
        }
        _ if case.tag == "select"
            && case.submits
            && !matches!(chord.key.as_str(), "Tab" | "Escape") =>
        {
            form(case, words, &format!("press {chord} chooses, which"))
        }
        key if key.chars().count() > 1 && !matches!(key, "Delete" | "Backspace") => {
            let why = format!("press {chord} moves");
            Judgement::of(if sets_a_state(case) { Class::SoftWrite } else { Class::Read }, why)
        }
        _ => Judgement::of(Class::SoftWrite, format!("press {chord} types")),
    }
}

/// Enter in a field that takes text.
fn enter(case: &Case, words: &Words) -> Judgement {
    let composes = || !case.search && words.find(&case.name, &[List::Compose]).is_some();
    if case.compose || composes() {
        return Judgement::of(Class::Irreversible, "Enter in a field that composes a message");
    }
    if case.submits {
        return form(case, words, "Enter");
    }
    Judgement::of(Class::SoftWrite, "Enter in a field without a form")
}

fn navigate(case: &Case, words: &Words) -> Judgement {
    let scheme = |scheme: &str| {
        let visible =
            case.payload.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
        visible.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if scheme("javascript:") {
        let judged = code::classify(&case.payload, &words.code);
        return Judgement { class: judged.class.max(Class::SoftWrite), ..judged };
    }
    Judgement::of(Class::Read, "navigate reads a page")
}

/// Everything that the element says it is.
fn label(case: &Case) -> impl Iterator<Item = &str> {
    std::iter::once(case.name.as_str()).chain(case.texts.iter().map(String::as_str))
}

fn spoken(case: &Case, text: &str, words: &Words, lists: &[List]) -> Option<String> {
    let word = words.find(text, lists)?;
    let link = case.role == "link" && !case.submits;
    if link && text.trim_end().ends_with(['?', '？']) {
        // A question leads to its answer.
        return None;
    }
    let headline = link && (Words::count(text) > HEADLINE || text.contains(['、', '，', '。']));
    let first = || {
        let folded = text::fold(text);
        let begins = text::words(&folded).first().is_some_and(|w| word.starts_with(w.as_str()));
        begins || text::squeeze(&folded).starts_with(word.as_str())
    };
    (!headline || first()).then_some(word)
}

/// Which words count: in a search that reads, `Submit` and `Apply` do not; where a form is
/// submitted, `Sign up` does.
fn lists(case: &Case) -> &'static [List] {
    match (case.search && reads(case), case.submits) {
        (true, _) => &[List::Irreversible],
        (false, true) => &[List::Irreversible, List::Generic, List::Submitting],
        (false, false) => &[List::Irreversible, List::Generic],
    }
}

/// Whether its form is read by its method, or there is none.
fn reads(case: &Case) -> bool {
    case.form_method.is_empty() || case.form_method.eq_ignore_ascii_case("get")
}

fn sets_a_state(case: &Case) -> bool {
    let state = [
        "checkbox",
        "radio",
        "switch",
        "option",
        "slider",
        "spinbutton",
        "menuitemcheckbox",
        "menuitemradio",
    ];
    !case.submits && state.contains(&case.role.as_str())
}

fn takes_text(case: &Case) -> bool {
    matches!(case.role.as_str(), "textbox" | "searchbox" | "combobox") || case.tag == "textarea"
}

/// The path of an address: what comes after the host names the deed, the host names a site.
fn path_only(address: &str) -> &str {
    let Some((_, rest)) = address.split_once("://") else { return address };
    rest.find('/').map_or("", |at| &rest[at..])
}

#[cfg(test)]
mod tests;
