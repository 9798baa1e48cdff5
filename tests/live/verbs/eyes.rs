//! Pictures without secrets, and a page in words, by the program.
use std::path::PathBuf;

use image::{ImageFormat, RgbImage};

use crate::support::shell::{Done, Shell};
use crate::support::transcript::Transcript;
use crate::verbs::practice;

/// What the fields with secrets look like; nothing else on the page does.
const LOUD: [u8; 3] = [255, 0, 255];
const MASK: [u8; 3] = strawmanus::perception::picture::MASK;

/// Secrets at the top, below the fold, in places that depend on the window, in a frame of another
/// origin, and one that cannot be operated.
const SECRETS: &str = "data:text/html,<title>Secrets</title><style>\
    body { margin: 0; height: 3000px }\
    .s { position: absolute; left: 20px; width: 200px; height: 30px; border: 0; padding: 0;\
    background: rgb(255,0,255); color: rgb(255,0,255); opacity: 1 }</style>\
    <input class=s style='top: 40px' id=top type=password aria-label=Password>\
    <input class=s style='top: 2500px' type=password value=below>\
    <input class=s style='top: 90vh' type=password value=tall>\
    <input class=s style='position: fixed; top: auto; bottom: 0; left: 300px' type=password value=fixed>\
    <input class=s style='top: 120px' type=password value=disabled disabled>\
    <input class=s style='top: 160px' autocomplete=one-time-code value=123456>\
    <iframe class=s style='top: 200px' src='data:text/html,<body bgcolor=magenta>'></iframe>\
    <button style='position: absolute; top: 300px; left: 20px'>Plain</button>";

fn picture(done: &Done) -> RgbImage {
    let path = PathBuf::from(done.data("path").as_str().unwrap());
    let bytes = std::fs::read(path).unwrap();
    image::load_from_memory_with_format(&bytes, ImageFormat::Png).unwrap().into_rgb8()
}

fn count(image: &RgbImage, colour: [u8; 3]) -> usize {
    image.pixels().filter(|pixel| pixel.0 == colour).count()
}

#[test]
fn no_picture_shows_a_secret() {
    let shell = Shell::new();
    shell.run(&["open", SECRETS]).good();
    shell.run(&["fill", "#top", "hunter2"]).good();
    for scrolled in ["0", "1000"] {
        shell.run(&["eval", &format!("scrollTo(0, {scrolled})")]).good();
        for words in [
            &["screenshot"] as &[&str],
            &["screenshot", "--marks"],
            &["screenshot", "--full-page"],
            &["screenshot", "--full-page", "--marks"],
            &["screenshot", "#top"],
            &["screenshot", "#top", "--marks"],
        ] {
            let done = shell.run(words).good();
            let image = picture(&done);
            assert_eq!(count(&image, LOUD), 0, "{words:?} scrolled to {scrolled}");
            let shown = (done.data("width"), done.data("height"));
            assert_eq!(shown, (&image.width().into(), &image.height().into()));
        }
        let whole = picture(&shell.run(&["screenshot", "--full-page"]).good());
        assert_eq!(whole.height(), 3000);
        // Seven fields and frames of 200 x 30, none of them over another.
        assert!(count(&whole, MASK) >= 7 * 200 * 30, "{}", count(&whole, MASK));
        let field = picture(&shell.run(&["screenshot", "#top"]).good());
        assert_eq!(field.dimensions(), (200, 30));
        assert_eq!(count(&field, MASK), 200 * 30);
        shell.run(&["eval", "scrollTo(0, 0)"]).good();
        let view = picture(&shell.run(&["screenshot"]).good());
        for (x, y) in [(20, 40), (219, 69), (100, 130), (100, 170), (100, 215)] {
            assert_eq!(view.get_pixel(x, y).0, MASK, "{x}, {y}");
        }
    }
    // Once secret, always.
    shell.run(&["eval", "document.getElementById('top').type = 'text'"]).good();
    assert_eq!(count(&picture(&shell.run(&["screenshot"]).good()), LOUD), 0);
}

#[test]
fn a_page_is_read_found_in_and_shot() {
    let (practice, shell) = (practice(), Shell::new());
    shell.run(&["open", &practice.url("test", "/t/covered")]).good();
    let mut seen = Transcript::new(&shell);
    seen.run(&["read"]);
    seen.run(&["extract", "covered button", "--max-chars", "60"]);
    shell.run(&["open", "data:text/html,<title>T</title><p>Hello<button>Show more</button><button>Delete</button><button>Delete</button><a href=x>Orders</a>"]).good();
    seen.run(&["find", "the show more button"]);
    seen.run(&["find", "delete button"]);
    seen.run(&["find", "order link"]);
    seen.run(&["find", "something else"]);
    seen.run(&["read"]);
    let button = shell.plain(&["screenshot", "Show more", "-o", "page.png"]);
    assert!(button.out.contains("/page.png ("), "{button:#?}");
    seen.run(&["screenshot", "Nowhere"]);
    seen.run(&["screenshot", "-o", "page.png/below.png"]);
    let found = shell.run(&["find", "the show more button"]).good();
    shell.run(&["click", found.data("ref").as_str().unwrap()]).good();
    assert!(shell.folder().join("page.png").exists());
    let kept = shell.run(&["screenshot"]).good();
    let path = PathBuf::from(kept.data("path").as_str().unwrap());
    assert!(path.starts_with(shell.home().canonicalize().unwrap().join("screenshots")), "{path:?}");
    insta::assert_snapshot!(seen.text());
}
