//! A planted tree over the fakes, and what a caller does with it.
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ractor::{ActorCell, ActorRef};
use strawmanus::actors::world::{Settings, World};
use strawmanus::domain::action::Action;
use strawmanus::domain::guard::Words;
use strawmanus::domain::ids::{RunId, SessionName, TabId};
use strawmanus::domain::journal::{Entry, Standing};
use strawmanus::domain::page::observation::{Observation, View};
use strawmanus::domain::run::{Consent, ContextBounds, Limits, OnHold, RunOrder};
use strawmanus::domain::target::{Query, Target};
use strawmanus::messages::address::{Address, AskError};
use strawmanus::messages::board::Card;
use strawmanus::messages::books::{RunNote, SessionNote};
use strawmanus::messages::session::{Owner, SessionError, SessionMsg, TabLine};
use strawmanus::messages::supervisor::{Seat, SeatError, SupervisorMsg};
use strawmanus::messages::tab::{Acted, Landed, Order, Question, TabCard, TabError, TabMsg, Until};
use strawmanus::ports::browser::{LaunchSpec, ProfileMode};
use strawmanus::ports::model::Model;
use strawmanus::ports::page::Dialog;
use strawmanus::supervision::tree::{Plan, Tree, plant};
use tokio::sync::broadcast;

use crate::support::memory::Memory;
use crate::support::web::Web;

pub const SECOND: Duration = Duration::from_secs(1);
pub const MINUTE: Duration = Duration::from_secs(60);
pub const HOUR: Duration = Duration::from_secs(3600);
/// Where actors stand below the root, by [`House::cell`]; those of the first tab and the first run.
pub const CACHE: &[usize] = &[0];
pub const GUARD: &[usize] = &[1];
pub const SESSION: &[usize] = &[2, 0, 0];
pub const TAB: &[usize] = &[2, 0, 1, 0, 0];
pub const PERCEPTION: &[usize] = &[2, 0, 1, 0, 1];
pub const LEDGER: &[usize] = &[3, 0, 0];
pub const ORCHESTRATOR: &[usize] = &[3, 0, 1];
const WORDS: &str = include_str!("../../../config/guard.toml");

pub struct House {
    pub tree: Arc<Tree>,
    pub root: ActorRef<SupervisorMsg>,
    pub world: World,
    pub memory: Memory,
    pub web: Web,
}

impl House {
    /// Plants a tree with one session, `default`.
    pub async fn build(web: &Web) -> Self {
        Self::over(web, Memory::default()).await
    }

    /// The same over what an earlier house left.
    pub async fn over(web: &Web, memory: Memory) -> Self {
        let world = World {
            launcher: Arc::new(web.clone()),
            store: Arc::new(memory.clone()),
            sealed: Arc::new(memory.clone()),
            files: Arc::new(memory.clone()),
            clock: Arc::new(memory.clone()),
            nonces: Arc::new(memory.clone()),
            words: Arc::new(Words::parse(WORDS).unwrap()),
            rules: Arc::new(memory.clone()),
            doors: Default::default(),
            books: Default::default(),
            board: Default::default(),
            settings: Settings::default(),
        };
        let (tree, root) = plant(Plan::default(), world.clone()).await.unwrap();
        let house = Self { tree, root, world, memory, web: web.clone() };
        house.add_session("default").await.unwrap();
        house
    }

    pub async fn add_session(&self, name: &str) -> Result<(), SeatError> {
        self.add_session_with(name, ProfileMode::Cloned).await
    }

    pub async fn add_session_with(
        &self,
        name: &str,
        profile: ProfileMode,
    ) -> Result<(), SeatError> {
        let name: SessionName = name.parse().unwrap();
        let spec = LaunchSpec {
            session: name.clone(),
            profile,
            headless: true,
            endpoint: None,
            executable: None,
            folder: PathBuf::from("/nowhere"),
            arguments: vec![],
            screen: vec![],
            library: "",
        };
        self.world
            .books
            .sessions
            .insert(name.clone(), SessionNote { spec, failed: false, current: None });
        self.add(Seat::Sessions, Seat::SessionGroup(name)).await
    }

    pub async fn add(&self, below: Seat, seat: Seat) -> Result<(), SeatError> {
        let add = |reply| SupervisorMsg::Add { seat, reply };
        self.world.doors.supervisors.find(&below).unwrap().ask(add, MINUTE).await.unwrap()
    }

    pub async fn remove(&self, below: Seat, seat: Seat) -> Result<(), SeatError> {
        let remove = |reply| SupervisorMsg::Remove { seat, reply };
        self.world.doors.supervisors.find(&below).unwrap().ask(remove, MINUTE).await.unwrap()
    }

    pub fn session(&self) -> Address<SessionMsg> {
        self.world.doors.sessions.find(&name()).expect("the session")
    }

    pub async fn new_tab(&self, url: &str) -> TabId {
        self.try_new_tab(url, Owner::Shell).await.unwrap()
    }

    pub async fn try_new_tab(&self, url: &str, owner: Owner) -> Result<TabId, SessionError> {
        let url = Some(url.to_owned());
        let new = |reply| SessionMsg::NewTab { url, owner, reply };
        self.session().ask(new, MINUTE).await.unwrap()
    }

    pub async fn tabs(&self) -> Vec<TabLine> {
        let list = |reply| SessionMsg::ListTabs { reply };
        self.session().ask(list, MINUTE).await.unwrap().unwrap()
    }

    pub fn tab(&self, tab: TabId) -> Address<TabMsg> {
        self.world.doors.tabs.find(&tab).expect("a tab that was made")
    }

