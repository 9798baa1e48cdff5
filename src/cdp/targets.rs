//! The browser's page targets: which exist, which are ours, which we are attached to.
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::target;
use serde::Deserialize;
use tokio::sync::watch;

use crate::cdp::attach::receive;
use crate::cdp::attached::Attached;
use crate::cdp::calls::{Ear, Heard};
use crate::cdp::connection::Connection;
use crate::ports::Sink;
use crate::ports::browser::BrowserEvent;
use crate::ports::page::TargetKey;

/// The only kind of target that is a tab; the browser's own surfaces are of others.
const PAGE: &str = "page";
/// How long a page that was just created may take to be received.
const RECEIVED: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Table {
    pages: HashSet<TargetKey>,
    crashed: HashSet<TargetKey>,
    /// Opened by us, or by a page of ours.
    owned: HashSet<TargetKey>,
    attached: HashMap<TargetKey, Arc<Attached>>,
}

/// Hears the root of the connection.
pub(super) struct Targets {
    table: watch::Sender<Table>,
    sink: Sink<BrowserEvent>,
    /// We end the browser ourselves: its death is no news.
    ending: AtomicBool,
    receiving: OnceLock<Receiving>,
}

/// What it takes to receive the pages that the browser attaches us to.
struct Receiving {
    connection: Weak<Connection>,
    library: &'static str,
}

impl Targets {
    pub fn new(sink: Sink<BrowserEvent>) -> Self {
        Self {
            table: watch::Sender::default(),
            sink,
            ending: AtomicBool::new(false),
            receiving: OnceLock::new(),
        }
    }

    /// Every page is received when it is created, from now on.
    pub fn receive(&self, connection: &Arc<Connection>, library: &'static str) {
        let connection = Arc::downgrade(connection);
        self.receiving.get_or_init(|| Receiving { connection, library });
    }

    /// Returns the page when it was received; waits a moment for one that is about to be.
    pub async fn received(&self, target: &TargetKey) -> Option<Arc<Attached>> {
        if self.receiving.get().is_some() && !self.is_crashed(target) {
            let mut changes = self.table.subscribe();
            let received = changes.wait_for(|table| {
                table.attached.contains_key(target) || !table.pages.contains(target)
            });
            let _ = tokio::time::timeout(RECEIVED, received).await;
        }
        self.table.borrow().attached.get(target).cloned()
    }

    pub fn own(&self, target: &TargetKey) {
        self.table.send_modify(|table| {
            table.owned.insert(target.clone());
        });
    }

    pub fn is_crashed(&self, target: &TargetKey) -> bool {
        self.table.borrow().crashed.contains(target)
    }

    pub fn revived(&self, target: &TargetKey) {
        self.table.send_if_modified(|table| table.crashed.remove(target));
    }

    pub fn attached(&self, target: &TargetKey) -> Option<Arc<Attached>> {
        self.table.borrow().attached.get(target).cloned()
    }

    /// Keeps `attached`, unless another was faster: then returns that one.
    pub fn keep(&self, attached: Arc<Attached>) -> Arc<Attached> {
        let mut kept = Arc::clone(&attached);
        self.table.send_modify(|table| {
            let at = table.attached.entry(attached.target.clone()).or_insert(attached);
            kept = Arc::clone(at);
        });
        kept
    }

    /// Waits until `target` is gone; returns whether it went in time.
    pub async fn gone(&self, target: &TargetKey, patience: Duration) -> bool {
        let mut changes = self.table.subscribe();
        let gone = changes.wait_for(|table| !table.pages.contains(target));
        tokio::time::timeout(patience, gone).await.is_ok()
    }

    pub fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    fn created(&self, info: TargetInfo) {
        if info.kind != PAGE {
            return;
        }
        let target = TargetKey(info.target_id);
        let opener = info.opener_id.map(TargetKey);
        let (mut ours, mut opened_by) = (false, None);
        self.table.send_modify(|table| {
            table.pages.insert(target.clone());
            ours = opener.as_ref().is_some_and(|opener| table.owned.contains(opener));
            if ours {
                table.owned.insert(target.clone());
            }
            opened_by = opener.as_ref().and_then(|opener| table.attached.get(opener)).cloned();
        });
        let Some(opener) = opener.filter(|_| ours) else { return };
        let opening = opened_by
            .and_then(|page| page.opening.lock().unwrap_or_else(PoisonError::into_inner).take());
        let url = match opening {
            Some(url) if info.url.is_empty() => url,
            _ => info.url,
        };
        (self.sink)(BrowserEvent::Popup { target, opener, url });
    }

