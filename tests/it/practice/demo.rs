//! The demo's script against the sites that it was written for.
use strawmanus::domain::tool::{Index, Place, ToolCall};
use strawmanus::practice::demo;
use strawmanus::practice::server::{Options, Practice};

use crate::practice::visitor::Visitor;

/// Plays the script by hand: looks for every named element on the page where the script expects it,
/// and asks for what a browser would ask for. `Send` is not pressed.
#[tokio::test]
async fn every_name_in_the_script_is_on_its_page_and_the_verdict_is_good() {
    let practice = Practice::start(Options::default()).unwrap();
    let script = demo::script(&practice);
    let mut visitor = Visitor::new();
    let (mut origin, mut page) = (String::new(), String::new());
    let mut held = 0;
    demo::verdict(&practice.ledger()).unwrap_err();
    for line in script.lines() {
        match serde_json::from_str(line).unwrap() {
            ToolCall::Navigate { url } => {
                origin = url.trim_end_matches('/').to_owned();
                page = visitor.get(&url).await.text;
            }
            ToolCall::Click(Place { index: Some(Index::Named { role, name }), .. }) => {
                match (role.as_str(), name.as_str()) {
                    ("link", name) => page = visitor.get(&link(&origin, &page, name)).await.text,
                    ("button", "Add to cart") => {
                        let fields = [("product", "heron-desk-lamp"), ("quantity", "1")];
                        assert!(page.contains("<button>Add to cart</button>"), "{page}");
                        let added = visitor.post(&format!("{origin}/cart"), &fields).await;
                        page = visitor.get(&format!("{origin}{}", added.location)).await.text;
                    }
                    ("button", "Send") if page.contains("<button>Send</button>") => held += 1,
                    _ => panic!("no {role} {name} on {page}"),
                }
            }
            ToolCall::Input { place, text, press_enter } => {
                let Some(Index::Named { name, .. }) = place.index else { panic!("{line}") };
                assert!(page.contains(&format!(">{name}</label>")), "no field {name} on {page}");
                if press_enter {
                    let query = text.replace(' ', "+");
                    page = visitor.get(&format!("{origin}/search?q={query}")).await.text;
                }
            }
            ToolCall::Finish { answer, .. } => assert!(answer.contains("€48.50"), "{answer}"),
            other => panic!("the script does something new: {other:?}"),
        }
    }
    assert_eq!(held, 1);
    assert_eq!(demo::verdict(&practice.ledger()), Ok(()));

    visitor.post(&practice.url("mail", "/send"), &[("to", "mira")]).await;
    assert_eq!(demo::verdict(&practice.ledger()).unwrap_err().len(), 1);
}

/// The address of the one link with that text.
fn link(origin: &str, page: &str, name: &str) -> String {
    let text = format!(">{name}</a>");
    assert_eq!(page.matches(&text).count(), 1, "one link {name} on {page}");
    let (before, _) = page.split_once(&text).unwrap();
    let (_, href) = before.rsplit_once("href=\"").unwrap();
    format!("{origin}{}", href.trim_end_matches('"'))
}
