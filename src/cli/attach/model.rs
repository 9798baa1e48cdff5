//! What the view knows and what it makes of news and keys. Pure: the world is asked by [`Wish`]es.
use crate::cli::attach::keys::Key;
use crate::control::answer::{Answer, Failure};
use crate::control::sight::{HoldSight, RunSight, Sight};
use crate::domain::ids::{HoldId, RunId};

/// What comes to the view.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    Key(Key),
    Seen(Box<Sight>),
    /// The daemon did not answer, and why.
    Lost(String),
    /// What came of an approval or a denial.
    Decided(HoldId, String),
}

/// What the view wants of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    Leave,
    /// Look at once: another run was chosen.
    Look,
    Approve(HoldId),
    Deny(HoldId),
}

/// What the keys are about at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Looking,
    Help,
    /// Asked once more whether this act, and no other, is approved.
    Confirming(HoldId),
}

/// Everything that is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// What was seen last; it stays while the daemon is gone.
    pub sight: Sight,
    /// Why nothing newer is seen.
    pub lost: Option<String>,
    /// The run that was chosen; the newest when none was.
    pub run: Option<RunId>,
    hold: Option<HoldId>,
    /// The chosen act went away by itself: for so many looks a key may still be meant for it.
    slipped: u8,
    pub mode: Mode,
    pub notice: String,
    /// Lines of the steps that are scrolled away below.
    pub steps_back: usize,
    /// Lines of the tree that are scrolled away above.
    pub tree_down: usize,
    /// Decided on, and not yet answered.
    deciding: Vec<HoldId>,
}

/// About as long as a person takes to see that the choice fell on another act.
const SLIPPED: u8 = 6;
/// How far one key scrolls.
const PAGE: usize = 10;

impl Model {
    pub fn new(run: Option<RunId>) -> Self {
        let lost = Some("looking for the daemon".to_owned());
        Self { run, lost, ..Self::default() }
    }

    /// Takes in what was heard, and returns what is to be done.
    pub fn update(&mut self, heard: Heard) -> Option<Wish> {
        match heard {
            Heard::Key(key) => self.press(key),
            Heard::Seen(sight) => {
                (self.sight, self.lost) = (*sight, None);
                self.mend_choice();
                None
            }
            Heard::Lost(why) => {
                self.lost = Some(why);
                // Nobody approves what is seen no more.
                self.sight.holds = None;
                self.mend_choice();
                None
            }
            Heard::Decided(id, what) => {
                self.deciding.retain(|deciding| *deciding != id);
                self.notice = what;
                None
            }
        }
    }

    /// Returns the run whose steps are shown.
    pub fn shown_run(&self) -> Option<&RunSight> {
        let chosen = self.sight.runs.iter().find(|run| Some(run.id) == self.run);
        chosen.or_else(|| self.sight.runs.first().filter(|_| self.run.is_none()))
    }

    /// Returns the held acts that can be decided on: what was decided here waits for its answer.
    pub fn holds(&self) -> Vec<&HoldSight> {
        let holds = self.sight.holds.iter().flatten();
        holds.filter(|hold| !self.deciding.contains(&hold.id)).collect()
    }

    /// Returns the act that `y` and `n` are about.
    pub fn chosen_hold(&self) -> Option<&HoldSight> {
        let holds = self.holds();
        let chosen = holds.iter().find(|hold| Some(hold.id) == self.hold);
        chosen.or(holds.first()).copied()
    }

