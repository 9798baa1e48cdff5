//! Rendering 1: the page as the agent's model reads it before each step.
//!
//! Pure. Where the page is, what can be operated in the viewport, then the whole page as Markdown.
use std::fmt::Write;

use crate::domain::page::markdown::markdown;
use crate::domain::page::numbering::Numbering;
use crate::domain::page::observation::{Observation, Shown};
use crate::domain::page::text::{fold, line};
use crate::domain::page::tree::{Node, NodeKey, Tree, Viewport};

/// Characters of an element's text or of one of its attributes.
const TEXT: usize = 100;
const REDACTED: &str = "<redacted secret field>";
/// Tags that say by themselves what can be done with them.
const PLAIN_TAGS: [&str; 7] = ["a", "button", "input", "select", "textarea", "summary", "option"];

/// Returns the payload of `tree`. What is listed for the first time gets the next numbers, in
/// reading order.
pub fn payload(tree: &Tree, tabs: usize, numbering: &mut Numbering) -> Observation {
    let elements = shown(tree, listed(tree), numbering);
    let mut text = page_line(tree, tabs);
    text.push_str(&interactive_line(tree));
    for element in &elements {
        let _ = writeln!(text, "  {}", element.line);
    }
    text.push_str("\n[markdown] (whole page, links/images stripped — if this answers the question, do not scroll)\n");
    let began = text.len();
    text.push_str(&markdown(tree));
    let markdown = began..text.len();
    if !tree.notes.is_empty() {
        text.push_str("\n[notes]\n");
        for note in &tree.notes {
            let _ = writeln!(text, "{}", line(note, 200));
        }
    }
    let (document, url, title) = (tree.document.clone(), tree.url.clone(), tree.title.clone());
    Observation { document, url, title, text, markdown, elements, links: links(tree) }
}

/// Returns everything of the whole page that can be operated, in view or not.
pub fn operable(tree: &Tree, numbering: &mut Numbering) -> Observation {
    let all = tree.nodes.iter().filter(|node| node.interactive);
    let elements = shown(tree, all.filter_map(|node| Some((node, node.key?))).collect(), numbering);
    let lines = elements.iter().map(|element| format!("  {}\n", element.line));
    let (document, url, title) = (tree.document.clone(), tree.url.clone(), tree.title.clone());
    let text = lines.collect::<String>();
    let markdown = text.len()..text.len();
    Observation { document, url, title, text, markdown, elements, links: links(tree) }
}

/// Numbers what is listed, and writes its line.
fn shown(tree: &Tree, listed: Vec<(&Node, NodeKey)>, numbering: &mut Numbering) -> Vec<Shown> {
    numbering.turn_to(&tree.document);
    let only_password = listed.iter().filter(|(node, _)| is_password(node)).count() == 1;
    let shown = |(node, key): (&Node, NodeKey)| {
        let id = numbering.number(key);
        let (tag, opened) = (&node.tag, opening(node, only_password));
        Shown {
            id,
            role: node.role.clone(),
            name: node.name.clone(),
            secret: node.secret,
            bounds: node.bounds,
            line: format!("{}[:]<{opened}>{}</{tag}>", id.0, words(node)),
        }
    };
    listed.into_iter().map(shown).collect()
}

/// The absolute addresses of the page's links, each once.
pub fn links(tree: &Tree) -> Vec<String> {
    let base = url::Url::parse(&tree.url).ok();
    let mut known = std::collections::HashSet::new();
    let hrefs = tree.nodes.iter().filter_map(|node| node.attribute("href"));
    hrefs
        .filter_map(|href| match &base {
            Some(base) => base.join(href).ok(),
            None => url::Url::parse(href).ok(),
        })
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .map(String::from)
        .filter(|url| known.insert(url.clone()))
        .collect()
}

fn page_line(tree: &Tree, tabs: usize) -> String {
    let (at, of) = pages(tree.viewport);
    let (url, title) = (fold(&tree.url), fold(&tree.title));
    format!("[page] url={url} | title='{title}' | viewport {at}/{of} | tabs={tabs}\n\n")
}

/// Which viewport of how many is shown; the last one where the page cannot be scrolled on.
fn pages(viewport: Viewport) -> (u64, u64) {
    let Viewport { height, scroll_y, page_height, .. } = viewport;
    if height < 1.0 || page_height <= height + 1.0 {
        return (1, 1);
    }
    let of = ((page_height - 1.0) / height).ceil().clamp(1.0, 1e6) as u64;
    let at = (scroll_y.max(0.0) / height + 0.5).floor().min(1e6) as u64 + 1;
    let ended = scroll_y + height >= page_height - 1.0;
    (if ended { of } else { at.min(of) }, of)
}

