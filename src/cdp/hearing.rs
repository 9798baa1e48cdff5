//! What a page's events mean for how it stands.
use std::sync::PoisonError;

use chromiumoxide_cdp::cdp::browser_protocol::log;
use chromiumoxide_cdp::cdp::browser_protocol::network;
use chromiumoxide_cdp::cdp::browser_protocol::page;
use chromiumoxide_cdp::cdp::browser_protocol::target;
use chromiumoxide_cdp::cdp::js_protocol::runtime;
use serde::Deserialize;
use tokio::time::Instant;

use crate::cdp::attach::{WORLD, adopt};
use crate::cdp::attached::Attached;
use crate::cdp::calls::{Ear, Heard};
use crate::cdp::console::Console;
use crate::cdp::events::{
    Asked, Called, Child, ContextDestroyed, Created, DialogOpening, EntryAdded, ExceptionThrown,
    Framed, Lifecycle, Navigated, OfFrame, Started, WindowOpen, Within,
};
use crate::cdp::requests::{Failed, Received, WillBeSent};
use crate::cdp::standing::{Life, Standing, World};
use crate::ports::page::{Dialog, PageEvent};

/// Not in the generated types; the only event that announces a `meta` refresh in time.
const SCHEDULED: &str = "Page.frameScheduledNavigation";
/// A page that goes on later than this is a page that was landed on.
const AT_ONCE: f64 = 0.5;

impl Ear for Attached {
    fn hear(&self, heard: Heard<'_>) {
        match heard {
            Heard::Event { session, method, params } => {
                if session == Some(&self.session) {
                    self.own_event(method, params);
                } else {
                    self.shared_event(method, params);
                }
            }
            Heard::Crashed => {
                self.standing.send_modify(Standing::crashed);
                self.tell(PageEvent::Crashed);
            }
            Heard::Revived => self.standing.send_modify(Standing::revived),
            Heard::Detached => {
                self.standing.send_modify(|page| page.ended(Life::Gone));
                self.tell(PageEvent::Gone);
            }
            Heard::Closed { .. } => self.standing.send_modify(|page| page.ended(Life::Lost)),
        }
    }
}

