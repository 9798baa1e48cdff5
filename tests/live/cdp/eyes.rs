//! What a page writes to its console, and pictures of it.
use image::{ImageFormat, RgbImage};
use strawmanus::ports::page::{Level, PageError, Shot, Taken};

use crate::cdp::stage::{LONG, Stage, Tab, until};

fn texts(tab: &Tab, most: usize) -> Vec<String> {
    tab.page.console(most).lines.into_iter().map(|line| line.text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_is_kept_past_navigations_and_exceptions_are_in_it() {
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    tab.eval("console.warn('careful', 7, {a: 'b'}, [1, 2]); 1").await;
    tab.eval("setTimeout(() => { throw new TypeError('broken') }); 1").await;
    tab.eval("fetch('/nowhere-at-all').catch(() => 1)").await;
    until("the exception", || texts(&tab, 9).iter().any(|text| text.contains("broken"))).await;
    tab.page.navigate(&stage.site.url("/links"), LONG).await.unwrap();
    tab.eval("console.log('after'); 1").await;
    until("the last line", || texts(&tab, 1) == ["after"]).await;
    let lines = tab.page.console(100).lines;
    let find = |words: &str| lines.iter().position(|line| line.text.contains(words)).unwrap();
    let warning = &lines[find("careful")];
    assert_eq!(warning.text, "careful 7 {a: b} [1, 2]");
    assert_eq!(warning.level, Level::Warning);
    assert!(warning.at.is_some());
    let thrown = &lines[find("TypeError: broken")];
    assert_eq!(thrown.level, Level::Error);
    let mark = find(&format!("navigated to {}", stage.site.url("/links")));
    assert_eq!(lines[mark].level, Level::Mark);
    assert!(find("careful") < mark && mark < find("after"));
    stage.browser.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_writes_without_end_costs_its_oldest_lines() {
    let stage = Stage::start().await;
    let (tab, other) = (stage.open("/plain").await, stage.open("/plain").await);
    tab.eval("for (let n = 0; n < 5000; n++) console.log('line ' + n); 1").await;
    until("the last line", || texts(&tab, 1) == ["line 4999"]).await;
    assert_eq!(other.eval("1").await, "1");
    let all = tab.page.console(usize::MAX);
    assert_eq!(all.lines.len(), 1000);
    assert_eq!(all.lines[0].text, "line 4000");
    assert!(all.dropped >= 4000, "{}", all.dropped);
    assert!(!texts(&other, 99).iter().any(|text| text.starts_with("line")));
    // Whoever opens the page again finds its lines.
    let again = stage.try_open(Some(tab.page.target()), "about:blank").await.unwrap();
    assert_eq!(texts(&again, 2), ["line 4998", "line 4999"]);
    stage.browser.shut_down().await;
}

fn pixels(taken: &Taken) -> RgbImage {
    image::load_from_memory_with_format(&taken.png, ImageFormat::Png).unwrap().into_rgb8()
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_show_what_they_say() {
    const PAGE: &str = "document.body.style.cssText = 'margin:0;width:600px;height:20000px;\
        background:linear-gradient(rgb(0,128,0) 0 1500px, rgb(0,0,255) 1500px)'; 1";
    const GREEN: [u8; 3] = [0, 128, 0];
    const BLUE: [u8; 3] = [0, 0, 255];
    let stage = Stage::start().await;
    let tab = stage.open("/plain").await;
    tab.eval("document.body.innerHTML = ''; 1").await;
    tab.eval(PAGE).await;
    tab.eval("scrollTo(0, 1400); 1").await;
    let view = tab.page.screenshot(Shot::Viewport, LONG).await.unwrap();
    let image = pixels(&view);
    assert_eq!((view.area[1], view.cut), (1400.0, false));
    assert_eq!(f64::from(image.width()), view.area[2]);
    assert_eq!((image.get_pixel(5, 90).0, image.get_pixel(5, 110).0), (GREEN, BLUE));
    let part = tab.page.screenshot(Shot::Box([0.0, 10.0, 50.0, 20.0]), LONG).await.unwrap();
    let image = pixels(&part);
    assert_eq!((image.dimensions(), part.area), ((50, 20), [0.0, 10.0, 50.0, 20.0]));
    assert_eq!(image.get_pixel(5, 5).0, GREEN);
    let whole = tab.page.screenshot(Shot::FullPage, LONG).await.unwrap();
    let image = pixels(&whole);
    assert_eq!((image.height(), whole.cut), (16_384, true));
    assert_eq!((image.get_pixel(5, 1490).0, image.get_pixel(5, 1510).0), (GREEN, BLUE));
    assert_eq!(tab.eval("scrollY").await, "1400", "nothing was moved");
    let nothing = tab.page.screenshot(Shot::Box([5.0, 5.0, 0.0, 9.0]), LONG).await;
    assert!(matches!(nothing, Err(PageError::Refused { .. })));
    assert_eq!(tab.page.evaluate("alert(1)", LONG).await, Err(PageError::DialogOpen));
    let held = tab.page.screenshot(Shot::Viewport, LONG).await;
    assert_eq!(held.err(), Some(PageError::DialogOpen));
    tab.page.answer_dialog(true, None).await.unwrap();
    stage.browser.shut_down().await;
}
