//! Attaching: to a page, and to every frame and worker below it that has a process of its own.
use std::sync::{Arc, Weak};
use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::emulation::SetFocusEmulationEnabledParams;
use chromiumoxide_cdp::cdp::browser_protocol::inspector;
use chromiumoxide_cdp::cdp::browser_protocol::log;
use chromiumoxide_cdp::cdp::browser_protocol::network;
use chromiumoxide_cdp::cdp::browser_protocol::page;
use chromiumoxide_cdp::cdp::browser_protocol::target::{
    AttachToTargetParams, DetachFromTargetParams, FilterEntry, SetAutoAttachParams, TargetFilter,
};
use chromiumoxide_cdp::cdp::js_protocol::runtime;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cdp::attached::Attached;
use crate::cdp::calls::Ear;
use crate::cdp::connection::Connection;
use crate::cdp::errors::{CallError, page_error};
use crate::cdp::events::Frame;
use crate::ports::page::{PageError, TargetKey};

/// The name of our isolated world.
pub(super) const WORLD: &str = "strawmanus";
/// For the browser's own work, which waits for no site.
pub(super) const SOON: Duration = Duration::from_secs(5);
/// For a crashed page's site to answer.
const REVIVAL: Duration = Duration::from_secs(5);

/// Undoes something unless it was completed: a dropped future leaves nothing behind.
pub(super) struct Unless<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Unless<F> {
    pub fn completed(undo: F) -> Self {
        Self(Some(undo))
    }

