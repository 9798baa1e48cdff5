//! What dies or hangs under the program, and how it goes on. Bounds of time are ten times as wide
//! as what is wanted; `bench/runtime` measures.
mod deaths;
mod forms;
mod logins;
mod runs;