    pub fn card(&self, seat: &Seat) -> Card {
        self.tree.board.card(seat).expect("a card")
    }

    /// Returns an actor, past its address: the children on the way from the root, by age.
    pub fn cell(&self, path: &[usize]) -> ActorCell {
        self.try_cell(path).expect("somebody sits there")
    }

    fn try_cell(&self, path: &[usize]) -> Option<ActorCell> {
        path.iter().try_fold(self.root.get_cell(), |cell, place| {
            let mut children = cell.get_children();
            children.sort_by_key(|child| child.get_id().pid());
            children.get(*place).cloned()
        })
    }

    /// Kills an actor, if it is there.
    pub fn kill(&self, path: &[usize]) {
        if let Some(cell) = self.try_cell(path) {
            cell.kill();
        }
    }

    /// Begins a run, and returns where its steps can be watched.
    pub async fn begin_with(
        &self,
        order: RunOrder,
        model: Arc<dyn Model>,
    ) -> broadcast::Receiver<Entry> {
        let (feed, heard) = broadcast::channel(1_000);
        let id = order.id;
        self.world.books.runs.insert(id, RunNote { order, model, feed });
        self.add(Seat::Runs, Seat::RunGroup(id)).await.unwrap();
        heard
    }

    /// Waits until the loop of a run is over, and returns how it stands.
    pub async fn over_with(&self, id: u32) -> Standing {
        if let Some(run) = self.world.doors.orchestrators.find(&RunId(id)) {
            tokio::time::timeout(HOUR, run.closed()).await.expect("the run ends");
        }
        Standing::of(&self.entries(id))
    }

    pub fn entries(&self, id: u32) -> Vec<Entry> {
        let lines = self.memory.lines(RunId(id));
        lines.iter().map(|line| Entry::parse(line).unwrap()).collect()
    }
}

/// An order for a run that begins at the shop.
pub fn order(id: u32) -> RunOrder {
    RunOrder {
        id: RunId(id),
        task: "do it".into(),
        url: Some("http://shop.test/".into()),
        session: name(),
        folder: PathBuf::from(format!("/runs/{id}")),
        limits: limits(),
        expect: None,
        consent: Consent::default(),
        on_hold: OnHold::Skip,
        attended: false,
        display: false,
        named: vec![],
        price: None,
        context: ContextBounds { recent_steps: 8, text: 2_000, markdown: 8_000, fold_at: 40_000 },
    }
}

pub fn limits() -> Limits {
    Limits {
        steps: 40,
        time: HOUR,
        errors_in_a_row: 5,
        without_progress: 4,
        step_time: 30 * SECOND,
        action_time: 10 * SECOND,
        navigation_time: 30 * SECOND,
        tokens: None,
        cost: None,
    }
}

/// The name of the session that every house has.
pub fn name() -> SessionName {
    "default".parse().unwrap()
}

type Asked<T> = Result<Result<T, TabError>, AskError>;

pub async fn navigate(tab: &Address<TabMsg>, url: &str) -> Asked<Landed> {
    let url = url.to_owned();
    tab.ask(|reply| TabMsg::Navigate { url, patience: 30 * SECOND, reply }, MINUTE).await
}

pub async fn observe(tab: &Address<TabMsg>) -> Asked<Observation> {
    let view = View::Payload;
    tab.ask(|reply| TabMsg::Observe { view, patience: 10 * SECOND, reply }, MINUTE).await
}

pub async fn evaluate(tab: &Address<TabMsg>, script: &str) -> Asked<String> {
    let script = script.to_owned();
    tab.ask(
        |reply| TabMsg::Evaluate {
            script,
            consent: Consent::default(),
            patience: 10 * SECOND,
            reply,
        },
        MINUTE,
    )
    .await
}

/// Asks for the value of an element.
pub async fn get(tab: &Address<TabMsg>, target: Target) -> Asked<String> {
    let question = Question::Value { target };
    tab.ask(|reply| TabMsg::Get { question, patience: 10 * SECOND, reply }, MINUTE).await
}

pub async fn wait(tab: &Address<TabMsg>, until: Until) -> Asked<()> {
    tab.ask(|reply| TabMsg::Wait { until, patience: 10 * SECOND, reply }, MINUTE).await
}

pub async fn answer_dialog(tab: &Address<TabMsg>, accept: bool) -> Asked<Dialog> {
    tab.ask(
        |reply| TabMsg::AnswerDialog { accept, text: None, consent: Consent::default(), reply },
        MINUTE,
    )
    .await
}

pub async fn describe(tab: &Address<TabMsg>) -> TabCard {
    tab.ask(|reply| TabMsg::Describe { reply }, MINUTE).await.unwrap().unwrap()
}

pub async fn act(tab: &Address<TabMsg>, action: Action) -> Asked<Acted> {
    let order = Box::new(Order::new(action, Consent::default()));
    tab.ask(|reply| TabMsg::Act { order, patience: 10 * SECOND, reply }, MINUTE).await
}

pub fn named(role: &str, name: &str) -> Target {
    Target::Query(vec![Query::Role { value: role.into(), name: Some(name.into()) }])
}

pub fn click(name: &str) -> Action {
    Action::Click { target: named("button", name) }
}

pub fn fill(name: &str, text: &str) -> Action {
    let (target, text) = (named("textbox", name), text.to_owned());
    Action::Fill { target, text, press_enter: false }
}

/// Waits until all that can happen at once has happened.
pub async fn quiet() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}
