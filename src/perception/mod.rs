//! Pure: what runs in the page, and how its answer is read.
pub mod answers;
pub mod decode;
pub mod picture;
pub mod scripts;

#[cfg(test)]
mod recorded;
