//! A model behind a service: asked once a turn, and again where that helps.
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use crate::domain::cost::Usage;
use crate::model::failure::Again;
use crate::model::repair;
use crate::model::retry::Retry;
use crate::model::service::{Key, Patience, Proxies, Service};
use crate::model::wire::{Asked, Heard, Stop, Wire, sees};
use crate::ports::model::{Answer, Conversation, Failed, Model, ModelError};

/// Which model is asked, and where.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Guessed from the address and the name where it is none.
    pub wire: Option<Wire>,
    /// Empty: the service's own address.
    pub base_url: String,
    pub model: String,
    /// Guessed from the name where it is none.
    pub sees: Option<bool>,
    pub key: Option<Key>,
}

impl Setup {
    /// Returns the wire that is spoken.
    pub fn wire(&self) -> Wire {
        self.wire.unwrap_or_else(|| Wire::of(&self.base_url, &self.model))
    }
}

/// A model of a service.
#[derive(Debug)]
pub struct Remote {
    service: Service,
    model: String,
    sees: bool,
    retry: Retry,
    /// What this server turned out not to take.
    left_out: Mutex<Vec<&'static str>>,
}

impl Remote {
    /// Makes ready to ask; sends nothing yet.
    ///
    /// # Errors
    /// `NoKey` without a key for a service elsewhere, `Unreachable` when the address is none or TLS
    /// cannot be set up.
    pub fn new(setup: Setup, proxies: Proxies<'_>) -> Result<Self, ModelError> {
        let wire = setup.wire();
        let Setup { base_url, model, key, .. } = setup;
        let service = Service::new(wire, &base_url, key, proxies)?;
        let sees = setup.sees.unwrap_or_else(|| sees(&model));
        Ok(Self { service, model, sees, retry: Retry::default(), left_out: Mutex::default() })
    }

    /// Sends again by another rule.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// Waits as long as this.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.service.patience = patience;
        self
    }

    fn left_out(&self) -> Vec<&'static str> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Leaves a field out from now on. Says whether it was sent until now.
    fn leave_out(&self, field: &'static str) -> bool {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        let new = !left_out.contains(&field);
        if new {
            left_out.push(field);
        }
        new
    }
}

#[async_trait]
impl Model for Remote {
    fn name(&self) -> String {
        self.model.clone()
    }

    fn sees(&self) -> bool {
        self.sees
    }

    async fn answer(&self, conversation: &Conversation) -> Result<Answer, Failed> {
        let mut usage = Usage::default();
        let mut tries = 0;
        loop {
            let left_out = self.left_out();
            let (model, sees) = (&self.model, self.sees);
            let asked = Asked { model, conversation, sees, without: &left_out };
            let request = self.service.wire.request(&asked);
            let failure = match self.service.ask(&request).await {
                Ok(heard) => return meant(heard, usage),
                Err(failure) => failure,
            };
            usage += failure.usage;
            let wait = match failure.again {
                Again::Never => None,
                Again::Without(field) => self.leave_out(field).then_some(std::time::Duration::ZERO),
                Again::After(asked) => self.retry.wait(tries, asked),
            };
            let error = failure.error;
            let Some(wait) = wait else { return Err(Failed { error, usage }) };
            tracing::warn!(%error, ?wait, "the model is asked again");
            tries += u32::from(!matches!(failure.again, Again::Without(_)));
            tokio::time::sleep(wait).await;
        }
    }
}

/// Says what an answer means; `before` is what earlier tries at it cost.
fn meant(heard: Heard, before: Usage) -> Result<Answer, Failed> {
    let mut usage = before;
    usage += heard.usage;
    match heard.stop {
        Stop::Done => {}
        Stop::Refused(detail) => {
            return Err(Failed { error: ModelError::Refused { detail }, usage });
        }
        Stop::Full => {
            let detail = "its window was full before the answer was over".into();
            return Err(Failed { error: ModelError::TooLong { detail }, usage });
        }
    }
    let (meaning, note) = repair::meaning(&heard.said);
    Ok(Answer { raw: heard.raw.to_string(), meaning, usage, note })
}
