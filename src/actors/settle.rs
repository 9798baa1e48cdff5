//! Answer first, then say whether the actor worked.
use crate::messages::Reply;
use crate::messages::inbox::Vitals;

/// Sends `outcome` to the caller. A good answer marks the actor as working, so that its next death
/// begins a new row. A caller that stopped waiting is not an error.
pub fn settle<T: Send + 'static, E: Send + 'static>(
    vitals: &Vitals,
    reply: Reply<T, E>,
    outcome: Result<T, E>,
) {
    if outcome.is_ok() {
        vitals.mark_served();
    }
    let _ = reply.send(outcome);
}
