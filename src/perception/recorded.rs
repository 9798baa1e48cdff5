//! What the walker answered on real pages, as the renderings show it.
use crate::domain::page::numbering::Numbering;
use crate::domain::page::observation::View;
use crate::domain::page::render::render;
use crate::perception::decode::decode;

const SNAPSHOT: View = View::Snapshot { interactive_only: true, viewport_only: false, depth: None };

fn shown(raw: &str, view: &View) -> String {
    let tree = decode(raw).expect("a recorded answer decodes");
    render(&tree, view, 1, &mut Numbering::default()).text
}

macro_rules! recorded {
    ($name:ident, $file:literal) => {
        #[test]
        fn $name() {
            let raw = include_str!(concat!("../../tests/pages/", $file, ".json"));
            insta::assert_snapshot!(concat!($file, "_payload"), shown(raw, &View::Payload));
            insta::assert_snapshot!(concat!($file, "_snapshot"), shown(raw, &SNAPSHOT));
        }
    };
}

recorded!(a_search_page, "search");
recorded!(a_form, "form");
recorded!(a_news_page, "news");
recorded!(hard_cases, "hard");
recorded!(an_open_modal, "modal");
