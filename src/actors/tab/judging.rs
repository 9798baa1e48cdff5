//! What the guard is told before anything is dispatched, and what has to be so still afterwards.

use std::time::Duration;

use crate::actors::tab::work::{Hands, unreadable};
use crate::actors::world::World;
use crate::domain::action::Action;
use crate::domain::guard::ticket::{Bond, Difference, Unfit};
use crate::domain::guard::{Case, Class, Judgement};
use crate::domain::ids::{HoldId, TabId};
use crate::messages::guard::{Decision, GuardError, GuardMsg, Question, Ruling};
use crate::messages::session::Owner;
use crate::messages::tab::{Order, TabError};
use crate::perception::answers::{FormFacts, PageValues, Probe};
use crate::perception::decode::parse;
use crate::ports::page::Page;

/// One thing that is about to be done.
pub struct Deed {
    /// In words, with the label of what is hit: `click button "Send"`.
    pub what: String,
    pub case: Case,
    pub around: Around,
}

/// What was seen around the target.
#[derive(Debug, Clone, Default)]
pub struct Around {
    place: String,
    digest: String,
    payload: String,
    secret: bool,
}

impl Around {
    pub fn of(probe: &Probe) -> Self {
        let Probe { place, digest, payload, secret, .. } = probe.clone();
        Self { place, digest, payload, secret }
    }
}

/// What the guard let pass.
pub struct Passed {
    pub judgement: Judgement,
    pub allowed: bool,
    /// The approval that it used up.
    pub approved: Option<HoldId>,
}

impl Passed {
    /// What only looks, and is not asked for.
    pub fn read(why: &str) -> Self {
        let judgement = Judgement { class: Class::Read, why: why.into() };
        Self { judgement, allowed: false, approved: None }
    }
}

/// Who asks the guard, and how long.
pub struct Asker<'a> {
    pub world: &'a World,
    pub tab: TabId,
    pub patience: Duration,
}

impl Asker<'_> {
    /// Asks the guard; one that is dead or late holds.
    pub async fn judge(&self, deed: Deed, order: &Order) -> Result<Passed, TabError> {
        let note = self.world.books.tabs.get(&self.tab).map(|note| note.clone());
        let note = note.ok_or(TabError::TargetGone)?;
        let run = match note.owner {
            Owner::Run(run) => Some(run),
            Owner::Shell => None,
        };
        let Deed { what, case, around } = deed;
        let url = case.url.clone();
        let Around { place, digest, payload, secret } = around;
        // Of a key what it sends, where anything is known of that.
        let own = !case.payload.is_empty() && (case.deed != "press" || payload.is_empty());
        let payload = if own { case.payload.clone() } else { payload };
        let bond = Bond {
            session: note.session,
            tab: self.tab,
            what: what.clone(),
            action: kept(&order.action, secret),
            case,
            place,
            digest,
        };
        let (consent, ticket) = (order.consent.clone(), order.ticket);
        let question = Box::new(Question { bond, payload, consent, run, ticket });
        let Ruling { judgement, decision } = self.ask(question, &what).await?;
        match decision {
            Decision::Pass => Ok(Passed { judgement, allowed: false, approved: None }),
            Decision::Allow => Ok(Passed { judgement, allowed: true, approved: None }),
            Decision::Approved(id) => Ok(Passed { judgement, allowed: false, approved: Some(id) }),
            Decision::Hold(id) => Err(TabError::Held { id, what, url, judgement }),
        }
    }

    async fn ask(&self, question: Box<Question>, what: &str) -> Result<Ruling, TabError> {
        let Some(guard) = self.world.doors.guard.find(&()) else {
            return Err(TabError::Refused { why: "there is no guard; nothing was done".into() });
        };
        match guard.ask(|reply| GuardMsg::Judge { question, reply }, self.patience).await {
            Ok(Ok(ruling)) => Ok(ruling),
            Ok(Err(error @ (GuardError::Unfit(_) | GuardError::Denied(_)))) => {
                Err(TabError::Unapproved(error))
            }
            Ok(Err(GuardError::Store(_))) | Err(_) => {
                let why = format!("the guard did not rule on `{what}`; nothing was done");
                Err(TabError::Refused { why })
            }
        }
    }
}

/// What of an action may be kept: a secret is not, not even for a person's approval.
fn kept(action: &Action, secret: bool) -> Option<Action> {
    let holds_secret = secret && matches!(action, Action::Fill { .. } | Action::FillAt { .. });
    (!holds_secret).then(|| action.clone())
}

impl Hands {
    /// Returns what is around an act that hits no element: everything.
    pub async fn whole_page(&self) -> Result<Around, TabError> {
        let raw = self.page.call("page_values", "{}", self.left()).await?;
        let PageValues { digest } = parse(&raw).map_err(unreadable)?;
        Ok(Around { digest, ..Around::default() })
    }

    /// What a person approved must be so with all that the page holds.
    pub async fn page_unchanged(&self, passed: &Passed, was: &Around) -> Result<(), TabError> {
        let Some(id) = passed.approved else { return Ok(()) };
        if self.whole_page().await?.digest == was.digest {
            return Ok(());
        }
        let difference = Difference::Values;
        Err(TabError::Unapproved(GuardError::Unfit(Unfit::Differs { id, difference })))
    }

    /// Asks whether the user's rules let the tab go there.
    pub async fn may_go(&self, url: &str) -> Result<(), TabError> {
        let Some(guard) = self.world.doors.guard.find(&()) else {
            return Err(TabError::Refused { why: "there is no guard; nothing was done".into() });
        };
        let url = url.to_owned();
        match guard.ask(|reply| GuardMsg::MayGo { url, reply }, self.left()).await {
            Ok(answer) => answer.map_err(TabError::Unapproved),
            Err(_) => {
                let why = "the guard did not rule on the address; nothing was done".into();
                Err(TabError::Refused { why })
            }
        }
    }

    pub async fn judge(&self, deed: Deed, order: &Order) -> Result<Passed, TabError> {
        let asker = Asker { world: &self.world, tab: self.id, patience: self.left() };
        asker.judge(deed, order).await
    }
}

/// What the guard ruled on must still be what is hit: it took its time, and pages change. What a
/// person approved must be so with all that is around it.
pub fn unchanged(
    (target, passed): (&str, &Passed),
    judged: &Probe,
    now: &Probe,
) -> Result<(), TabError> {
    if case_of(judged) != case_of(now) {
        return Err(TabError::Unstable { target: target.to_owned() });
    }
    let Some(id) = passed.approved else { return Ok(()) };
    let difference = if judged.place != now.place {
        Difference::Place
    } else if judged.digest != now.digest {
        Difference::Values
    } else {
        return Ok(());
    };
    Err(TabError::Unapproved(GuardError::Unfit(Unfit::Differs { id, difference })))
}

/// Returns what the guard is told of an element; the deed is the caller's.
pub fn case_of(probe: &Probe) -> Case {
    let form = probe.form.clone().unwrap_or(FormFacts {
        method: String::new(),
        action: String::new(),
        submit: String::new(),
        search: false,
        card: false,
        secrets: false,
    });
    Case {
        deed: String::new(),
        url: probe.url.clone(),
        tag: probe.tag.clone(),
        role: probe.role.clone(),
        name: probe.name.clone(),
        texts: probe.texts.clone(),
        kind: probe.kind.clone(),
        form_method: form.method,
        form_action: form.action,
        form_submit: form.submit,
        search: probe.search || form.search,
        submits: probe.submits,
        compose: probe.compose,
        card: form.card,
        secrets: form.secrets,
        payload: String::new(),
    }
}
