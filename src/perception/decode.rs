//! From the walker's answer to a tree.
//!
//! Pure, and it never panics: a page that breaks the walker must not break its reader.
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::domain::page::tree::{DocumentId, Flow, Node, NodeKey, Tree, Viewport};

/// The version of the record that this reader knows.
const VERSION: u32 = 1;
/// Bytes of one answer; the walker ends long before.
const MOST_BYTES: usize = 16 << 20;
const MOST_NODES: usize = 100_000;

/// Why an answer of the library cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("an answer of {0} bytes is too long")]
    TooLong(usize),
    #[error("it is not the JSON that was agreed on: {0}")]
    NotJson(String),
    #[error("its format is version {0}; only version {VERSION} is known")]
    Version(u32),
    #[error("node {at} names node {parent} as its parent, which does not stand before it")]
    BadParent { at: usize, parent: i64 },
    #[error("it names node {0} as the open modal, and has no such node")]
    BadModal(usize),
    #[error("it has {0} nodes, more than can be")]
    TooMany(usize),
}

#[derive(Debug, Deserialize)]
struct Record {
    v: u32,
    document: DocumentId,
    url: String,
    title: String,
    /// Width, height, scroll position, height of the page.
    viewport: [f64; 4],
    modal: Option<usize>,
    #[serde(default)]
    notes: Vec<String>,
    nodes: Vec<Item>,
}

/// One node as the walker writes it; what it leaves out at the end is nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item(i64, String, String, String, u32, u32, Option<[f64; 4]>, Vec<String>);

// The bits of an item's flags.
const INTERACTIVE: u32 = 1;
const REACHABLE: u32 = 2;
const IN_VIEWPORT: u32 = 4;
const SECRET: u32 = 8;
const BLOCK: u32 = 16;
const APART: u32 = 32;

/// Reads the answer of `walk`.
///
/// # Errors
/// When it is too long, no JSON of the known version, or no tree.
pub fn decode(raw: &str) -> Result<Tree, DecodeError> {
    let record: Record = parse(raw)?;
    if record.v != VERSION {
        return Err(DecodeError::Version(record.v));
    }
    if record.nodes.len() > MOST_NODES {
        return Err(DecodeError::TooMany(record.nodes.len()));
    }
    if let Some(modal) = record.modal.filter(|modal| *modal >= record.nodes.len()) {
        return Err(DecodeError::BadModal(modal));
    }
    let nodes = record.nodes.into_iter().enumerate();
    let [width, height, scroll_y, page_height] = record.viewport;
    Ok(Tree {
        document: record.document,
        url: record.url,
        title: record.title,
        viewport: Viewport { width, height, scroll_y, page_height },
        nodes: nodes.map(|(at, item)| node(at, item)).collect::<Result<_, _>>()?,
        modal: record.modal,
        notes: record.notes,
    })
}

/// Reads any other answer of the library: see `perception::answers` for their shapes.
///
/// # Errors
/// When it is too long or not of the shape.
pub fn parse<T: DeserializeOwned>(raw: &str) -> Result<T, DecodeError> {
    if raw.len() > MOST_BYTES {
        return Err(DecodeError::TooLong(raw.len()));
    }
    serde_json::from_str(raw).map_err(|error| DecodeError::NotJson(error.to_string()))
}

fn node(at: usize, item: Item) -> Result<Node, DecodeError> {
    let Item(parent, tag, role, name, key, flags, bounds, states) = item;
    let parent = match usize::try_from(parent) {
        Ok(before) if before < at => Some(before),
        Err(_) if parent == -1 => None,
        _ => return Err(DecodeError::BadParent { at, parent }),
    };
    let has = |flag: u32| flags & flag != 0;
    let secret = has(SECRET);
    Ok(Node {
        parent,
        tag,
        role,
        name,
        key: (key != 0).then_some(NodeKey(key)),
        interactive: has(INTERACTIVE),
        reachable: has(REACHABLE),
        in_viewport: has(IN_VIEWPORT),
        bounds,
        secret,
        attributes: paired(states).filter(|(name, _)| !(secret && name == "value")).collect(),
        flow: if has(BLOCK) {
            Flow::Block
        } else if has(APART) {
            Flow::Apart
        } else {
            Flow::Inline
        },
    })
}

fn paired(states: Vec<String>) -> impl Iterator<Item = (String, String)> {
    let mut words = states.into_iter();
    std::iter::from_fn(move || Some((words.next()?, words.next()?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(nodes: &str) -> String {
        format!(
            r#"{{"v":1,"document":"d","url":"https://a.example/","title":"A","viewport":[1280,800,0,900],"modal":null,"notes":[],"nodes":{nodes}}}"#
        )
    }

    #[test]
    fn what_is_left_out_at_the_end_is_nothing() {
        let tree = decode(&record(
            r##"[[-1,"html","","",0,20],[0,"#text","","hi"],[0,"input","textbox","Key",7,15,[1,2.5,3,4],["type","password","value","x"]]]"##,
        ))
        .unwrap();
        assert_eq!(tree.nodes[0].flow, Flow::Block);
        assert_eq!(tree.nodes[1].name, "hi");
        let field = &tree.nodes[2];
        assert_eq!(
            (field.parent, field.key, field.bounds),
            (Some(0), Some(NodeKey(7)), Some([1.0, 2.5, 3.0, 4.0]))
        );
        assert!(field.interactive && field.reachable && field.in_viewport && field.secret);
        assert_eq!(field.attributes, [("type".to_owned(), "password".to_owned())]);
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let bad = |nodes: &str| decode(&record(nodes)).unwrap_err();
        assert_eq!(bad(r#"[[0,"html","",""]]"#), DecodeError::BadParent { at: 0, parent: 0 });
        assert_eq!(bad(r#"[[-2,"html","",""]]"#), DecodeError::BadParent { at: 0, parent: -2 });
        assert!(matches!(bad(r#"[[-1,7]]"#), DecodeError::NotJson(_)));
        let other = record("[]").replace(r#""v":1"#, r#""v":2"#);
        assert_eq!(decode(&other).unwrap_err(), DecodeError::Version(2));
        let modal = record("[]").replace("\"modal\":null", "\"modal\":0");
        assert_eq!(decode(&modal).unwrap_err(), DecodeError::BadModal(0));
        assert_eq!(
            decode(&" ".repeat(MOST_BYTES + 1)).unwrap_err(),
            DecodeError::TooLong(MOST_BYTES + 1)
        );
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(raw in "\\PC{0,200}") {
            let _ = decode(&raw);
        }

        #[test]
        fn no_nodes_make_it_panic(nodes in prop::collection::vec((-3i64..6, "[a-z#]{0,5}", any::<u32>(), any::<u32>()), 0..12)) {
            let items: Vec<String> = nodes.iter()
                .map(|(parent, tag, key, flags)| format!(r#"[{parent},"{tag}","","n",{key},{flags},null,["a"]]"#))
                .collect();
            if let Ok(tree) = decode(&record(&format!("[{}]", items.join(",")))) {
                prop_assert!(tree.nodes.iter().enumerate().all(|(at, node)| node.parent.is_none_or(|parent| parent < at)));
            }
        }
    }
}
