//! Acts that wait for a person, and what an approval of one is good for: once, for a while, and for
//! that very act. Pure: the time is an argument.
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::domain::action::Action;
use crate::domain::guard::Case;
use crate::domain::ids::{HoldId, RunId, SessionName, TabId};

/// A hold that nobody decided in this time is expired.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How much of what an act would send is shown to the person.
const SHOWN: usize = 500;

/// Everything that an approval is bound to. A judge compares what was held with what is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bond {
    pub session: SessionName,
    pub tab: TabId,
    /// In words, with the visible label: `click button "Send"`.
    pub what: String,
    /// None where it holds a secret: that is never kept.
    pub action: Option<Action>,
    pub case: Case,
    /// What stands around the target: ` — in row "Acme"`.
    pub place: String,
    /// Of the values of the form that the target belongs to.
    pub digest: String,
}

/// What is no longer as it was when the act was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    #[error("it is another tab")]
    Tab,
    #[error("the page is of another origin")]
    Origin,
    #[error("it is another act")]
    Action,
    #[error("the control is called otherwise")]
    Label,
    #[error("it is another control, or its form goes elsewhere")]
    Target,
    #[error("the control stands somewhere else")]
    Place,
    #[error("the values of the form changed")]
    Values,
}

impl Bond {
    /// Returns what of it is not as it is `now`, the gravest first.
    pub fn differs(&self, now: &Self) -> Option<Difference> {
        let (was, is) = (&self.case, &now.case);
        let label =
            |bond: &Self| (bond.what.clone(), bond.case.name.clone(), bond.case.texts.clone());
        let target = |case: &Case| {
            let nowhere = (String::new(), String::new(), vec![]);
            let (url, name, texts) = nowhere;
            Case { url, name, texts, ..case.clone() }
        };
        let checks = [
            ((&self.session, self.tab) == (&now.session, now.tab), Difference::Tab),
            (origin(&was.url) == origin(&is.url), Difference::Origin),
            (self.action == now.action && was.deed == is.deed, Difference::Action),
            (label(self) == label(now), Difference::Label),
            (target(was) == target(is), Difference::Target),
            (self.place == now.place, Difference::Place),
            (self.digest == now.digest, Difference::Values),
        ];
        checks.into_iter().find(|(same, _)| !same).map(|(_, difference)| difference)
    }
}

/// Scheme, host and port; the whole text where there is no such thing.
fn origin(url: &str) -> String {
    match Url::parse(url).map(|url| url.origin()) {
        Ok(origin) if origin.is_tuple() => origin.ascii_serialization(),
        _ => url.to_owned(),
    }
}

/// How far a hold has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum HoldState {
    Waiting,
    Approved { at: Timestamp },
    Denied,
    Used,
    Expired,
}

impl HoldState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved { .. } => "approved",
            Self::Denied => "denied",
            Self::Used => "used",
            Self::Expired => "expired",
        }
    }
}

/// One act that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    pub id: HoldId,
    pub what: String,
    /// Of the page.
    pub url: String,
    pub why: String,
    /// What it would send or type, as far as a person may read it.
    pub payload: String,
    pub run: Option<RunId>,
    pub at: Timestamp,
    pub state: HoldState,
    pub bond: Bond,
}

/// When it is, and how long an approval counts.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub now: Timestamp,
    pub approval: Duration,
}

/// Why a hold cannot be decided, or an approval does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("there is no act held as {0}; `strawmanus approve` lists what waits")]
    Unknown(HoldId),
    #[error("{0} is not approved; a person says `strawmanus approve {0}`")]
    Undecided(HoldId),
    #[error("{0} was denied; nothing was done")]
    Denied(HoldId),
    #[error("{0} was used already: an approval counts once")]
    Used(HoldId),
    #[error("{0} is expired; ask for the act again, and approve the new hold")]
    Expired(HoldId),
    #[error("{id} does not fit any more: {difference}; nothing was done, ask for the act again")]
    Differs { id: HoldId, difference: Difference },
}

impl Unfit {
    /// Says so where `id` is approved no more.
    fn of(id: HoldId, state: HoldState) -> Option<Self> {
        match state {
            HoldState::Waiting | HoldState::Approved { .. } => None,
            HoldState::Denied => Some(Self::Denied(id)),
            HoldState::Used => Some(Self::Used(id)),
            HoldState::Expired => Some(Self::Expired(id)),
        }
    }
}

impl Hold {
    /// Returns how far it has come by now: what nobody used in time is expired.
    pub fn state_at(&self, when: &Moment) -> HoldState {
        let over = |since: Timestamp, most: Duration| {
            let most = SignedDuration::try_from(most).unwrap_or(SignedDuration::MAX);
            when.now.duration_since(since) >= most
        };
        match self.state {
            HoldState::Waiting if over(self.at, KEPT) => HoldState::Expired,
            HoldState::Approved { at } if over(at, when.approval) => HoldState::Expired,
            state => state,
        }
    }

    /// Writes a person's decision down. An approval that was not used yet may be renewed or taken
    /// back.
    ///
    /// # Errors
    /// What is denied, used or expired stays so.
    pub fn decide(&mut self, approve: bool, when: &Moment) -> Result<(), Unfit> {
        if let Some(unfit) = Unfit::of(self.id, self.state_at(when)) {
            return Err(unfit);
        }
        self.state = if approve { HoldState::Approved { at: when.now } } else { HoldState::Denied };
        Ok(())
    }

