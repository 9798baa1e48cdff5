//! Fakes for the ports, and a house over them. A fake is a script of faults over a world that works.
pub mod house;
pub mod memory;
pub mod model;
pub mod web;
