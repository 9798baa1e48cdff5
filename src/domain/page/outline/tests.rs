use super::*;
use crate::domain::page::tree::{DocumentId, NodeKey, Viewport};

fn element(parent: usize, tag: &str, role: &str, name: &str) -> Node {
    let interactive =
        matches!(role, "button" | "link" | "textbox" | "checkbox" | "DisclosureTriangle");
    Node {
        parent: Some(parent),
        tag: tag.into(),
        role: role.into(),
        name: name.into(),
        interactive,
        in_viewport: true,
        flow: if interactive { Flow::Inline } else { Flow::Block },
        ..Node::default()
    }
}

fn text(parent: usize, words: &str) -> Node {
    Node { parent: Some(parent), tag: "#text".into(), name: words.into(), ..Node::default() }
}

fn tree(nodes: Vec<Node>) -> Tree {
    let root = Node { tag: "html".into(), in_viewport: true, flow: Flow::Block, ..Node::default() };
    let mut nodes: Vec<Node> = std::iter::once(root).chain(nodes).collect();
    for (at, node) in nodes.iter_mut().enumerate() {
        let content = ["heading", "navigation", "dialog"].contains(&node.role.as_str());
        node.key = (node.interactive || content).then_some(NodeKey(at as u32 + 50));
    }
    Tree {
        document: DocumentId("d".into()),
        url: "https://example.org/".into(),
        title: "Shop".into(),
        viewport: Viewport::default(),
        nodes,
        modal: None,
        notes: Vec::new(),
    }
}

fn shop() -> Tree {
    let mut heading = element(0, "h1", "heading", "Shop");
    heading.attributes = vec![("level".into(), "1".into())];
    let mut field = element(0, "input", "textbox", "Search");
    field.attributes = vec![("value".into(), "lamp".into()), ("required".into(), "true".into())];
    let mut below = element(0, "button", "button", "Below");
    below.in_viewport = false;
    tree(vec![
        heading,                                        // 1
        text(1, "Shop"),                                // 2
        element(0, "nav", "navigation", "Sections"),    // 3
        element(3, "li", "listitem", ""),               // 4
        element(4, "a", "link", "World"),               // 5
        text(5, "World"),                               // 6
        field,                                          // 7
        element(0, "p", "paragraph", ""),               // 8
        text(8, "Free "),                               // 9
        text(8, "delivery"),                            // 10
        element(0, "article", "article", ""),           // 11
        element(11, "h3", "heading", "Desk lamp"),      // 12
        text(12, "Desk lamp"),                          // 13
        element(11, "p", "paragraph", ""),              // 14
        text(14, "$20"),                                // 15
        element(11, "button", "button", "Add to cart"), // 16
        text(16, "Add to cart"),                        // 17
        below,                                          // 18
        text(18, "Below"),                              // 19
    ])
}

fn shown(tree: &Tree, selection: Selection) -> String {
    outline(tree, selection, &mut Numbering::default()).text
}

#[test]
fn the_whole_page_in_reading_order() {
    insta::assert_snapshot!(shown(&shop(), Selection::default()), @r#"
    - heading "Shop" [level=1] [ref=e0]
    - navigation "Sections" [ref=e1]
      - link "World" [ref=e2]
    - textbox "Search" [required] [value="lamp"] [ref=e3]
    - text: Free delivery
    - article "Desk lamp · $20": button "Add to cart" [ref=e4]
    - button "Below" [ref=e5]
    "#);
}

#[test]
fn only_what_can_be_operated_with_what_it_belongs_to() {
    let selection = Selection { interactive_only: true, ..Selection::default() };
    insta::assert_snapshot!(shown(&shop(), selection), @r#"
    - navigation "Sections"
      - link "World" [ref=e0]
    - textbox "Search" [required] [value="lamp"] [ref=e1]
    - article "Desk lamp": button "Add to cart" [ref=e2]
    - button "Below" [ref=e3]
    "#);
}

#[test]
fn the_viewport_and_the_depth_limit_it() {
    let viewport = Selection { viewport_only: true, interactive_only: true, depth: None };
    assert!(!shown(&shop(), viewport).contains("Below"));
    let depth = Selection { depth: Some(1), interactive_only: true, ..Selection::default() };
    let text = shown(&shop(), depth);
    assert!(!text.contains("World") && text.contains("Search"), "{text}");
    let refs = outline(&shop(), depth, &mut Numbering::default()).elements;
    assert_eq!(refs.len(), text.matches("[ref=").count());
}

#[test]
fn long_runs_of_items_are_folded_to_the_first_and_those_in_view() {
    let mut nodes = vec![element(0, "table", "table", "")];
    for row in 0..1000 {
        let at = nodes.len() + 1;
        let mut item = element(1, "tr", "row", "");
        item.in_viewport = (400..403).contains(&row);
        nodes.extend([
            item,
            text(at, &format!("Order {row}")),
            element(at, "button", "button", "Edit"),
        ]);
    }
    let shown = shown(&tree(nodes), Selection { interactive_only: true, ..Selection::default() });
    insta::assert_snapshot!(shown, @r#"
    - table
      - row "Order 0": button "Edit" [ref=e0]
      - row "Order 1": button "Edit" [ref=e1]
      - row "Order 2": button "Edit" [ref=e2]
      - row "Order 3": button "Edit" [ref=e3]
      - row "Order 4": button "Edit" [ref=e4]
      - row "Order 5": button "Edit" [ref=e5]
      - row "Order 6": button "Edit" [ref=e6]
      - row "Order 7": button "Edit" [ref=e7]
      - row "Order 8": button "Edit" [ref=e8]
      - row "Order 9": button "Edit" [ref=e9]
      - … 390 more rows; aim at one with text="…", or scroll
      - row "Order 400": button "Edit" [ref=e10]
      - row "Order 401": button "Edit" [ref=e11]
      - row "Order 402": button "Edit" [ref=e12]
      - … 597 more rows; aim at one with text="…", or scroll
    "#);
}

#[test]
fn an_open_modal_is_all_there_is() {
    let mut page = shop();
    let at = page.nodes.len();
    page.nodes.push(Node { key: Some(NodeKey(900)), ..element(0, "dialog", "dialog", "Cookies") });
    page.nodes.push(Node { key: Some(NodeKey(901)), ..element(at, "button", "button", "Accept") });
    page.modal = Some(at);
    assert_eq!(
        shown(&page, Selection { interactive_only: true, ..Selection::default() }),
        "- dialog \"Cookies\"\n  - button \"Accept\" [ref=e0]\n- note: an open dialog covers the rest of the page\n"
    );
}

#[test]
fn nesting_of_thousands_neither_overflows_nor_explodes() {
    for (tag, role) in
        [("div", ""), ("li", "listitem"), ("nav", "navigation"), ("article", "article")]
    {
        let mut nodes: Vec<Node> = (0..5000).map(|at| element(at, tag, role, "")).collect();
        nodes.push(element(5000, "button", "button", "Bottom"));
        let text = shown(&tree(nodes), Selection::default());
        assert!(text.len() < MOST + 300, "{role}: {}", text.len());
        assert!(role == "navigation" || text.contains("Bottom"), "{role}");
    }
}

#[test]
fn a_long_page_is_cut_and_says_what_is_left() {
    let nodes = (0..2000).map(|n| element(0, "button", "button", &format!("Button {n}"))).collect();
    let text = shown(&tree(nodes), Selection::default());
    assert!(text.len() < MOST + 200);
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("- note: cut here, with 1"), "{last}");
}