    /// Says why there is nothing to decide on.
    pub fn nothing_held(&self) -> &'static str {
        match (&self.sight.holds, &self.lost) {
            (None, None) => "what is held is not known: the guard does not answer at the moment",
            (None, Some(_)) => "what is held is not known while the daemon is gone",
            (Some(_), _) => "nothing is held",
        }
    }

    fn press(&mut self, key: Key) -> Option<Wish> {
        if key == Key::Leave {
            return Some(Wish::Leave);
        }
        self.notice.clear();
        match self.mode {
            Mode::Help => {
                self.mode = Mode::Looking;
                None
            }
            Mode::Confirming(id) => self.confirm(id, key),
            Mode::Looking => self.look(key),
        }
    }

    fn confirm(&mut self, id: HoldId, key: Key) -> Option<Wish> {
        self.mode = Mode::Looking;
        if key == Key::Enter {
            return Some(self.decide(id, Wish::Approve(id)));
        }
        if key == Key::No {
            return Some(self.decide(id, Wish::Deny(id)));
        }
        self.notice = format!("{id} was not approved; it is still held");
        None
    }

    fn look(&mut self, key: Key) -> Option<Wish> {
        match key {
            Key::Help => self.mode = Mode::Help,
            Key::Yes | Key::No => return self.answer(key == Key::Yes),
            Key::OlderRun => return self.turn_to(1),
            Key::NewerRun => return self.turn_to(-1),
            Key::NextHold => self.choose_hold(1),
            Key::LastHold => self.choose_hold(-1),
            Key::StepsUp => self.steps_back = (self.steps_back + PAGE).min(self.most_back()),
            Key::StepsDown => self.steps_back = self.steps_back.saturating_sub(PAGE),
            Key::TreeUp => self.tree_down = self.tree_down.saturating_sub(1),
            Key::TreeDown => {
                let last = self.sight.actors.len().saturating_sub(1);
                self.tree_down = (self.tree_down + 1).min(last);
            }
            Key::Enter | Key::Back | Key::Leave => {}
        }
        None
    }

    fn answer(&mut self, yes: bool) -> Option<Wish> {
        let Some(id) = self.chosen_hold().map(|hold| hold.id) else {
            self.notice = self.nothing_held().into();
            return None;
        };
        if std::mem::take(&mut self.slipped) > 0 {
            self.notice = format!("{id} is chosen now; press again if you mean it");
            return None;
        }
        if yes {
            // From here on it is this act, also when another comes before it in the list.
            (self.hold, self.mode) = (Some(id), Mode::Confirming(id));
            return None;
        }
        Some(self.decide(id, Wish::Deny(id)))
    }

    fn decide(&mut self, id: HoldId, wish: Wish) -> Wish {
        self.deciding.push(id);
        self.hold = self.chosen_hold().map(|hold| hold.id);
        self.notice = match wish {
            Wish::Approve(_) => format!("{id}: approving …"),
            _ => format!("{id}: denying …"),
        };
        wish
    }

    fn turn_to(&mut self, by: isize) -> Option<Wish> {
        let runs = &self.sight.runs;
        let at = self.shown_run().and_then(|shown| runs.iter().position(|run| run.id == shown.id));
        let to = step(at.unwrap_or_default(), by, runs.len())?;
        // At the newest, the next new one is followed.
        self.run = if to == 0 { None } else { Some(runs[to].id) };
        self.steps_back = 0;
        Some(Wish::Look)
    }

    fn choose_hold(&mut self, by: isize) {
        let holds = self.holds();
        let at = self.chosen_hold().and_then(|chosen| holds.iter().position(|h| h.id == chosen.id));
        let to = step(at.unwrap_or_default(), by, holds.len());
        let to = to.map(|to| holds[to].id);
        (self.hold, self.slipped) = (to.or(self.hold), 0);
    }

    fn most_back(&self) -> usize {
        let told = self.shown_run().and_then(|run| run.told.as_ref());
        told.map_or(0, |told| told.lines.len().saturating_sub(1))
    }

    /// What was chosen may be gone; nothing else is approved in its place.
    fn mend_choice(&mut self) {
        self.steps_back = self.steps_back.min(self.most_back());
        let chosen = self.chosen_hold().map(|hold| hold.id);
        let slips = self.hold.is_some() && chosen != self.hold;
        self.slipped = if slips { SLIPPED } else { self.slipped.saturating_sub(1) };
        self.hold = chosen;
        if let Mode::Confirming(id) = self.mode
            && !self.holds().iter().any(|hold| hold.id == id)
        {
            self.mode = Mode::Looking;
            self.notice = format!("{id} is no longer held");
        }
    }
}

/// Returns the place that lies `by` places after `at`, if there is one.
fn step(at: usize, by: isize, count: usize) -> Option<usize> {
    at.checked_add_signed(by).filter(|to| *to < count)
}

/// Says in one line what came of a decision.
pub fn decision(id: HoldId, answer: Result<Answer, Failure>) -> Heard {
    let failed = |failure: Failure| {
        let hint = failure.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{}{hint}", failure.message)
    };
    let text = match answer {
        Ok(Answer { error: Some(failure), .. }) => failed(failure),
        Ok(answer) => answer.text.lines().next().unwrap_or("done").to_owned(),
        Err(failure) => failed(failure),
    };
    Heard::Decided(id, text)
}
