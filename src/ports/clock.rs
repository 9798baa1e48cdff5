//! Wall time, for what people read and what is stored. Durations are tokio's.
use jiff::Timestamp;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}
