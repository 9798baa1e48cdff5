//! Pure: what runs in the page, and how its answer is read.
