//! How the house is put together: adapters into ports, ports into the tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::actors::world::{Settings, World};
use crate::app::App;
use crate::app::rows::mark_interrupted;
use crate::cdp::browser::Chromium;
use crate::cdp::{find, lock};
use crate::config::Config;
use crate::config::environment::Environment;
use crate::config::home::Home;
use crate::control::answer::Failure;
use crate::control::composition::{Composition, Probe};
use crate::control::handler::Handler;
use crate::domain::guard::Words;
use crate::perception::scripts::LIBRARY;
use crate::ports::browser::{LaunchSpec, Launcher, ProfileMode};
use crate::ports::clock::Clock;
use crate::ports::nonces::Nonces;
use crate::ports::store::Store;
use crate::store::Redb;
use crate::store::files::Disk;
use crate::store::rules::PolicyFile;
use crate::store::seal::SealedFolder;
use crate::supervision::tree::{Plan, plant};

const WORDS: &str = include_str!("../../config/guard.toml");

/// The real house, on Chromium and a file.
pub struct House;

/// The system's wall clock.
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// The system's random numbers.
struct Random;

impl Nonces for Random {
    fn draw(&self) -> String {
        let mut bytes = [0_u8; 8];
        let random = rustls::crypto::ring::default_provider().secure_random;
        // A nonce that can be foreseen is worse than no daemon.
        random.fill(&mut bytes).expect("the system gives random numbers");
        format!("{:016x}", u64::from_le_bytes(bytes))
    }
}

#[async_trait]
impl Composition for House {
    async fn handler(&self, home: &Home, config: &Config) -> Result<Arc<dyn Handler>, Failure> {
        let opened = Redb::open(home.folder().join("sm.redb")).await;
        let opened = opened.map_err(|error| Failure::new("store", error.to_string()))?;
        let warning = opened.warning;
        let world = World {
            launcher: Arc::new(Chromium::default()),
            store: Arc::new(opened.store) as Arc<dyn Store>,
            sealed: Arc::new(SealedFolder::new(home.folder().join("sealed"))),
            files: Arc::new(Disk),
            clock: Arc::new(SystemClock),
            nonces: Arc::new(Random),
            words: Arc::new(Words::parse(WORDS).expect("config/guard.toml is read by a test")),
            rules: Arc::new(PolicyFile(home.folder().join("policy.toml"))),
            doors: Default::default(),
            books: Default::default(),
            board: Default::default(),
            settings: Settings {
                tab_queue: config.tab.queue.get() as usize,
                approval: config.guard.approval.0,
                ..Settings::default()
            },
        };
        let marked = mark_interrupted(&world).await;
        let marked = marked.map_err(|error| Failure::new("store", error.to_string()))?;
        tracing::info!(marked, "runs of a daemon that died are interrupted");
        let (tree, root) = plant(Plan::default(), world.clone())
            .await
            .map_err(|error| Failure::new("daemon", format!("the tree did not start: {error}")))?;
        let (home, admission) = (home.clone(), Default::default());
        let app = App { home, world, tree, root, admission, notices: Default::default() };
        warning.iter().for_each(|warning| app.say_once(warning));
        Ok(Arc::new(app))
    }

    fn probe(&self, config: &Config) -> Arc<dyn Probe> {
        let arguments = config.browser.arguments.clone();
        let search = Environment::of_process().search_path();
        Arc::new(Look { executable: config.browser.program(), arguments, search })
    }
}

/// Looks at the browser for `doctor`.
struct Look {
    executable: Option<PathBuf>,
    arguments: Vec<String>,
    search: Vec<PathBuf>,
}

#[async_trait]
impl Probe for Look {
    fn locate(&self) -> Result<PathBuf, String> {
        find::locate(self.executable.as_deref(), &self.search).map_err(|error| error.to_string())
    }

    async fn try_start(&self) -> Result<String, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let spec = LaunchSpec {
            session: "doctor".parse().expect("`doctor` is a session name"),
            profile: ProfileMode::Fresh,
            headless: true,
            endpoint: None,
            executable: self.executable.clone(),
            folder: folder.path().to_owned(),
            arguments: self.arguments.clone(),
            screen: Vec::new(),
            library: LIBRARY,
        };
        let started = Chromium::new(self.search.clone()).launch(spec, Arc::new(|_| {})).await;
        let browser = started.map_err(|error| error.to_string())?;
        let product = browser.about().product;
        browser.shut_down().await;
        Ok(product)
    }

    fn profile_holder(&self, folder: &Path) -> Option<u32> {
        lock::profile_holder(folder)
    }
}