impl Attached {
    fn own_event(&self, method: &str, params: &str) {
        match method {
            page::EventFrameNavigated::IDENTIFIER => self.navigated(params),
            page::EventNavigatedWithinDocument::IDENTIFIER => self.moved_within(params),
            page::EventFrameStartedNavigating::IDENTIFIER => self.started(params),
            page::EventFrameRequestedNavigation::IDENTIFIER | SCHEDULED => self.asked(params),
            page::EventFrameStoppedLoading::IDENTIFIER => {
                self.of_main_frame::<OfFrame<'_>>(params, |page, _| page.stopped());
            }
            page::EventLifecycleEvent::IDENTIFIER => self.lifecycle(params),
            page::EventJavascriptDialogOpening::IDENTIFIER => self.dialog_opened(params),
            page::EventJavascriptDialogClosed::IDENTIFIER => {
                if self.standing.borrow().dialog.is_some() {
                    self.tell(PageEvent::DialogClosed);
                    self.standing.send_modify(|page| page.dialog = None);
                }
            }
            page::EventWindowOpen::IDENTIFIER => {
                if let Ok(open) = serde_json::from_str::<WindowOpen<'_>>(params) {
                    *self.opening.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(open.url.into_owned());
                }
            }
            runtime::EventExecutionContextCreated::IDENTIFIER => self.context_created(params),
            runtime::EventExecutionContextDestroyed::IDENTIFIER => {
                if let Ok(gone) = serde_json::from_str::<ContextDestroyed>(params) {
                    let is_it = |world: &World| world.context == gone.execution_context_id;
                    self.standing.send_if_modified(|page| {
                        page.world.take_if(|world| is_it(world)).is_some()
                    });
                }
            }
            runtime::EventExecutionContextsCleared::IDENTIFIER => {
                self.standing.send_if_modified(|page| page.world.take().is_some());
            }
            _ => self.shared_event(method, params),
        }
    }

    /// Events that count whether the page or one of its frames and workers sends them.
    fn shared_event(&self, method: &str, params: &str) {
        let requests = || self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        match method {
            network::EventRequestWillBeSent::IDENTIFIER => {
                let Ok(sent) = serde_json::from_str::<WillBeSent<'_>>(params) else { return };
                let told = requests().sent(&sent, Instant::now());
                told.into_iter().for_each(|event| self.tell(event));
            }
            network::EventResponseReceived::IDENTIFIER => {
                let Ok(received) = serde_json::from_str::<Received<'_>>(params) else { return };
                self.document_answered(&received);
                let told = requests().received(&received, Instant::now());
                told.into_iter().for_each(|event| self.tell(event));
            }
            network::EventLoadingFailed::IDENTIFIER => {
                let Ok(failed) = serde_json::from_str::<Failed<'_>>(params) else { return };
                requests().failed(&failed);
                self.standing.send_if_modified(|page| {
                    page.failed(&failed.request_id, &failed.error_text);
                    false
                });
            }
            target::EventAttachedToTarget::IDENTIFIER => {
                if let Ok(child) = serde_json::from_str::<Child<'_>>(params) {
                    adopt(&self.connection, &child.session_id);
                }
            }
            _ => self.written(method, params),
        }
    }

    /// What is written to the console, by the page or by one of its frames and workers.
    fn written(&self, method: &str, params: &str) {
        match method {
            runtime::EventConsoleApiCalled::IDENTIFIER => {
                let Ok(called) = serde_json::from_str::<Called<'_>>(params) else { return };
                self.console(|console| console.called(&called));
            }
            runtime::EventExceptionThrown::IDENTIFIER => {
                let Ok(thrown) = serde_json::from_str::<ExceptionThrown<'_>>(params) else {
                    return;
                };
                self.console(|console| console.thrown(&thrown));
            }
            log::EventEntryAdded::IDENTIFIER => {
                let Ok(added) = serde_json::from_str::<EntryAdded<'_>>(params) else { return };
                self.console(|console| console.added(&added));
            }
            _ => tracing::trace!(method, "an event without use"),
        }
    }

    pub fn console<T>(&self, work: impl FnOnce(&mut Console) -> T) -> T {
        work(&mut self.console.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn document_answered(&self, received: &Received<'_>) {
        if received.kind.as_deref() == Some("Document") {
            self.standing.send_if_modified(|page| {
                if received.frame_id.as_deref() == Some(&page.frame) {
                    page.answered(&received.request_id, received.response.status);
                }
                false
            });
        }
    }

    fn navigated(&self, params: &str) {
        let Ok(Navigated { frame }) = serde_json::from_str(params) else { return };
        if frame.parent_id.is_some() {
            return;
        }
        let document = frame.document();
        let url = document.failed_url.clone().unwrap_or_else(|| document.url.clone());
        self.console(|console| console.navigated(&url));
        self.tell(PageEvent::Navigated { url, same_document: false });
        self.standing.send_modify(|page| {
            frame.id.clone_into(&mut page.frame);
            page.committed(document);
        });
    }

    fn moved_within(&self, params: &str) {
        let mut moved = None;
        self.of_main_frame::<Within<'_>>(params, |page, within| {
            if page.document.url != within.url {
                moved = Some(within.url.to_string());
            }
            page.moved_within(&within.url);
        });
        if let Some(url) = moved {
            self.tell(PageEvent::Navigated { url, same_document: true });
        }
    }

    fn started(&self, params: &str) {
        self.of_main_frame::<Started<'_>>(params, |page, started| {
            let stays = matches!(&*started.navigation_type, "sameDocument" | "historySameDocument");
            if !stays {
                page.started(&started.loader_id);
            }
        });
    }

    fn asked(&self, params: &str) {
        self.of_main_frame::<Asked<'_>>(params, |page, asked| {
            let here = asked.disposition.as_deref().is_none_or(|how| how == "currentTab");
            if here && asked.delay.is_none_or(|delay| delay < AT_ONCE) {
                page.asked(Instant::now());
            }
        });
    }

    fn lifecycle(&self, params: &str) {
        self.of_main_frame::<Lifecycle<'_>>(params, |page, event| match &*event.name {
            "DOMContentLoaded" => page.dom_complete(&event.loader_id),
            "load" => page.loaded(&event.loader_id),
            _ => {}
        });
    }

    fn dialog_opened(&self, params: &str) {
        let Ok(opening) = serde_json::from_str::<DialogOpening>(params) else { return };
        let dialog = Dialog { kind: opening.kind, message: opening.message };
        // The news comes before whatever it interrupts.
        self.tell(PageEvent::DialogOpened(dialog.clone()));
        self.standing.send_modify(|page| page.dialog = Some(dialog));
    }

    fn context_created(&self, params: &str) {
        let Ok(Created { context }) = serde_json::from_str(params) else { return };
        let frame = context.aux_data.and_then(|aux| aux.frame_id);
        if context.name == WORLD {
            self.standing.send_if_modified(|page| {
                let here = frame.as_deref() == Some(&page.frame);
                if here {
                    page.world = Some(World { context: context.id, equipped: true });
                }
                here
            });
        }
    }

    fn of_main_frame<'a, E: Framed + Deserialize<'a>>(
        &self,
        params: &'a str,
        change: impl FnOnce(&mut Standing, E),
    ) {
        let Ok(event) = serde_json::from_str::<E>(params) else { return };
        self.standing.send_if_modified(|page| {
            let here = event.frame() == page.frame;
            if here {
                change(page, event);
            }
            here
        });
    }
}
