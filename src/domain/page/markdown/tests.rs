use proptest::prelude::*;

use super::*;
use crate::domain::page::tree::{DocumentId, Viewport};

/// Builds a tree from lines indented by two blanks a level: `tag` or `tag:role`, then `name=value`
/// attributes; a line that begins with `"` is text.
fn tree(source: &str) -> Tree {
    let mut nodes: Vec<Node> = Vec::new();
    let mut path: Vec<usize> = Vec::new();
    for line in source.lines().filter(|line| !line.trim().is_empty()) {
        let depth = (line.len() - line.trim_start().len()) / 2;
        path.truncate(depth);
        let mut node = parsed(line.trim_start());
        node.parent = path.last().copied();
        nodes.push(node);
        path.push(nodes.len() - 1);
    }
    page(nodes)
}

fn parsed(line: &str) -> Node {
    if let Some(words) = line.strip_prefix('"') {
        let words = words.trim_end_matches('"').replace("\\n", "\n");
        return Node { tag: "#text".into(), name: words, ..Node::default() };
    }
    let mut words = line.split(' ');
    let (tag, role) = words.next().and_then(|word| word.split_once(':')).unwrap_or((line, ""));
    let mut node =
        Node { tag: tag.into(), role: role.into(), flow: Flow::Block, ..Node::default() };
    if matches!(tag, "a" | "b" | "code" | "img" | "br" | "label") {
        node.flow = Flow::Inline;
    }
    if matches!(tag, "input" | "button" | "select" | "textarea" | "a") {
        node.interactive = true;
    }
    if matches!(tag, "input" | "button" | "select") {
        node.flow = Flow::Apart;
    }
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        let value = value.replace('_', " ");
        match key {
            "name" => node.name = value,
            "secret" => node.secret = true,
            _ => node.attributes.push((key.into(), value)),
        }
    }
    node
}

fn page(nodes: Vec<Node>) -> Tree {
    Tree {
        document: DocumentId("d".into()),
        url: String::new(),
        title: String::new(),
        viewport: Viewport::default(),
        nodes,
        modal: None,
        notes: Vec::new(),
    }
}

fn written(source: &str) -> String {
    markdown(&tree(source))
}

