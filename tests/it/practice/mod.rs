//! The practice web over real HTTP, without a browser.
mod demo;
mod pages;
mod server;
mod visitor;
