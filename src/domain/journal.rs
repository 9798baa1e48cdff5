//! A run's truth: what was asked, answered, intended and what came of it. Intent is written before
//! an act, the outcome after it; a step with an intent and no outcome is *in doubt*.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::guard::Judgement;
use crate::domain::ids::{HoldId, RunId};
use crate::domain::outcome::OutcomeKind;
use crate::domain::tool::ToolCall;

/// The format of entries that this version writes.
pub const VERSION: u32 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub v: u32,
    pub at: Timestamp,
    #[serde(flatten)]
    pub what: Event,
}

/// Why a line is no entry that can be read here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEntry {
    #[error(
        "it was written by a newer version (format {found}, this one reads up to {VERSION}); update strawmanus"
    )]
    Newer { found: u32 },
    #[error("it is no entry of a journal: {0}")]
    Unreadable(String),
}

impl Entry {
    /// Reads one line of a journal, of this version or an older one.
    ///
    /// # Errors
    /// `Newer` when a later version wrote it, even if it looks the same; `Unreadable` otherwise.
    pub fn parse(json: &str) -> Result<Self, BadEntry> {
        #[derive(Deserialize)]
        struct Format {
            v: u32,
        }
        let unreadable = |error: serde_json::Error| BadEntry::Unreadable(error.to_string());
        // First, as nothing else of a newer entry need be what we know.
        let Format { v } = serde_json::from_str(json).map_err(unreadable)?;
        if v > VERSION {
            return Err(BadEntry::Newer { found: v });
        }
        serde_json::from_str(json).map_err(unreadable)
    }
}

/// What happened. Steps count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Began {
        run: RunId,
        task: String,
        model: String,
        url: Option<String>,
    },
    /// The model is about to be asked.
    Asked {
        step: u32,
        url: String,
        observation_chars: usize,
    },
    /// Its raw answer, stored before it is used.
    Answered {
        step: u32,
        raw: String,
        call: ToolCall,
        input_tokens: u64,
        output_tokens: u64,
    },
    /// The call is about to be carried out.
    Intended {
        step: u32,
        call: ToolCall,
        what: String,
    },
    /// It was judged before dispatch.
    Judged {
        step: u32,
        what: String,
        url: String,
        judgement: Judgement,
        verdict: Verdict,
    },
    /// What came of it.
    Came {
        step: u32,
        outcome: String,
        delta: Vec<String>,
        url: String,
    },
    /// Something of the runtime died under the run and was started again.
    Restarted {
        step: u32,
        what: String,
        why: String,
    },
    /// The run's own loop was started again, from this journal.
    Resumed {
        step: u32,
    },
    Ended {
        status: Status,
        why: String,
        answer: Option<String>,
    },
}

/// What the guard let happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    Passed,
    /// Irreversible, but its host is one that the user allows without asking.
    Allowed,
    /// Irreversible, and a person approved it as this.
    Approved {
        id: HoldId,
    },
    Held {
        id: HoldId,
    },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Complete,
    /// Some of it was done; held acts alone make a run Partial too.
    Partial,
    /// Something outside stopped it: a site, a missing tab, a limit.
    Blocked,
    Failed,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "Complete",
            Self::Partial => "Partial",
            Self::Blocked => "Blocked",
            Self::Failed => "Failed",
        }
    }
}

/// Where a run stands, as its journal tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    pub task: String,
    pub model: String,
    pub began: Option<Timestamp>,
    pub last: Option<Timestamp>,
    pub steps: Vec<Step>,
    pub restarts: BTreeMap<String, u32>,
    pub resumed: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub ended: Option<Ending>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    pub status: Status,
    pub why: String,
    pub answer: Option<String>,
}

/// One step, as far as it came.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    pub number: u32,
    pub began: Option<Timestamp>,
    pub url: String,
    /// The model's raw answer, and what it means.
    pub answered: Option<(String, ToolCall)>,
    pub call: Option<ToolCall>,
    /// In words: `click button 'Add to cart'`.
    pub what: String,
    pub judged: Vec<Judged>,
    pub outcome: Option<String>,
    pub delta: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub what: String,
    pub url: String,
    pub judgement: Judgement,
    pub verdict: Verdict,
}