    pub fn done(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for Unless<F> {
    fn drop(&mut self) {
        if let Some(undo) = self.0.take() {
            undo();
        }
    }
}

/// Attaches to `target`. One that is known to have crashed is first sent to the URL `crashed_at`,
/// which gives it a process: its enables would hang before.
pub(super) async fn attach(
    connection: &Arc<Connection>,
    target: &TargetKey,
    library: &'static str,
    crashed_at: Option<&str>,
) -> Result<Arc<Attached>, PageError> {
    let attaching =
        AttachToTargetParams { target_id: target.0.clone().into(), flatten: Some(true) };
    let session = connection.call(None, attaching, SOON).await.map_err(|error| match error {
        // The only reason to refuse is that there is no such target.
        CallError::Protocol { .. } => PageError::Gone,
        other => page_error(other, "attach", SOON),
    })?;
    let session = String::from(session.session_id);
    let undo = Unless::completed(|| detach(connection, &session));
    let (attached, crashed) =
        follow(connection, target, &session, library).ok_or(PageError::Gone)?;
    match crashed_at {
        Some(url) => attached.give_process(url).await?,
        None if crashed => return Err(PageError::Crashed),
        None => {}
    }
    attached.enable().await?;
    attached.equip().await?;
    undo.done();
    Ok(attached)
}

/// Follows the session; also returns whether it stands crashed. `None` when it is gone.
fn follow(
    connection: &Arc<Connection>,
    target: &TargetKey,
    session: &str,
    library: &'static str,
) -> Option<(Arc<Attached>, bool)> {
    let key = connection.key(session)?;
    let attached = Arc::new(Attached::new(Arc::clone(connection), target.clone(), key, library));
    let ear: Weak<dyn Ear> = Arc::downgrade(&attached) as Weak<dyn Ear>;
    let crashed = connection.follow(session, ear)?;
    Some((attached, crashed))
}

/// Takes in a page that the browser attached us to and holds until it is told to go on: so not
/// even a dialog in its first line is missed. Waits for no answer.
pub(super) fn receive(
    connection: &Arc<Connection>,
    target: &TargetKey,
    session: &str,
    library: &'static str,
) -> Option<Arc<Attached>> {
    let (attached, _) = follow(connection, target, session, library)?;
    let session = Some(&attached.session);
    connection.post(session, inspector::EnableParams::default());
    connection.post(session, page::EnableParams::default());
    connection.post(session, page::SetLifecycleEventsEnabledParams::new(true));
    connection.post(session, watch_network());
    connection.post(session, auto_attach());
    connection.post(session, SetFocusEmulationEnabledParams::new(true));
    connection.post(session, runtime::EnableParams::default());
    connection.post(session, log::EnableParams::default());
    connection.post(session, attached.equipment());
    connection.post(session, runtime::RunIfWaitingForDebuggerParams::default());
    Some(attached)
}

/// Asks a browser of our own to attach us to every page from its first moment.
pub(super) fn receive_pages() -> SetAutoAttachParams {
    let page = FilterEntry { exclude: None, r#type: Some("page".to_owned()) };
    SetAutoAttachParams { filter: Some(TargetFilter::new(vec![page])), ..auto_attach() }
}

/// Lets a session go. The target stays as it is.
pub(super) fn detach(connection: &Connection, session: &str) {
    let detaching = DetachFromTargetParams { session_id: Some(session.to_owned().into()) };
    connection.post(None, detaching);
}

/// Takes in a frame or worker that the browser attached us to, and lets it run.
pub(super) fn adopt(connection: &Connection, session: &str) {
    let session = session.into();
    connection.post(Some(&session), auto_attach());
    connection.post(Some(&session), watch_network());
    connection.post(Some(&session), runtime::EnableParams::default());
    connection.post(Some(&session), log::EnableParams::default());
    connection.post(Some(&session), runtime::RunIfWaitingForDebuggerParams::default());
}

fn auto_attach() -> SetAutoAttachParams {
    SetAutoAttachParams {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        filter: None,
    }
}

fn watch_network() -> network::EnableParams {
    // Bodies are not read: let the browser keep few of them.
    network::EnableParams {
        max_total_buffer_size: Some(1 << 20),
        max_resource_buffer_size: Some(1 << 20),
        ..network::EnableParams::default()
    }
}

impl Attached {
    /// Gives a crashed page a process, by navigation: a reload would send its form again.
    pub async fn revive(&self, url: &str) -> Result<(), PageError> {
        self.give_process(url).await?;
        self.enable().await
    }

    /// A site that no longer answers leaves the page empty, but alive.
    async fn give_process(&self, url: &str) -> Result<(), PageError> {
        let go = |url: &str| {
            let going = page::NavigateParams::new(url);
            self.connection.revive(&self.session, going, REVIVAL)
        };
        let went = match go(url).await {
            Err(CallError::TimedOut) => go("about:blank").await,
            other => other,
        };
        went.map(drop).map_err(|error| page_error(error, "revive", REVIVAL))
    }

    /// Switches on all events that we follow, in one round trip, and learns where the page is.
    pub async fn enable(&self) -> Result<(), PageError> {
        let focus = SetFocusEmulationEnabledParams::new(true);
        let lifecycle = page::SetLifecycleEventsEnabledParams::new(true);
        let what = "attach";
        let (.., tree) = tokio::try_join!(
            // The first, because a page that crashed before we came says so now.
            self.ask::<IgnoredAny>(inspector::EnableParams::default(), what, SOON),
            self.ask::<IgnoredAny>(page::EnableParams::default(), what, SOON),
            self.ask::<IgnoredAny>(lifecycle, what, SOON),
            self.ask::<IgnoredAny>(watch_network(), what, SOON),
            self.ask::<IgnoredAny>(auto_attach(), what, SOON),
            self.ask::<IgnoredAny>(focus, what, SOON),
            self.ask::<IgnoredAny>(runtime::EnableParams::default(), what, SOON),
            self.ask::<IgnoredAny>(log::EnableParams::default(), what, SOON),
            self.ask::<Tree>(page::GetFrameTreeParams::default(), what, SOON),
        )?;
        let frame = tree.frame_tree.frame;
        self.standing.send_modify(|page| {
            // Events may have brought a newer document meanwhile.
            if page.document.loader.is_empty() {
                page.committed(frame.document());
                page.frame = frame.id;
            }
        });
        Ok(())
    }

    /// Has the library evaluated in the isolated world of this and every later document.
    async fn equip(&self) -> Result<(), PageError> {
        self.ask::<IgnoredAny>(self.equipment(), "attach", SOON).await.map(drop)
    }

    fn equipment(&self) -> page::AddScriptToEvaluateOnNewDocumentParams {
        page::AddScriptToEvaluateOnNewDocumentParams {
            source: self.library.to_owned(),
            world_name: Some(WORLD.to_owned()),
            include_command_line_api: None,
            run_immediately: Some(true),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame_tree: Branch,
}

#[derive(Deserialize)]
struct Branch {
    frame: Frame,
}