    /// Uses the approval up for an act, if it is for that very act.
    ///
    /// # Errors
    /// Says why it does not count; then it is not used either.
    pub fn redeem(&mut self, asked: &Bond, when: &Moment) -> Result<(), Unfit> {
        let id = self.id;
        let state = self.state_at(when);
        if let Some(unfit) = Unfit::of(id, state) {
            return Err(unfit);
        }
        if state == HoldState::Waiting {
            return Err(Unfit::Undecided(id));
        }
        if let Some(difference) = self.bond.differs(asked) {
            return Err(Unfit::Differs { id, difference });
        }
        self.state = HoldState::Used;
        Ok(())
    }
}

/// Cuts what is shown of a payload to what a person can read.
pub fn preview(payload: &str) -> String {
    match payload.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &payload[..end]),
        None => payload.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPROVAL: Duration = Duration::from_secs(600);

    fn bond() -> Bond {
        let case = Case {
            deed: "click".into(),
            url: "https://a.test/pay?step=1".into(),
            name: "Pay 20".into(),
            form_action: "https://a.test/pay".into(),
            ..Case::default()
        };
        Bond {
            session: "default".parse().unwrap(),
            tab: TabId(1),
            what: "click button \"Pay 20\"".into(),
            action: Some(Action::ClickAt { x: 1.0, y: 2.0 }),
            case,
            place: String::new(),
            digest: "d".into(),
        }
    }

    fn hold() -> Hold {
        let (what, url, why) = ("click".into(), "https://a.test/".into(), "pay".into());
        let at = "2026-11-30T12:00:00Z".parse().unwrap();
        let (payload, state) = (String::new(), HoldState::Waiting);
        Hold { id: HoldId(3), what, url, why, payload, run: None, at, state, bond: bond() }
    }

    fn after(seconds: u64) -> Moment {
        let now = hold().at + Duration::from_secs(seconds);
        Moment { now, approval: APPROVAL }
    }

    #[test]
    fn an_approval_counts_once_and_for_a_while() {
        let id = HoldId(3);
        let mut waits = hold();
        assert_eq!(waits.redeem(&bond(), &after(1)), Err(Unfit::Undecided(id)));
        waits.decide(true, &after(1)).unwrap();
        let mut late = waits.clone();
        assert_eq!(late.redeem(&bond(), &after(601)), Err(Unfit::Expired(id)));
        assert_eq!(late.decide(true, &after(601)), Err(Unfit::Expired(id)));
        waits.decide(true, &after(500)).unwrap();
        waits.redeem(&bond(), &after(1_099)).unwrap();
        assert_eq!(waits.redeem(&bond(), &after(1_099)), Err(Unfit::Used(id)));
        assert_eq!(waits.decide(false, &after(1_099)), Err(Unfit::Used(id)));
        let mut old = hold();
        assert_eq!(old.decide(true, &after(24 * 3_600)), Err(Unfit::Expired(id)));
        let endless = Moment { approval: Duration::MAX, ..after(23 * 3_600) };
        old.decide(true, &endless).unwrap();
        assert_eq!(old.redeem(&bond(), &endless), Ok(()));
    }

    #[test]
    fn a_denial_can_take_an_approval_back_and_stays() {
        let mut hold = hold();
        hold.decide(true, &after(1)).unwrap();
        hold.decide(false, &after(2)).unwrap();
        assert_eq!(hold.redeem(&bond(), &after(3)), Err(Unfit::Denied(hold.id)));
        assert_eq!(hold.decide(true, &after(3)), Err(Unfit::Denied(hold.id)));
    }

    #[test]
    fn every_part_of_the_bond_counts() {
        type Change = fn(&mut Bond);
        let changes: [(Change, Difference); 10] = [
            (|bond| bond.tab = TabId(2), Difference::Tab),
            (|bond| bond.session = "other".parse().unwrap(), Difference::Tab),
            (|bond| bond.case.url = "https://a.test:444/pay".into(), Difference::Origin),
            (|bond| bond.case.url = "http://a.test/pay".into(), Difference::Origin),
            (|bond| bond.action = Some(Action::ClickAt { x: 1.0, y: 3.0 }), Difference::Action),
            (|bond| bond.case.name = "Pay 200".into(), Difference::Label),
            (|bond| bond.what = "click button \"Pay 200\"".into(), Difference::Label),
            (|bond| bond.case.form_action = "https://b.test/pay".into(), Difference::Target),
            (|bond| bond.place = " — in row \"Bob\"".into(), Difference::Place),
            (|bond| bond.digest = "e".into(), Difference::Values),
        ];
        for (change, difference) in changes {
            let mut hold = hold();
            hold.decide(true, &after(1)).unwrap();
            let mut asked = bond();
            change(&mut asked);
            let refused = Err(Unfit::Differs { id: hold.id, difference });
            assert_eq!(hold.redeem(&asked, &after(2)), refused);
            assert_eq!(hold.redeem(&bond(), &after(2)), Ok(()), "a refusal uses nothing up");
        }
        let mut hold = hold();
        hold.decide(true, &after(1)).unwrap();
        let mut asked = bond();
        asked.case.url = "https://a.test/pay?step=2#there".into();
        assert_eq!(hold.redeem(&asked, &after(2)), Ok(()), "the address within an origin may");
    }
}