impl Step {
    /// An act was begun, and nobody knows what came of it.
    pub fn in_doubt(&self) -> bool {
        let acts = |call: &ToolCall| !matches!(call, ToolCall::View {} | ToolCall::Finish { .. });
        self.call.as_ref().is_some_and(acts) && self.outcome.is_none()
    }
}

impl Standing {
    /// Folds a journal, oldest first.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        entries.into_iter().fold(Self::default(), |mut standing, entry| {
            standing.take(entry);
            standing
        })
    }

    pub fn take(&mut self, entry: &Entry) {
        self.last = Some(entry.at);
        match &entry.what {
            Event::Began { task, model, .. } => {
                self.began = Some(entry.at);
                (self.task, self.model) = (task.clone(), model.clone());
            }
            Event::Asked { step, url, .. } => {
                let step = self.step(*step);
                (step.began, step.url) = (Some(entry.at), url.clone());
            }
            Event::Answered { step, raw, call, input_tokens, output_tokens } => {
                self.step(*step).answered = Some((raw.clone(), call.clone()));
                self.input_tokens += input_tokens;
                self.output_tokens += output_tokens;
            }
            Event::Intended { step, call, what } => {
                let step = self.step(*step);
                (step.call, step.what) = (Some(call.clone()), what.clone());
            }
            Event::Judged { step, what, url, judgement, verdict } => {
                let (what, url) = (what.clone(), url.clone());
                let (judgement, verdict) = (judgement.clone(), verdict.clone());
                self.step(*step).judged.push(Judged { what, url, judgement, verdict });
            }
            Event::Came { step, outcome, delta, url } => {
                let step = self.step(*step);
                (step.outcome, step.delta) = (Some(outcome.clone()), delta.clone());
                step.url.clone_from(url);
            }
            Event::Restarted { what, .. } => *self.restarts.entry(what.clone()).or_default() += 1,
            Event::Resumed { .. } => self.resumed += 1,
            Event::Ended { status, why, answer } => {
                let (why, answer) = (why.clone(), answer.clone());
                self.ended = Some(Ending { status: *status, why, answer });
            }
        }
    }

    /// The acts that wait for a person.
    pub fn held(&self) -> impl Iterator<Item = (&Step, &Judged)> {
        self.steps.iter().flat_map(|step| {
            let held = step.judged.iter().filter(|j| matches!(j.verdict, Verdict::Held { .. }));
            held.map(move |judged| (step, judged))
        })
    }

    /// Acts whose effect nobody knows, and after which the page was not looked at again.
    pub fn in_doubt(&self) -> impl Iterator<Item = &Step> {
        let looked = self.steps.iter().filter_map(|step| step.began.map(|_| step.number)).max();
        let unknown = |step: &&Step| {
            step.in_doubt() || step.outcome.as_deref() == Some(OutcomeKind::InDoubt.word())
        };
        self.steps.iter().filter(unknown).filter(move |step| Some(step.number) >= looked)
    }

    /// What the model finished with: its answer, and what it says is missing.
    pub fn finished(&self) -> Option<(&str, Option<&str>)> {
        self.steps.iter().rev().find_map(|step| match &step.call {
            Some(ToolCall::Finish { answer, incomplete_reason }) => {
                Some((answer.as_str(), incomplete_reason.as_deref()))
            }
            _ => None,
        })
    }

    fn step(&mut self, number: u32) -> &mut Step {
        let at = self.steps.iter().position(|step| step.number == number).unwrap_or_else(|| {
            self.steps.push(Step { number, ..Step::default() });
            self.steps.len() - 1
        });
        &mut self.steps[at]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::guard::Class;
    use crate::domain::ids::ElementId;
    use crate::domain::tool::{Index, Place};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn entries(events: impl IntoIterator<Item = Event>) -> Vec<Entry> {
        let entry = |(second, what)| Entry { v: VERSION, at: at(second), what };
        (0..).zip(events).map(entry).collect()
    }

    fn click(index: u32) -> ToolCall {
        let index = Some(Index::Number(ElementId(index)));
        ToolCall::Click(Place { index, ..Place::default() })
    }

    fn asked(step: u32) -> Event {
        Event::Asked { step, url: format!("http://a.localhost/{step}"), observation_chars: 9 }
    }

    fn intended(step: u32, call: ToolCall) -> Event {
        let what = call.what();
        Event::Intended { step, call, what }
    }

    fn came(step: u32, outcome: &str) -> Event {
        let (outcome, delta) = (outcome.into(), vec!["url: /next".into()]);
        Event::Came { step, outcome, delta, url: "http://a.localhost/next".into() }
    }

    fn answered(step: u32) -> Event {
        Event::Answered {
            step,
            raw: "{}".into(),
            call: ToolCall::View {},
            input_tokens: 100,
            output_tokens: 7,
        }
    }

    #[test]
    fn a_journal_folds_into_where_the_run_stands() {
        let judgement = Judgement { class: Class::Irreversible, why: "it sends".into() };
        let judged = |step, verdict| {
            let (what, url) = ("click 'Send'".into(), "http://a.localhost/".into());
            Event::Judged { step, what, url, judgement: judgement.clone(), verdict }
        };
        let journal = entries([
            Event::Began { run: RunId(7), task: "Ask".into(), model: "m".into(), url: None },
            asked(1),
            answered(1),
            intended(1, click(3)),
            judged(1, Verdict::Passed),
            came(1, "changed"),
            Event::Restarted { step: 1, what: "tab".into(), why: "killed".into() },
            Event::Restarted { step: 1, what: "tab".into(), why: "killed".into() },
            Event::Resumed { step: 1 },
            asked(2),
            answered(2),
            intended(2, click(4)),
            judged(2, Verdict::Held { id: HoldId(5) }),
        ]);
        let standing = Standing::of(&journal);
        assert_eq!((standing.task.as_str(), standing.model.as_str()), ("Ask", "m"));
        assert_eq!((standing.began, standing.last), (Some(at(0)), Some(at(12))));
        assert_eq!((standing.input_tokens, standing.output_tokens), (200, 14));
        assert_eq!(standing.restarts, BTreeMap::from([("tab".into(), 2)]));
        assert_eq!(standing.resumed, 1);
        assert_eq!(standing.ended, None);
        let [first, second] = &standing.steps[..] else { panic!("{:?}", standing.steps) };
        assert_eq!(first.url, "http://a.localhost/next");
        assert_eq!(first.outcome.as_deref(), Some("changed"));
        assert_eq!(first.delta, ["url: /next"]);
        assert_eq!((second.began, second.what.as_str()), (Some(at(9)), "click [4]"));
        assert!(!first.in_doubt() && second.in_doubt());
        let held: Vec<_> = standing.held().map(|(step, _)| step.number).collect();
        assert_eq!(held, [2]);
    }

    #[test]
    fn an_act_is_in_doubt_until_somebody_looked() {
        let doubts = |events: Vec<Event>| {
            let standing = Standing::of(&entries(events));
            standing.in_doubt().map(|step| step.number).collect::<Vec<_>>()
        };
        let act = || vec![asked(1), answered(1), intended(1, click(3))];
        assert_eq!(doubts(act()), [1]);
        assert_eq!(doubts([act(), vec![came(1, "in_doubt")]].concat()), [1]);
        assert_eq!(doubts([act(), vec![came(1, "changed")]].concat()), [0; 0]);
        assert_eq!(doubts([act(), vec![came(1, "in_doubt"), asked(2)]].concat()), [0; 0]);
        // What touches nothing leaves no doubt.
        assert_eq!(doubts(vec![asked(1), intended(1, ToolCall::View {})]), [0; 0]);
        let finish = ToolCall::Finish { answer: "a".into(), incomplete_reason: None };
        assert_eq!(doubts(vec![asked(1), intended(1, finish)]), [0; 0]);
    }

    #[test]
    fn entries_of_a_newer_version_are_refused() {
        let json = serde_json::to_string(&entries([Event::Resumed { step: 2 }])[0]).unwrap();
        assert_eq!(json, r#"{"v":1,"at":"2023-11-14T22:13:20Z","event":"resumed","step":2}"#);
        assert!(Entry::parse(&json).is_ok());
        let newer = r#"{"v":2,"when":0,"event":"dreamt"}"#;
        let error = Entry::parse(newer).unwrap_err();
        assert_eq!(error, BadEntry::Newer { found: 2 });
        assert_eq!(
            error.to_string(),
            "it was written by a newer version (format 2, this one reads up to 1); update strawmanus"
        );
        for odd in
            ["", "{}", r#"{"v":1}"#, r#"{"v":1,"at":"2023-11-14T22:13:20Z","event":"dreamt"}"#]
        {
            assert!(matches!(Entry::parse(odd), Err(BadEntry::Unreadable(_))), "{odd}");
        }
    }

    fn call() -> impl Strategy<Value = ToolCall> {
        let index = prop_oneof![
            any::<u32>().prop_map(|number| Index::Number(ElementId(number))),
            (".+", ".*").prop_map(|(role, name)| Index::Named { role, name }),
        ];
        let place = prop_oneof![
            index.prop_map(|index| Place { index: Some(index), ..Place::default() }),
            (0_u32..20_000, 0_u32..20_000).prop_map(|(x, y)| Place {
                index: None,
                coordinate_x: Some(f64::from(x) / 4.0),
                coordinate_y: Some(f64::from(y) / 4.0),
            }),
        ]
        .boxed();
        let input = (place.clone(), ".*", any::<bool>())
            .prop_map(|(place, text, press_enter)| ToolCall::Input { place, text, press_enter });
        let finish = (".*", prop::option::of(".*"))
            .prop_map(|(answer, why)| ToolCall::Finish { answer, incomplete_reason: why });
        prop_oneof![
            Just(ToolCall::View {}),
            Just(ToolCall::Navigate { url: "http://a.localhost/?q=é".into() }),
            Just(ToolCall::PressKey { key: "Control+Enter".into() }),
            any::<bool>().prop_map(|to_top| ToolCall::ScrollUp { to_top }),
            any::<bool>().prop_map(|to_bottom| ToolCall::ScrollDown { to_bottom }),
            place.prop_map(ToolCall::Click),
            input,
            finish,
        ]
    }

    fn event() -> impl Strategy<Value = Event> {
        let class =
            prop_oneof![Just(Class::Read), Just(Class::SoftWrite), Just(Class::Irreversible)];
        let verdict = prop_oneof![
            Just(Verdict::Passed),
            Just(Verdict::Allowed),
            any::<u32>().prop_map(|id| Verdict::Held { id: HoldId(id) }),
        ];
        let status = prop_oneof![
            Just(Status::Complete),
            Just(Status::Partial),
            Just(Status::Blocked),
            Just(Status::Failed),
        ];
        prop_oneof![
            (any::<u32>(), ".*", prop::option::of(".*")).prop_map(|(run, task, url)| {
                Event::Began { run: RunId(run), task, model: "m".into(), url }
            }),
            (any::<u32>(), ".*", any::<u32>()).prop_map(|(step, url, chars)| {
                Event::Asked { step, url, observation_chars: chars as usize }
            }),
            (any::<u32>(), ".*", call(), any::<u64>(), any::<u64>()).prop_map(
                |(step, raw, call, input_tokens, output_tokens)| {
                    Event::Answered { step, raw, call, input_tokens, output_tokens }
                }
            ),
            (any::<u32>(), call()).prop_map(|(step, call)| intended(step, call)),
            (any::<u32>(), ".*", class, verdict).prop_map(|(step, what, class, verdict)| {
                let judgement = Judgement { class, why: what.clone() };
                Event::Judged { step, what, url: String::new(), judgement, verdict }
            }),
            (any::<u32>(), ".*", prop::collection::vec(".*", 0..3)).prop_map(
                |(step, outcome, delta)| Event::Came { step, outcome, delta, url: "u".into() }
            ),
            (any::<u32>(), ".*")
                .prop_map(|(step, what)| { Event::Restarted { step, what, why: "killed".into() } }),
            any::<u32>().prop_map(|step| Event::Resumed { step }),
            (status, ".*", prop::option::of(".*")).prop_map(|(status, why, answer)| Event::Ended {
                status,
                why,
                answer
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn entries_come_back_as_they_were_written(what in event(), second in 0_i64..1_000_000_000) {
            let entry = Entry { v: VERSION, at: at(second), what };
            let json = serde_json::to_string(&entry).unwrap();
            prop_assert_eq!(Entry::parse(&json), Ok(entry));
        }
    }
}
