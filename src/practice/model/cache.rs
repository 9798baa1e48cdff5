//! What answers cost, as a service with a prompt cache reckons it: block by block, and served only
//! where an earlier request ended a block with a breakpoint.
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::domain::cost::Usage;
use crate::practice::model::slips::Spoken;

/// How many blocks before a breakpoint are looked through for something that is kept.
const LOOK_BACK: usize = 20;

/// What is kept, and what was counted so far.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Beginnings of requests, up to and with a block that a breakpoint stood at.
    kept: HashSet<u64>,
    pub sum: Usage,
}

/// One block of a request, with all that stands before it.
struct Block {
    beginning: u64,
    /// Bytes of the request up to its end.
    bytes: usize,
    breakpoint: bool,
}

impl Cache {
    /// Counts a request and its answer; a token is four bytes.
    pub fn count(&mut self, body: &Value, spoken: &Spoken) -> Usage {
        let blocks = blocks(body);
        let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(0);
        let end = |block: Option<&Block>| tokens(block.map_or(0, |block| block.bytes));
        let input = end(blocks.last());
        let cached = end(self.served(&blocks));
        // Of chat completions it is not told what is kept.
        let upto = end(blocks.iter().rfind(|block| block.breakpoint));
        let written = if body["system"].is_array() { upto.saturating_sub(cached) } else { 0 };
        let kept = blocks.iter().filter(|block| block.breakpoint).map(|block| block.beginning);
        self.kept.extend(kept);
        let said = spoken.calls.iter().map(|call| call.args.to_string().len() + 20);
        let output = tokens(said.sum::<usize>() + spoken.text.len());
        let usage = Usage { input, output, cached, written };
        self.sum += usage;
        usage
    }

    /// Returns the last block up to which the request is kept.
    fn served<'a>(&self, blocks: &'a [Block]) -> Option<&'a Block> {
        let mut marked = (0..blocks.len()).rev().filter(|at| blocks[*at].breakpoint);
        marked.find_map(|at| {
            let near = &blocks[at.saturating_sub(LOOK_BACK)..=at];
            near.iter().rfind(|block| self.kept.contains(&block.beginning))
        })
    }
}

/// Tools, system and messages, in the order in which a service reads them. Chat completions are kept
/// wherever a block ends.
fn blocks(body: &Value) -> Vec<Block> {
    let chat = body.get("system").is_none();
    let list = |value: &Value| match value {
        Value::Array(items) => items.clone(),
        Value::Null => Vec::new(),
        other => vec![other.clone()],
    };
    let messages = body["messages"].as_array().into_iter().flatten().flat_map(|message| {
        let content = list(&message["content"]).into_iter();
        // What else a message says (its calls, in chat completions) stands with its role.
        let mut head = message.clone();
        head.as_object_mut().map(|head| head.shift_remove("content"));
        // A message of chat completions that only calls has no content.
        let none = content.len() == 0;
        content.chain(none.then_some(Value::Null)).map(move |block| (head.to_string(), block))
    });
    let before = list(&body["tools"]).into_iter().chain(list(&body["system"]));
    let all = before.map(|block| (String::new(), block)).chain(messages);
    let (mut hasher, mut bytes) = (DefaultHasher::new(), 0);
    all.map(|(head, block)| {
        let breakpoint = chat || block.get("cache_control").is_some();
        let text = head + &bare(block).to_string();
        text.hash(&mut hasher);
        bytes += text.len();
        Block { beginning: hasher.finish(), bytes, breakpoint }
    })
    .collect()
}

/// Breakpoints are no part of what is read.
fn bare(mut block: Value) -> Value {
    block.as_object_mut().map(|block| block.shift_remove("cache_control"));
    block
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::practice::model::slips::Stop;

    fn block(text: &str, breakpoint: bool) -> Value {
        let mut block = json!({ "type": "text", "text": text });
        if breakpoint {
            block["cache_control"] = json!({ "type": "ephemeral" });
        }
        block
    }

    fn request(blocks: &[(&str, bool)]) -> Value {
        let content: Vec<_> = blocks.iter().map(|(text, mark)| block(text, *mark)).collect();
        json!({ "system": [], "messages": [{ "role": "user", "content": content }] })
    }

    fn counted(cache: &mut Cache, body: &Value) -> Usage {
        let spoken = Spoken { text: String::new(), calls: vec![], stop: Stop::Done };
        cache.count(body, &spoken)
    }

    #[test]
    fn only_what_a_breakpoint_kept_is_served() {
        let mut cache = Cache::default();
        let first = counted(&mut cache, &request(&[("a", true), ("b", false)]));
        // Both blocks have the same length, but for rounding.
        let half = first.input.div_ceil(2);
        assert_eq!((first.cached, first.written), (0, half));
        let same = counted(&mut cache, &request(&[("a", false), ("b", true)]));
        assert_eq!(same.cached, first.written, "b was not kept the first time");
        let longer = counted(&mut cache, &request(&[("a", false), ("b", false), ("c", true)]));
        assert_eq!(longer.cached, same.input);
        let other = counted(&mut cache, &request(&[("x", false), ("b", false), ("c", true)]));
        assert_eq!(other.cached, 0);
        let without = counted(&mut cache, &request(&[("a", false), ("b", false)]));
        assert_eq!((without.cached, without.written), (0, 0));
    }

    #[test]
    fn what_lies_too_far_before_a_breakpoint_is_not_found() {
        let mut cache = Cache::default();
        let kept = counted(&mut cache, &request(&[("a", true)]));
        let after = |blocks: usize| {
            let mut all = vec![("a", false)];
            all.extend((0..blocks).map(|at| ("z", at + 1 == blocks)));
            request(&all)
        };
        let mut far = Cache { kept: cache.kept.clone(), ..Cache::default() };
        assert_eq!(counted(&mut far, &after(LOOK_BACK + 1)).cached, 0);
        assert_eq!(counted(&mut cache, &after(LOOK_BACK)).cached, kept.input);
    }
}
