//! Scripts: in the page's own world, and the library's functions in ours.
use chromiumoxide_cdp::cdp::browser_protocol::page::CreateIsolatedWorldParams;
use chromiumoxide_cdp::cdp::js_protocol::runtime::{EvaluateParams, ExecutionContextId, TimeDelta};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;

use crate::cdp::attach::WORLD;
use crate::cdp::attached::{Attached, Deadline, Interrupted};
use crate::cdp::errors::{CallError, FAILED};
use crate::cdp::standing::World;
use crate::ports::page::PageError;

/// A script that runs on past its deadline is ended by the browser a moment later, so that it
/// does not hold the page for ever.
const GRACE: Duration = Duration::from_millis(50);
/// The whole message, with [`FAILED`], for a context that was gone before the script could run.
const NO_CONTEXT: &str = "Cannot find context with specified id";

/// The part of an evaluation's answer that is read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: Remote,
    exception_details: Option<Exception>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remote {
    value: Option<Box<RawValue>>,
    unserializable_value: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Exception {
    text: String,
    exception: Option<Remote>,
}

impl Evaluated {
    /// Returns the value as JSON text; what JSON has no word for (`NaN`, `12n`) as a string.
    fn json(self) -> Result<String, PageError> {
        if let Some(exception) = self.exception_details {
            return Err(PageError::Threw(exception.first_line()));
        }
        let Remote { value, unserializable_value, .. } = self.result;
        Ok(match (value, unserializable_value) {
            (Some(value), _) => value.get().to_owned(),
            (None, Some(word)) => serde_json::Value::String(word).to_string(),
            (None, None) => "null".to_owned(),
        })
    }
}

impl Exception {
    fn first_line(self) -> String {
        let thrown = self.exception.map(|thrown| {
            let value = thrown.value.map(|value| value.get().to_owned());
            thrown.description.or(value).or(thrown.unserializable_value)
        });
        let said = thrown.flatten().unwrap_or(self.text);
        said.lines().next().unwrap_or_default().to_owned()
    }
}

impl Attached {
    /// Evaluates in the page's own world, as if its user had just acted.
    pub async fn evaluate(&self, script: &str, patience: Duration) -> Result<String, PageError> {
        let number = self.number();
        let mut command = EvaluateParams::new(script);
        command.user_gesture = Some(true);
        let evaluated = self.run(command, patience).await;
        match evaluated {
            Ok(evaluated) => evaluated.json(),
            Err(error) => Err(self.explain(error, number, ("the script", patience)).await),
        }
    }

    /// Calls a function of the library; a string comes back as plain text, the rest as JSON.
    pub async fn call_library(
        &self,
        function: &'static str,
        argument: &str,
        patience: Duration,
    ) -> Result<String, PageError> {
        let script = format!("{WORLD}.{function}({argument})");
        let json = self.in_world(&script, function, patience).await?;
        if json.starts_with('"') {
            return serde_json::from_str(&json)
                .map_err(|error| PageError::Refused { what: function, why: error.to_string() });
        }
        Ok(json)
    }

    /// Evaluates in the isolated world. Once more when its context was gone before it ran.
    pub async fn in_world(
        &self,
        script: &str,
        what: &'static str,
        patience: Duration,
    ) -> Result<String, PageError> {
        let deadline = Deadline::after(patience);
        let mut again = true;
        loop {
            let number = self.number();
            let error = match self.once_in_world(script, &deadline).await {
                Ok(evaluated) => return evaluated.json(),
                Err(error) => error,
            };
            if again && error.is_no_context() {
                again = false;
            } else {
                return Err(self.explain(error, number, (what, patience)).await);
            }
        }
    }

    async fn once_in_world(
        &self,
        script: &str,
        deadline: &Deadline,
    ) -> Result<Evaluated, Interrupted> {
        let world = self.world(deadline).await?;
        let mut command = EvaluateParams::new(script);
        command.context_id = Some(ExecutionContextId::new(world.context));
        let evaluated = self.run(command, deadline.left()).await;
        if evaluated.as_ref().is_err_and(Interrupted::is_no_context) {
            self.standing.send_if_modified(|page| page.world.take_if(|at| *at == world).is_some());
        }
        evaluated
    }

    /// Returns the isolated world's context in the main frame, with the library in it.
    async fn world(&self, deadline: &Deadline) -> Result<World, Interrupted> {
        let (known, frame) = {
            let page = self.standing.borrow();
            (page.world, page.frame.clone())
        };
        if let Some(world) = known.filter(|world| world.equipped) {
            return Ok(world);
        }
        let mut command = CreateIsolatedWorldParams::new(frame);
        command.world_name = Some(WORLD.to_owned());
        let created: Created = self.ask_page(command, deadline.left()).await?;
        let context = created.execution_context_id;
        let mut look = EvaluateParams::new(format!("typeof {WORLD}"));
        look.context_id = Some(ExecutionContextId::new(context));
        let found = self.run(look, deadline.left()).await?;
        if found.json().is_ok_and(|kind| kind == "\"undefined\"") {
            let mut equip = EvaluateParams::new(self.library);
            equip.context_id = Some(ExecutionContextId::new(context));
            self.run(equip, deadline.left()).await?;
        }
        let world = World { context, equipped: true };
        self.standing.send_modify(|page| page.world = Some(world));
        Ok(world)
    }

    async fn run(
        &self,
        mut command: EvaluateParams,
        patience: Duration,
    ) -> Result<Evaluated, Interrupted> {
        command.await_promise = Some(true);
        command.return_by_value = Some(true);
        command.timeout = Some(TimeDelta::new((patience + GRACE).as_secs_f64() * 1e3));
        self.ask_page(command, patience).await
    }
}

impl Interrupted {
    /// The context was gone before the script ran: it is safe to run it in another.
    fn is_no_context(&self) -> bool {
        matches!(
            self,
            Self::Call(CallError::Protocol { code: FAILED, message }) if message == NO_CONTEXT
        )
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    execution_context_id: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<String, PageError> {
        serde_json::from_str::<Evaluated>(json).unwrap().json()
    }

    #[test]
    fn values_come_back_as_json() {
        for (answer, json) in [
            (r#"{"result":{"type":"number","value":7}}"#, "7"),
            (r#"{"result":{"type":"string","value":"a\"b"}}"#, r#""a\"b""#),
            (r#"{"result":{"type":"undefined"}}"#, "null"),
            (r#"{"result":{"type":"object","subtype":"null","value":null}}"#, "null"),
            (r#"{"result":{"type":"number","unserializableValue":"NaN"}}"#, "\"NaN\""),
            (r#"{"result":{"type":"object","value":{"a":[1]}}}"#, r#"{"a":[1]}"#),
        ] {
            assert_eq!(read(answer).unwrap(), json, "{answer}");
        }
    }

    #[test]
    fn an_exception_is_its_first_line() {
        for (answer, said) in [
            (
                r#"{"result":{},"exceptionDetails":{"text":"Uncaught","exception":{"description":"TypeError: no\n    at x"}}}"#,
                "TypeError: no",
            ),
            (
                r#"{"result":{},"exceptionDetails":{"text":"Uncaught","exception":{"value":7}}}"#,
                "7",
            ),
            (r#"{"result":{},"exceptionDetails":{"text":"Uncaught"}}"#, "Uncaught"),
        ] {
            assert_eq!(read(answer), Err(PageError::Threw(said.into())));
        }
    }
}
