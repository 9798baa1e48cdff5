//! Words that nobody can foresee.

pub trait Nonces: Send + Sync + 'static {
    /// Draws a new one: 16 hexadecimal digits.
    fn draw(&self) -> String;
}
