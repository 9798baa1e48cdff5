//! A page, as it is read and shown.
pub mod change;
pub mod excerpt;
pub mod find;
pub mod markdown;
pub mod numbering;
pub mod observation;
pub mod outline;
pub mod payload;
pub mod render;
pub mod table;
pub mod text;
pub mod tree;
