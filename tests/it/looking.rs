//! Pictures, in which nothing secret is seen, and the console.
use image::{ImageFormat, RgbImage};
use strawmanus::domain::ids::ElementId;
use strawmanus::messages::address::Address;
use strawmanus::messages::tab::{Picture, PictureOrder, TabError, TabMsg};
use strawmanus::perception::picture::MASK;
use strawmanus::ports::page::ConsoleLines;

use crate::support::house::{
    House, MINUTE, SECOND, click, describe, evaluate, named, navigate, observe, quiet,
};
use crate::support::web::page::SECRET;
use crate::support::web::{At, Fault, Web};

const HERE: &str = "http://shop.test/";

async fn one_tab(web: &Web) -> (House, Address<TabMsg>) {
    let house = House::build(web).await;
    let tab = house.tab(house.new_tab(HERE).await);
    describe(&tab).await;
    (house, tab)
}

async fn picture(tab: &Address<TabMsg>, order: PictureOrder) -> Result<Picture, TabError> {
    let ask = |reply| TabMsg::Picture { order, patience: 10 * SECOND, reply };
    tab.ask(ask, MINUTE).await.unwrap()
}

async fn console(tab: &Address<TabMsg>, most: usize) -> ConsoleLines {
    tab.ask(|reply| TabMsg::Console { most, reply }, SECOND).await.unwrap().unwrap()
}

fn pixels(picture: &Picture) -> RgbImage {
    image::load_from_memory_with_format(&picture.png, ImageFormat::Png).unwrap().into_rgb8()
}

#[tokio::test]
async fn secrets_are_covered_in_every_kind_of_picture() {
    let (_house, tab) = one_tab(&Web::default()).await;
    let [x, y, width, height] = SECRET.map(|side| side as u32);
    for marks in [false, true] {
        for full_page in [false, true] {
            let order = PictureOrder { target: None, full_page, marks };
            let picture = picture(&tab, order).await.unwrap();
            assert_eq!((picture.width, picture.height), (800, if full_page { 900 } else { 600 }));
            let image = pixels(&picture);
            if !marks {
                for (x, y) in [(x, y), (x + width - 1, y + height - 1), (x + 40, y + 10)] {
                    assert_eq!(image.get_pixel(x, y).0, MASK, "{x}, {y}");
                }
                assert_eq!(image.get_pixel(400, 30).0, [0xff; 3]);
            }
            let covered = image.pixels().filter(|pixel| pixel.0 == MASK).count();
            assert!(covered > 500, "{covered}");
        }
        let target = Some(named("textbox", "To"));
        let picture =
            picture(&tab, PictureOrder { target, full_page: false, marks }).await.unwrap();
        assert_eq!((picture.width, picture.height), (width, height));
        if !marks {
            assert!(pixels(&picture).pixels().all(|pixel| pixel.0 == MASK));
        }
    }
}

#[tokio::test]
async fn marks_are_numbers_that_can_be_used() {
    let (house, tab) = one_tab(&Web::default()).await;
    let marks = PictureOrder { marks: true, ..PictureOrder::default() };
    let before = pixels(&picture(&tab, PictureOrder::default()).await.unwrap());
    let after = pixels(&picture(&tab, marks).await.unwrap());
    // The third control's outline.
    assert_eq!(before.get_pixel(50, 120).0, [0xff; 3]);
    assert_ne!(after.get_pixel(50, 120).0, [0xff; 3]);
    let seen = observe(&tab).await.unwrap().unwrap();
    assert_eq!(seen.elements[2].id, ElementId(2));
    let target = strawmanus::domain::target::Target::Element(ElementId(2));
    let action = strawmanus::domain::action::Action::Click { target };
    crate::support::house::act(&tab, action).await.unwrap().unwrap();
    assert!(house.web.log().contains(&"POST Add to cart".to_owned()));
}

#[tokio::test]
async fn without_knowing_what_is_secret_there_is_no_picture() {
    for (at, nth, fault) in [
        (At::Call("secrets"), 1, Fault::Garbage),
        (At::Call("secrets"), 2, Fault::Garbage),
        (At::Call("secrets"), 1, Fault::Refuse),
        (At::Call("secrets"), 2, Fault::Refuse),
        (At::Picture, 1, Fault::Garbage),
        (At::Picture, 1, Fault::Refuse),
    ] {
        let (_house, tab) = one_tab(&Web::default().with(at, nth..=nth, fault)).await;
        let refused = picture(&tab, PictureOrder::default()).await;
        assert!(matches!(refused, Err(TabError::Refused { .. })), "{at:?} {nth}: {refused:?}");
        picture(&tab, PictureOrder::default()).await.unwrap();
    }
}

#[tokio::test]
async fn a_page_that_navigates_meanwhile_is_shot_again_and_not_for_ever() {
    let navigates = |times| Web::default().with(At::Picture, 1..=times, Fault::Depart);
    let (_house, tab) = one_tab(&navigates(1)).await;
    picture(&tab, PictureOrder::default()).await.unwrap();
    let (_house, tab) = one_tab(&navigates(99)).await;
    let error = picture(&tab, PictureOrder::default()).await.unwrap_err();
    assert!(error.to_string().contains("went on navigating"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_picture_of_a_page_that_dies_hangs_or_asks_is_answered() {
    for (fault, kind) in [
        (Fault::Crash, "tab_restarted"),
        (Fault::Hang, "timed_out"),
        (Fault::Gone, "target_gone"),
        (Fault::Die, "tab_restarted"),
        (Fault::Dialog, "blocked_by"),
    ] {
        let web = Web::default().with(At::Picture, 1..=1, fault);
        let (_house, tab) = one_tab(&web).await;
        let error = picture(&tab, PictureOrder::default()).await.unwrap_err();
        assert_eq!(error.kind().word(), kind, "{fault:?}: {error}");
        assert_eq!(web.under_way(), 0, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_console_is_shown_while_the_page_hangs() {
    let web = Web::default().with(At::Evaluate, 1..=1, Fault::Hang);
    let (house, tab) = one_tab(&web).await;
    let hangs = tokio::spawn({
        let tab = tab.clone();
        async move { evaluate(&tab, "1").await }
    });
    quiet().await;
    house.web.say(HERE, "one");
    house.web.say(HERE, "two");
    let lines = console(&tab, 1).await.lines;
    assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), ["[log] two"]);
    assert_eq!(console(&tab, 9).await.lines.len(), 2);
    hangs.await.unwrap().unwrap().unwrap_err();
    navigate(&tab, "http://shop.test/next").await.unwrap().unwrap();
    assert_eq!(console(&tab, 9).await.lines.len(), 2, "it outlives the document");
    crate::support::house::act(&tab, click("Dead")).await.unwrap().unwrap();
}
