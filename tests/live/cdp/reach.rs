//! Popups, frames of other sites, cookies, and browsers of others.
use strawmanus::ports::browser::{BrowserEvent, LaunchSpec, OpenPage, ProfileMode};
use strawmanus::ports::page::{PageError, PageEvent, TargetKey};

use crate::cdp::stage::{LONG, Stage, group, kill, launch, renderer, sink, spec, until};

fn popups(stage: &Stage) -> Vec<(TargetKey, TargetKey, String)> {
    let events = stage.events.lock().unwrap();
    let popup = |event: &BrowserEvent| match event {
        BrowserEvent::Popup { target, opener, url } => {
            Some((target.clone(), opener.clone(), url.clone()))
        }
        BrowserEvent::Died { .. } => None,
    };
    events.iter().filter_map(popup).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_ours_opens_is_told_and_can_be_taken_over() {
    let stage = Stage::start().await;
    let tab = stage.open("/links").await;
    tab.click(60.0).await.unwrap();
    until("the popup", || popups(&stage).len() == 1).await;
    let (target, opener, url) = popups(&stage).remove(0);
    assert_eq!((opener, url), (tab.page.target(), stage.site.url("/plain")));
    let popup = stage.try_open(Some(target), "about:blank").await.unwrap();
    let landing = popup.page.settled(LONG).await.unwrap();
    assert_eq!((landing.url, landing.title.as_str()), (stage.site.url("/plain"), "/plain"));
    assert_eq!(popup.page.call("count", "", LONG).await.unwrap(), "1");

    popup.eval("void open('/second', '', 'width=200,height=200')").await;
    until("its popup", || popups(&stage).len() == 2).await;
    let (second, opener, url) = popups(&stage).remove(1);
    assert_eq!((opener, url), (popup.page.target(), stage.site.url("/second")));
    let second = stage.try_open(Some(second), "about:blank").await.unwrap();
    second.page.settled(LONG).await.unwrap();
    second.page.evaluate("window.close()", LONG).await.ok();
    second.hears(|event| *event == PageEvent::Gone).await;
    // The tabs behind can be worked with as well.
    tab.page.navigate(&stage.site.url("/links"), LONG).await.unwrap();
    tab.click(0.0).await.unwrap();
    assert_eq!(tab.page.settled(LONG).await.unwrap().title, "/plain");
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_frames_of_other_sites_and_workers_send_is_heard() {
    let stage = Stage::start().await;
    let tab = stage.open("/frames").await;
    let before = renderers(&stage);
    let frame = stage.site.other_url("/sends");
    tab.eval(&format!(
        "new Promise((done) => {{
            const frame = document.createElement('iframe');
            frame.src = '{frame}';
            frame.onload = () => done(1);
            document.body.append(frame);
        }})"
    ))
    .await;
    let sent = |path: &'static str| move |event: &PageEvent| matches!(event, PageEvent::Answered { url, status: 200, .. } if url.ends_with(path));
    tab.hears(sent("/from-frame")).await;
    assert!(renderers(&stage) > before, "the frame has a process of its own");
    tab.eval("void new Worker('/worker.js')").await;
    tab.hears(sent("/from-worker")).await;
    // The frame's process dies alone.
    tab.eval("document.querySelector('iframe').src = 'about:blank'; 1").await;
    assert_eq!(tab.page.call("count", "", LONG).await.unwrap(), "1");
    stage.browser.shut_down().await;
}

fn renderers(stage: &Stage) -> usize {
    let members = group(stage.pid());
    members.iter().filter(|(.., command)| command.contains("--type=renderer")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn cookies_come_back_in_another_browser() {
    let first = Stage::with(ProfileMode::Fresh).await;
    let tab = first.open("/cookies").await;
    tab.eval("document.cookie = 'mine=3'").await;
    let jar = first.browser.cookies().await.unwrap();
    for part in ["stays", "goes", "mine"] {
        assert!(jar.0.contains(part), "{}", jar.0);
    }
    assert!(jar == first.browser.cookies().await.unwrap());
    first.browser.shut_down().await;

    let second = Stage::with(ProfileMode::Fresh).await;
    assert_eq!(second.browser.cookies().await.unwrap().0, "[]");
    second.browser.restore_cookies(&jar).await.unwrap();
    assert_eq!(second.browser.cookies().await.unwrap().0, jar.0);
    second.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_runs_already_is_reached_and_left_running() {
    let stage = Stage::start().await;
    let web_socket = stage.browser.about().endpoint.unwrap();
    let host_and_port = web_socket["ws://".len()..].split('/').next().unwrap().to_owned();
    for endpoint in [web_socket.clone(), host_and_port.clone(), format!("http://{host_and_port}/")]
    {
        let spec = LaunchSpec {
            endpoint: Some(endpoint),
            ..spec(stage.folder.path(), ProfileMode::Attach)
        };
        let remote = launch(spec).await.unwrap();
        assert_eq!(remote.about().pid, None);
        assert_eq!(remote.about().product, stage.browser.about().product);
        let request = OpenPage { target: None, url: stage.site.url("/plain") };
        let page = remote.open(request, sink().1).await.unwrap();
        assert_eq!(page.settled(LONG).await.unwrap().title, "/plain");
        remote.close_target(&page.target()).await.unwrap();
        remote.shut_down().await;
    }
    let tab = stage.open("/plain").await;
    assert_eq!(tab.eval("1").await, "1");
    assert!(popups(&stage).is_empty(), "the pages of others are not ours");
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_popup_that_opens_a_dialog_at_once_can_be_taken_over() {
    let stage = Stage::start().await;
    let tab = stage.open("/links").await;
    tab.eval("void open('/alert')").await;
    until("the popup", || popups(&stage).len() == 1).await;
    let (target, ..) = popups(&stage).remove(0);
    let popup = stage.try_open(Some(target), "about:blank").await.unwrap();
    popup.hears(|event| matches!(event, PageEvent::DialogOpened(_))).await;
    assert_eq!(popup.page.evaluate("1", LONG).await, Err(PageError::DialogOpen));
    popup.page.answer_dialog(true, None).await.unwrap();
    assert_eq!(popup.page.settled(LONG).await.unwrap().title, "alert");
    stage.browser.shut_down().await;
}

/// A daemon that comes back to a browser of others finds pages in any state.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_crashed_before_we_came_is_revived() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    kill(renderer(&stage, &tab).await);
    tab.hears(|event| *event == PageEvent::Crashed).await;
    let spec = LaunchSpec {
        endpoint: stage.browser.about().endpoint,
        ..spec(stage.folder.path(), ProfileMode::Attach)
    };
    let remote = launch(spec).await.unwrap();
    let request = OpenPage { target: Some(tab.page.target()), url: stage.site.url("/plain") };
    let page = remote.open(request, sink().1).await.unwrap();
    assert_eq!(page.settled(LONG).await.unwrap().title, "/plain");
    remote.shut_down().await;
    stage.browser.shut_down().await;
}
