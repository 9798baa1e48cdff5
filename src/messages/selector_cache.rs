//! What the selector cache takes: what was found for which words, per domain.
use serde::{Deserialize, Serialize};

use crate::messages::Reply;

/// The selector cache protocol.
#[derive(Debug)]
pub enum SelectorCacheMsg {
    /// What is known for these words on this domain?
    Look { key: CacheKey, reply: Reply<Option<CacheEntry>, CacheError> },
    /// It led to the right element (a hit), or it did not (a miss).
    Count { key: CacheKey, hit: bool, reply: Reply<(), CacheError> },
    /// Remember, in place of what was known.
    Keep { key: CacheKey, selector: String, fingerprint: Fingerprint, reply: Reply<(), CacheError> },
    /// Everything known, of one domain or of all.
    List { domain: Option<String>, reply: Reply<Vec<(CacheKey, CacheEntry)>, CacheError> },
    /// Forget, of one domain or of all; answers how many.
    Clear { domain: Option<String>, reply: Reply<usize, CacheError> },
}

/// Words on a domain.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CacheKey {
    pub domain: String,
    /// Lower case, white space folded.
    pub description: String,
}

impl CacheKey {
    pub fn new(domain: &str, description: &str) -> Self {
        let words: Vec<_> = description.split_whitespace().map(str::to_lowercase).collect();
        Self { domain: domain.to_ascii_lowercase(), description: words.join(" ") }
    }
}

/// What was found, and how it fared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEntry {
    pub selector: String,
    pub fingerprint: Fingerprint,
    pub hits: u32,
    pub misses: u32,
}

/// What the element looked like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    pub tag: String,
    pub role: String,
    pub text_hash: u64,
}

/// Why the cache did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    #[error("the store failed: {0}")]
    Store(String),
}
