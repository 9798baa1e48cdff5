//! Models that a test steers.
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use strawmanus::model::script::Script;
use strawmanus::ports::model::{Answer, Conversation, Failed, Model};

/// A script that keeps what it was asked. Clones are one.
#[derive(Clone)]
pub struct Heard {
    script: Script,
    asked: Arc<Mutex<Vec<Conversation>>>,
}

impl Heard {
    pub fn script(text: &str) -> Self {
        Self { script: Script::parse("test", text).unwrap(), asked: Arc::default() }
    }

    /// Returns what it was asked, in order.
    pub fn asked(&self) -> Vec<Conversation> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Model for Heard {
    fn name(&self) -> String {
        self.script.name()
    }

    fn sees(&self) -> bool {
        true
    }

    async fn answer(&self, conversation: &Conversation) -> Result<Answer, Failed> {
        self.asked.lock().unwrap().push(conversation.clone());
        self.script.answer(conversation).await
    }
}

/// Never answers.
pub struct Mute;

#[async_trait]
impl Model for Mute {
    fn name(&self) -> String {
        "mute".into()
    }

    fn sees(&self) -> bool {
        false
    }

    async fn answer(&self, _: &Conversation) -> Result<Answer, Failed> {
        std::future::pending().await
    }
}