fn interactive_line(tree: &Tree) -> String {
    let limit = match tree.modal.and_then(|at| tree.nodes.get(at)) {
        None => String::new(),
        Some(modal) if modal.name.is_empty() => "; an open dialog covers the rest".into(),
        Some(modal) => format!("; the open dialog '{}' covers the rest", line(&modal.name, TEXT)),
    };
    format!(
        "[interactive] (viewport only{limit}; use index, or coordinate_x/coordinate_y for anything missing)\n"
    )
}

/// What can be operated in the viewport and really be hit, limited to an open modal.
fn listed(tree: &Tree) -> Vec<(&Node, NodeKey)> {
    let reach = match tree.modal {
        Some(modal) if modal < tree.nodes.len() => modal..tree.ends()[modal],
        _ => 0..tree.nodes.len(),
    };
    tree.nodes[reach]
        .iter()
        .filter(|node| node.interactive && node.reachable && node.in_viewport)
        .filter_map(|node| Some((node, node.key?)))
        .collect()
}

fn is_password(node: &Node) -> bool {
    node.secret && node.attribute("type") == Some("password")
}

fn words(node: &Node) -> String {
    if node.secret { REDACTED.into() } else { line(&node.name, TEXT) }
}

/// The tag with the attributes that it takes to know what the element is.
fn opening(node: &Node, only_password: bool) -> String {
    let mut opened = node.tag.clone();
    let plain = PLAIN_TAGS.contains(&node.tag.as_str());
    if !plain && !node.role.is_empty() {
        let _ = write!(opened, " role={}", node.role);
    }
    if let Some(kind) = node.attribute("type").filter(|kind| node.tag == "input" && *kind != "text")
    {
        let _ = write!(opened, " type={kind}");
    }
    if node.secret {
        let known = is_password(node) && only_password;
        if !known && !node.name.is_empty() {
            quote(&mut opened, "label", &node.name);
        }
    } else {
        describe(&mut opened, node);
    }
    for state in ["checked", "disabled", "selected", "pressed"] {
        match node.attribute(state) {
            Some("true") => drop(write!(opened, " {state}")),
            Some("mixed") => drop(write!(opened, " {state}=mixed")),
            _ => {}
        }
    }
    if let Some(expanded) = node.attribute("expanded") {
        let _ = write!(opened, " expanded={expanded}");
    }
    opened
}

fn describe(opened: &mut String, node: &Node) {
    if node.name.is_empty() {
        for (name, told) in [("placeholder", "placeholder"), ("href", "href"), ("named", "name")] {
            if let Some(value) = node.attribute(name) {
                quote(opened, told, value);
                break;
            }
        }
    }
    let held = node.attribute("value").filter(|value| fold(value) != node.name);
    if let Some(value) = held.filter(|_| node.role != "button") {
        quote(opened, "value", value);
    }
}

