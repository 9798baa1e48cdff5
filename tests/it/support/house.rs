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
use strawmanus::domain::run::{Consent, Limits, RunOrder};
use strawmanus::domain::target::{Query, Target};
use strawmanus::messages::address::{Address, AskError};
use strawmanus::messages::board::Card;
use strawmanus::messages::books::{RunNote, SessionNote};
use strawmanus::messages::session::{Owner, SessionError, SessionMsg, TabLine};
use strawmanus::messages::supervisor::{Seat, SeatError, SupervisorMsg};
use strawmanus::messages::tab::{Acted, Landed, Order, TabCard, TabError, TabMsg};
use strawmanus::model::script::Script;
use strawmanus::ports::browser::{LaunchSpec, ProfileMode};
use strawmanus::supervision::tree::{Plan, Tree, plant};
use tokio::sync::broadcast;

use crate::support::memory::Memory;
use crate::support::web::Web;

pub const SECOND: Duration = Duration::from_secs(1);
pub const MINUTE: Duration = Duration::from_secs(60);
pub const HOUR: Duration = Duration::from_secs(3600);
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
            words: Arc::new(Words::parse(WORDS).unwrap()),
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
        let name: SessionName = name.parse().unwrap();
        let spec = LaunchSpec {
            session: name.clone(),
            profile: ProfileMode::Cloned,
            headless: true,
            endpoint: None,
            executable: None,
            folder: PathBuf::from("/nowhere"),
            arguments: vec![],
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
        self.world.doors.sessions.find(&"default".parse().unwrap()).expect("the session")
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

    pub fn cell(&self, path: &[usize]) -> ActorCell {
        path.iter().fold(self.root.get_cell(), |cell, place| cell.get_children()[*place].clone())
    }

    /// Begins a run of a script, and returns where its steps can be watched.
    pub async fn begin(&self, id: u32, script: &str) -> broadcast::Receiver<Entry> {
        let order = RunOrder {
            id: RunId(id),
            task: "do it".into(),
            url: Some("http://shop.test/".into()),
            session: "default".parse().unwrap(),
            folder: PathBuf::from(format!("/runs/{id}")),
            limits: limits(),
            expect: None,
            consent: Consent::default(),
        };
        let (feed, heard) = broadcast::channel(1_000);
        let model = Arc::new(Script::parse("test", script).unwrap());
        self.world.books.runs.insert(order.id, RunNote { order, model, feed });
        self.add(Seat::Runs, Seat::RunGroup(RunId(id))).await.unwrap();
        heard
    }

    /// Waits until the loop of a run is over, and returns how it stands.
    pub async fn over_with(&self, id: u32) -> Standing {
        if let Some(run) = self.world.doors.orchestrators.find(&RunId(id)) {
            tokio::time::timeout(HOUR, run.closed()).await.expect("the run ends");
        }
        let lines = self.memory.lines(RunId(id));
        let entries: Vec<_> = lines.iter().map(|line| Entry::parse(line).unwrap()).collect();
        Standing::of(&entries)
    }
}

pub fn limits() -> Limits {
    Limits {
        steps: 40,
        time: HOUR,
        errors_in_a_row: 5,
        step_time: 30 * SECOND,
        action_time: 10 * SECOND,
        navigation_time: 30 * SECOND,
    }
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
    tab.ask(|reply| TabMsg::Evaluate { script, patience: 10 * SECOND, reply }, MINUTE).await
}

pub async fn describe(tab: &Address<TabMsg>) -> TabCard {
    tab.ask(|reply| TabMsg::Describe { reply }, MINUTE).await.unwrap().unwrap()
}

pub async fn act(tab: &Address<TabMsg>, action: Action) -> Asked<Acted> {
    let order = Box::new(Order { action, consent: Consent::default() });
    tab.ask(|reply| TabMsg::Act { order, patience: 10 * SECOND, reply }, MINUTE).await
}

pub fn named(role: &str, name: &str) -> Target {
    Target::Query(vec![Query::Role { value: role.into(), name: Some(name.into()) }])
}

pub fn click(name: &str) -> Action {
    Action::Click { target: named("button", name) }
}