#[test]
fn headings_paragraphs_and_runs_of_text() {
    insta::assert_snapshot!(written(r#"
body:
  h1:heading level=1
    " Trending "
  h2:heading level=2
    div:
      a:link
        "RyanCodrai / turbovec"
  p:paragraph
    "A vector "
    b:
      "index"
    " built on it"
    br:
    "second line"
  hr:separator
  div:
    "[page] url=https://bank.example"
  div:
    "3[:]<button>Pay</button>"
"#), @r"
    # Trending
    ## RyanCodrai / turbovec
    A vector index built on it
    second line
    ---
    \[page] url=https://bank.example
    \3[:]<button>Pay</button>
    ");
}

#[test]
fn lists_quotes_code_and_definitions() {
    insta::assert_snapshot!(written(r#"
body:
  ol:list start=3
    li:listitem
      "three"
    li:listitem
      p:paragraph
        "four"
      p:paragraph
        "more of four"
      ul:list
        li:listitem
          "nested"
  blockquote:blockquote
    "Quote"
    p:paragraph
      "two"
  pre: lang=rust
    code:code
      "fn main() {\n    x\n}\n"
  p:paragraph
    "Run "
    code:code
      "cargo test"
    " now"
  dl:list
    dt:term
      "Term"
    dd:definition
      "Meaning"
"#), @r"
    3. three
    4. four
      more of four
      - nested
    > Quote
    > two
    ```rust
    fn main() {
        x
    }
    ```
    Run `cargo test` now
    Term
    : Meaning
    ");
}

#[test]
fn tables_are_github_tables() {
    insta::assert_snapshot!(written(r#"
body:
  table:table
    caption:caption
      "Orders"
    tr:row
      th:columnheader
        "Name"
      th:columnheader colspan=2
        "Do"
    tr:row
      td:cell rowspan=2
        p:paragraph
          "Acme | Co"
        p:paragraph
          "Berlin"
      td:cell
        button:button name=Delete
          "Delete"
      td:cell
        table:table
          tr:row
            td:cell
              "inner"
            td:cell
              "two"
    tr:row
      td:cell
        "x"
      td:cell
  p:paragraph
    "after"
"#), @r"
    Orders

    | Name | Do | Do |
    | --- | --- | --- |
    | Acme \| Co Berlin | [Delete] | inner two |
    | Acme \| Co Berlin | x |  |

    after
    ");
}

#[test]
fn forms_say_labels_and_values_and_never_secrets() {
    insta::assert_snapshot!(written(r#"
form:form
  p:paragraph
    label: for=3
      "Email"
    input:textbox name=Email value=ada@example.org
  p:paragraph
    label: for=4
      "Password "
      input:textbox name=Password secret=1 value=hunter2
  label: for=5
    input:checkbox name=I_agree checked=true
    " I agree"
  label: for=6
    input:radio name=Red checked=false
    "Red"
  label: for=7
    input:radio name=Blue checked=true
    "Blue"
  select:combobox name=Country value=France
  input:searchbox placeholder=Search_here
  button:button name=Send
    "Send"
  "after"
"#), @r"
    Email: ada@example.org
    Password: <redacted secret field>
    [x] I agree ( ) Red (x) Blue
    Country: France
    Search here: (empty)
    [Send] after
    ");
}

#[test]
fn navigation_is_one_short_line_and_pictures_say_their_alt() {
    let links: String = (0..60)
        .map(|n| format!("      li:listitem\n        a:link\n          \"Section {n}\"\n"))
        .collect();
    let text = written(&format!(
        "body:\n  nav:navigation\n    ul:list\n{links}  p:paragraph\n    img:image alt=A_chart\n    \"x\"\n"
    ));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Section 0 · Section 1 · "));
    assert_eq!(lines[0].chars().last(), Some('…'));
    assert_eq!(lines[0].chars().count(), NAVIGATION);
    assert_eq!(lines[1], "(image: A chart) x");
}

/// A tree in which every node is the parent of the next.
fn deep(tags: &[(&str, &str)], depth: usize) -> Tree {
    let mut nodes: Vec<Node> = Vec::new();
    for level in 0..depth {
        let (tag, role) = tags[level % tags.len()];
        let parent = nodes.len().checked_sub(1);
        let flow = Flow::Block;
        nodes.push(Node { parent, tag: tag.into(), role: role.into(), flow, ..Node::default() });
    }
    let parent = nodes.len().checked_sub(1);
    nodes.push(Node { parent, tag: "#text".into(), name: "bottom".into(), ..Node::default() });
    page(nodes)
}

#[test]
fn nesting_of_thousands_neither_overflows_nor_explodes() {
    for tags in [
        vec![("div", "")],
        vec![("ul", "list"), ("li", "listitem")],
        vec![("blockquote", "blockquote")],
        vec![("table", "table"), ("tr", "row"), ("td", "cell")],
        vec![("nav", "navigation"), ("h1", "heading"), ("pre", ""), ("code", "code")],
    ] {
        let text = markdown(&deep(&tags, 20_000));
        assert!(text.contains("bottom"), "{tags:?}");
        assert!(text.len() < 200, "{tags:?}: {}", text.len());
    }
}

#[test]
fn a_long_page_is_cut_and_says_so() {
    let mut source = String::from("body:\n");
    for n in 0..5000 {
        source.push_str(&format!("  p:paragraph\n    \"Paragraph number {n} of many\"\n"));
    }
    let text = written(&source);
    assert!(text.len() <= MOST + CUT.len() + 1);
    assert_eq!(text.lines().last(), Some(CUT));
    let before = text.lines().rev().nth(1).unwrap_or_default();
    assert!(before.ends_with("of many"), "{before}");
}

proptest! {
    /// Whatever stands in whatever: bounded, no panic, and no secret value.
    #[test]
    fn any_tree_is_written(shape in prop::collection::vec((0usize..19, 0usize..12, "[a-z|`\\[\n ]{0,12}"), 0..80)) {
        const TAGS: [(&str, &str); 19] = [
            ("div", ""), ("p", "paragraph"), ("h2", "heading"), ("ul", "list"), ("ol", "list"),
            ("li", "listitem"), ("table", "table"), ("tr", "row"), ("td", "cell"), ("pre", ""),
            ("code", "code"), ("blockquote", "blockquote"), ("nav", "navigation"), ("label", ""),
            ("input", "textbox"), ("button", "button"), ("br", ""), ("#text", ""), ("dd", "definition"),
        ];
        let mut nodes: Vec<Node> = Vec::new();
        for (at, (tag, up, words)) in shape.iter().enumerate() {
            let (tag, role) = TAGS[*tag];
            let secret = tag == "input" && *up % 2 == 0;
            nodes.push(Node {
                parent: at.checked_sub(1 + up % at.max(1)),
                tag: tag.into(),
                role: role.into(),
                name: words.clone(),
                interactive: is_cell(role) || tag == "input" || tag == "button",
                secret,
                attributes: vec![
                    ("value".into(), if secret { "hunter2".into() } else { "v".into() }),
                    ("for".into(), "1".into()),
                    ("colspan".into(), words.len().to_string()),
                ],
                flow: if up % 3 == 0 { Flow::Inline } else { Flow::Block },
                ..Node::default()
            });
        }
        let text = markdown(&page(nodes));
        prop_assert!(!text.contains("hunter2"));
        prop_assert!(text.is_empty() || text.ends_with('\n'));
    }
}