    fn attached_to(
        &self,
        AttachedTo { session_id, target_info, waiting_for_debugger }: AttachedTo,
    ) {
        let Some(receiving) = self.receiving.get().filter(|_| waiting_for_debugger) else { return };
        let Some(connection) = receiving.connection.upgrade() else { return };
        let target = TargetKey(target_info.target_id);
        if let Some(page) = receive(&connection, &target, &session_id, receiving.library) {
            self.table.send_modify(|table| {
                table.pages.insert(target.clone());
                table.attached.insert(target, page);
            });
        }
    }

    fn destroyed(&self, target: &TargetKey) {
        self.table.send_modify(|table| {
            table.pages.remove(target);
            table.crashed.remove(target);
            table.owned.remove(target);
            table.attached.remove(target);
        });
    }

    fn event(&self, method: &str, params: &str) {
        match method {
            target::EventTargetCreated::IDENTIFIER => {
                if let Ok(created) = serde_json::from_str::<Created>(params) {
                    self.created(created.target_info);
                }
            }
            target::EventAttachedToTarget::IDENTIFIER => {
                if let Ok(attached) = serde_json::from_str::<AttachedTo>(params) {
                    self.attached_to(attached);
                }
            }
            target::EventTargetDestroyed::IDENTIFIER => {
                if let Ok(of) = serde_json::from_str::<OfTarget>(params) {
                    self.destroyed(&TargetKey(of.target_id));
                }
            }
            target::EventTargetCrashed::IDENTIFIER => {
                if let Ok(of) = serde_json::from_str::<OfTarget>(params) {
                    let target = TargetKey(of.target_id);
                    self.table.send_modify(|table| {
                        if table.pages.contains(&target) {
                            table.crashed.insert(target);
                        }
                    });
                }
            }
            target::EventDetachedFromTarget::IDENTIFIER => {
                if let Ok(of) = serde_json::from_str::<OfSession>(params) {
                    self.table.send_modify(|table| {
                        table.attached.retain(|_, page| *page.session != *of.session_id);
                    });
                }
            }
            _ => {}
        }
    }
}

impl Ear for Targets {
    fn hear(&self, heard: Heard<'_>) {
        match heard {
            Heard::Event { method, params, .. } => self.event(method, params),
            Heard::Closed { why } => {
                self.table.send_modify(|table| *table = Table::default());
                if !self.ending.swap(true, Ordering::Relaxed) {
                    (self.sink)(BrowserEvent::Died { why: why.to_owned() });
                }
            }
            Heard::Crashed | Heard::Revived | Heard::Detached => {}
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    url: String,
    opener_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachedTo {
    session_id: String,
    target_info: TargetInfo,
    waiting_for_debugger: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfTarget {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: String,
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn created(id: &str, kind: &str, opener: Option<&str>) -> String {
        let opener = opener.map_or(String::new(), |opener| format!(r#","openerId":"{opener}""#));
        format!(r#"{{"targetInfo":{{"targetId":"{id}","type":"{kind}","url":"u"{opener}}}}}"#)
    }

    #[test]
    fn only_pages_that_ours_open_are_popups() {
        let told: Arc<Mutex<Vec<BrowserEvent>>> = Arc::default();
        let sink = Arc::clone(&told);
        let targets = Targets::new(Arc::new(move |event| sink.lock().unwrap().push(event)));
        let hear = |method: &str, params: &str| {
            targets.hear(Heard::Event { session: None, method, params });
        };
        let key = |id: &str| TargetKey(id.into());
        targets.own(&key("mine"));
        for (id, kind, opener) in [
            ("mine", "page", None),
            ("theirs", "page", None),
            ("of theirs", "page", Some("theirs")),
            ("bubble", "browser_ui", Some("mine")),
            ("popup", "page", Some("mine")),
            ("popup of popup", "page", Some("popup")),
        ] {
            hear("Target.targetCreated", &created(id, kind, opener));
        }
        let popup = |target, opener| BrowserEvent::Popup {
            target: key(target),
            opener: key(opener),
            url: "u".into(),
        };
        assert_eq!(
            *told.lock().unwrap(),
            [popup("popup", "mine"), popup("popup of popup", "popup")]
        );
        let exists = |id: &str| targets.table.borrow().pages.contains(&key(id));
        assert!(!exists("bubble") && exists("popup"));
        hear("Target.targetCrashed", r#"{"targetId":"popup"}"#);
        assert!(targets.is_crashed(&key("popup")));
        hear("Target.targetDestroyed", r#"{"targetId":"popup"}"#);
        assert!(!targets.is_crashed(&key("popup")) && !exists("popup"));
        targets.hear(Heard::Closed { why: "x" });
        targets.hear(Heard::Closed { why: "x" });
        assert_eq!(told.lock().unwrap().len(), 3);
    }
}