fn quote(opened: &mut String, name: &str, value: &str) {
    let _ = write!(opened, " {name}='{}'", line(value, TEXT));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::page::tree::DocumentId;

    fn control(tag: &str, name: &str, attributes: &[(&str, &str)]) -> Node {
        Node {
            parent: Some(0),
            tag: tag.into(),
            name: name.into(),
            interactive: true,
            reachable: true,
            in_viewport: true,
            attributes: attributes.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            ..Node::default()
        }
    }

    fn page(controls: Vec<Node>) -> Tree {
        let mut nodes = vec![Node { tag: "html".into(), ..Node::default() }];
        nodes.extend(controls);
        for (at, node) in nodes.iter_mut().enumerate().skip(1) {
            node.key = Some(NodeKey(100 + at as u32));
        }
        Tree {
            document: DocumentId("d".into()),
            url: "https://example.org/trending".into(),
            title: "Trending".into(),
            viewport: Viewport { width: 1280.0, height: 800.0, scroll_y: 0.0, page_height: 2100.0 },
            nodes,
            modal: None,
            notes: Vec::new(),
        }
    }

    fn list(controls: Vec<Node>) -> String {
        let text = payload(&page(controls), 1, &mut Numbering::default()).text;
        let list = text.split("\n\n").nth(1).unwrap_or_default();
        list.lines().skip(1).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_format_is_the_one_that_models_know_byte_for_byte() {
        let mut numbering = Numbering::default();
        let heading = Node {
            parent: Some(0),
            tag: "h1".into(),
            role: "heading".into(),
            attributes: vec![("level".into(), "1".into())],
            flow: crate::domain::page::tree::Flow::Block,
            ..Node::default()
        };
        let words = Node {
            parent: Some(3),
            tag: "#text".into(),
            name: "Trending".into(),
            ..Node::default()
        };
        let link = control("a", "Homepage", &[("href", "/")]);
        let tree = page(vec![link, control("button", "Platform", &[]), heading, words]);
        let observation = payload(&tree, 1, &mut numbering);
        assert_eq!(
            observation.text,
            "[page] url=https://example.org/trending | title='Trending' | viewport 1/3 | tabs=1\n\
             \n\
             [interactive] (viewport only; use index, or coordinate_x/coordinate_y for anything missing)\n  \
             0[:]<a>Homepage</a>\n  \
             1[:]<button>Platform</button>\n\
             \n\
             [markdown] (whole page, links/images stripped — if this answers the question, do not scroll)\n\
             [Platform]\n\
             # Trending\n"
        );
        let shown: Vec<u32> = observation.elements.iter().map(|shown| shown.id.0).collect();
        assert_eq!(shown, [0, 1]);
    }

    #[test]
    fn attributes_stand_only_where_the_tag_misleads() {
        let mut secret = control("input", "Password", &[("type", "password")]);
        secret.secret = true;
        let mut card = control("input", "Card number", &[("type", "text")]);
        card.secret = true;
        insta::assert_snapshot!(list(vec![
            secret,
            card,
            control("input", "", &[("type", "text"), ("placeholder", "Search")]),
            control("input", "Email", &[("type", "email"), ("value", "ada@example.org")]),
            control("input", "Remember me", &[("type", "checkbox"), ("checked", "true")]),
            control("select", "Country", &[("value", "France")]),
            control("a", "", &[("href", "/cart")]),
            control("button", "Menu", &[("expanded", "false"), ("disabled", "true")]),
            Node { role: "button".into(), ..control("div", "Like\n  it", &[("pressed", "true")]) },
            control("button", &"long ".repeat(40), &[]),
        ]), @r"
        0[:]<input type=password><redacted secret field></input>
        1[:]<input label='Card number'><redacted secret field></input>
        2[:]<input placeholder='Search'></input>
        3[:]<input type=email value='ada@example.org'>Email</input>
        4[:]<input type=checkbox checked>Remember me</input>
        5[:]<select value='France'>Country</select>
        6[:]<a href='/cart'></a>
        7[:]<button disabled expanded=false>Menu</button>
        8[:]<div role=button pressed>Like it</div>
        9[:]<button>long long long long long long long long long long long long long long long long long long long long…</button>
        ");
    }

    #[test]
    fn two_passwords_are_told_apart() {
        let secret =
            |name: &str| Node { secret: true, ..control("input", name, &[("type", "password")]) };
        assert_eq!(
            list(vec![secret("New password"), secret("Repeat it")]),
            "  0[:]<input type=password label='New password'><redacted secret field></input>\n  \
             1[:]<input type=password label='Repeat it'><redacted secret field></input>"
        );
    }

    #[test]
    fn what_is_covered_or_outside_the_viewport_gets_no_number() {
        let covered = Node { reachable: false, ..control("button", "Covered", &[]) };
        let below = Node { in_viewport: false, ..control("button", "Below", &[]) };
        let listed = list(vec![covered, below, control("button", "Here", &[])]);
        assert_eq!(listed, "  0[:]<button>Here</button>");
    }

    #[test]
    fn an_open_modal_limits_the_list_and_says_so() {
        let mut tree = page(vec![
            control("button", "Behind", &[]),
            Node { interactive: false, ..control("dialog", "Confirm", &[]) },
            Node { parent: Some(2), ..control("button", "Yes", &[]) },
            control("button", "After", &[]),
        ]);
        tree.modal = Some(2);
        let text = payload(&tree, 2, &mut Numbering::default()).text;
        assert!(text.contains(
            "[interactive] (viewport only; the open dialog 'Confirm' covers the rest; use index, or"
        ));
        assert!(text.contains("  0[:]<button>Yes</button>\n\n[markdown]"));
    }

    #[test]
    fn numbers_stay_when_the_page_grows_above_them() {
        let mut numbering = Numbering::default();
        let mut tree = page(vec![control("button", "Old", &[])]);
        payload(&tree, 1, &mut numbering);
        let newcomer = Node { key: Some(NodeKey(7)), ..control("button", "New", &[]) };
        tree.nodes.insert(1, newcomer);
        let text = payload(&tree, 1, &mut numbering).text;
        assert!(text.contains("  1[:]<button>New</button>\n  0[:]<button>Old</button>\n"));
    }

    #[test]
    fn the_viewport_is_counted_in_pages() {
        let at = |scroll_y: f64, page_height: f64| {
            pages(Viewport { width: 1280.0, height: 800.0, scroll_y, page_height })
        };
        assert_eq!(at(0.0, 800.0), (1, 1));
        assert_eq!(at(0.0, 2100.0), (1, 3));
        assert_eq!(at(800.0, 2100.0), (2, 3));
        assert_eq!(at(1300.0, 2100.0), (3, 3));
        assert_eq!(at(f64::NAN, f64::INFINITY).0, 1);
    }
}
