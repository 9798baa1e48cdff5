//! What dies or hangs under the program, and how it goes on. Bounds of time are ten times as wide
//! as what is wanted; `bench/runtime` measures.
mod daemon;
mod deaths;
mod forms;
mod hangs;
mod logins;
mod many_tabs;
mod runs;
