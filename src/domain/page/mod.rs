//! A page, as it is read and shown.
pub mod numbering;
pub mod observation;
pub mod tree;
