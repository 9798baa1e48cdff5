//! The events of an answer as they come. A service that falls silent is given up on.
use std::time::Duration;

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt, stream};
use reqwest::Response;
use tokio::time::timeout;

use crate::model::failure::{Failure, deepest};
use crate::ports::model::ModelError;

/// Waits for what a service sends next; `stall` is how long it may say nothing.
pub(super) async fn within<T>(
    stall: Duration,
    coming: impl Future<Output = T>,
) -> Result<T, Failure> {
    let silent = |_| Failure::passing(ModelError::Silent { seconds: stall.as_secs() });
    timeout(stall, coming).await.map_err(silent)
}

/// Returns the data of each event of an answer.
pub(super) fn events(
    response: Response,
    stall: Duration,
) -> impl Stream<Item = Result<String, Failure>> + Unpin {
    let chunks = stream::unfold(Some(response), move |response| async move {
        let mut response = response?;
        let chunk = within(stall, response.chunk())
            .await
            .and_then(|chunk| chunk.map_err(|error| Failure::broken_off(deepest(&error))));
        match chunk {
            Ok(Some(bytes)) => Some((Ok(bytes), Some(response))),
            Ok(None) => None,
            Err(failure) => Some((Err(failure), None)),
        }
    });
    let events = chunks.eventsource().map(|event| match event {
        Ok(Event { data, .. }) => Ok(data),
        Err(EventStreamError::Transport(failure)) => Err(failure),
        Err(EventStreamError::Utf8(_)) => Err(Failure::broken_off("it is no UTF-8")),
        Err(EventStreamError::Parser(_)) => Err(Failure::broken_off("it is no stream of events")),
    });
    Box::pin(events)
}

/// Reads a body to its end.
pub(super) async fn body(mut response: Response, stall: Duration) -> Result<String, Failure> {
    let mut body = Vec::new();
    while let Some(bytes) = within(stall, response.chunk())
        .await?
        .map_err(|error| Failure::broken_off(deepest(&error)))?
    {
        body.extend_from_slice(&bytes);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}
