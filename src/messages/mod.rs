//! What actors say to one another, and how they are reached.
pub mod address;
pub mod board;
pub mod books;
pub mod directory;
pub mod doors;
pub mod guard;
pub mod inbox;
pub mod ledger;
pub mod obituaries;
pub mod orchestrator;
pub mod pace;
pub mod perception;
pub mod selector_cache;
pub mod session;
pub mod supervisor;
pub mod tab;

/// Where the answer to an ask goes.
pub type Reply<T, E> = ractor::RpcReplyPort<Result<T, E>>;
