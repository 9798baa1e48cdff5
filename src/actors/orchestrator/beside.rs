//! The calls beside the browser: facts, files, words to the person.

use std::path::PathBuf;

use crate::actors::orchestrator::deeds::Deed;
use crate::actors::orchestrator::looping::Loop;
use crate::domain::discretion::safe_path;
use crate::domain::journal::{Event, Fact, Need, Source};
use crate::domain::tool::{Stated, ToolCall};
use crate::messages::orchestrator::RunError;
use crate::ports::files::FileError;

/// Bytes that a file of the agent may have.
const LARGEST: usize = 1 << 20;
/// Characters of a file that are told.
const TOLD: usize = 24_000;

impl Loop {
    /// Does a call that needs no page; none where it is not one.
    pub async fn beside(&mut self, step: u32, call: &ToolCall) -> Result<Option<Deed>, RunError> {
        Ok(Some(match call {
            ToolCall::RecordFact(stated) => self.record_fact(step, stated).await?,
            ToolCall::NotifyUser { text } => {
                self.record(Event::Notified { step, text: text.clone() }).await?;
                Deed::told("told", vec![])
            }
            ToolCall::AskUser { question } => {
                self.consult(step, Need::Answer { question: question.clone() }).await?
            }
            ToolCall::Takeover { reason, suggestion } => {
                let (reason, suggestion) = (reason.clone(), suggestion.clone());
                self.hand_over(step, Need::Takeover { reason, suggestion }).await?
            }
            ToolCall::FileRead { path } => told(self.read_file(path).await),
            ToolCall::FileWrite { path, text } => told(self.write_file(path, text).await),
            ToolCall::FileList {} => told(self.list_files().await),
            _ => return Ok(None),
        }))
    }

    /// A person takes over in the browser's window; one without a window gets one first.
    async fn hand_over(&mut self, step: u32, need: Need) -> Result<Deed, RunError> {
        if !self.order.attended {
            let hint = "go on without, or finish and say in incomplete_reason what lacks";
            return Ok(Deed::refused("nobody is there to take over", hint));
        }
        if self.worker.is_headless() {
            if !self.order.display {
                let why = "the browser has no window, and there is no display to open one on";
                let hint = "the user can set DISPLAY, or start Chrome with --remote-debugging-port=9222 and run with --cdp 127.0.0.1:9222";
                return Ok(Deed::refused(why, hint));
            }
            if let Err(error) = self.worker.restart(Some(true)).await {
                return Ok(Deed::refused(error.to_string(), error.hint()));
            }
        }
        self.consult(step, need).await
    }

    /// A fact counts with the page that it was read on, and that page was really opened.
    async fn record_fact(&mut self, step: u32, stated: &Stated) -> Result<Deed, RunError> {
        let Some(source) = self.opened(&stated.url) else {
            let why = format!("`{}` was not opened in this run", stated.url);
            return Ok(Deed::refused(why, "open the page and read it there, then record the fact"));
        };
        let Stated { claim, entity, attribute, value, unit, .. } = stated.clone();
        let fact = Fact { claim, entity, attribute, value, unit, sources: vec![source] };
        self.record(Event::Recorded { step, fact }).await?;
        let facts = match self.standing.facts.len() {
            1 => "1 fact so far".to_owned(),
            facts => format!("{facts} facts so far"),
        };
        Ok(Deed::told("recorded", vec![facts]))
    }

    /// A page that the run really read.
    fn opened(&self, url: &str) -> Option<Source> {
        let wanted = without_fragment(url)?;
        self.read_pages
            .iter()
            .rev()
            .find(|page| without_fragment(&page.url).as_ref() == Some(&wanted))
            .cloned()
    }

    fn files(&self) -> PathBuf {
        self.order.folder.join("files")
    }

    async fn read_file(&self, path: &str) -> Result<Deed, String> {
        let path = self.files().join(safe_path(path).map_err(|error| error.to_string())?);
        let bytes = self.world.files.read(&path).await.map_err(said)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<String> = Vec::new();
        let mut left = TOLD;
        for line in text.lines() {
            let long = line.chars().count();
            if long > left {
                lines.push("… the file goes on".into());
                break;
            }
            left -= long;
            lines.push(line.to_owned());
        }
        Ok(Deed::told("read", lines))
    }

    async fn write_file(&self, path: &str, text: &str) -> Result<Deed, String> {
        let safe = safe_path(path).map_err(|error| error.to_string())?;
        if text.len() > LARGEST {
            return Err(format!("a file may have {LARGEST} bytes; write it in parts"));
        }
        self.world.files.write(&self.files().join(safe), text.as_bytes()).await.map_err(said)?;
        Ok(Deed::told("written", vec![format!("{path}: {} bytes", text.len())]))
    }

    async fn list_files(&self) -> Result<Deed, String> {
        let listed = self.world.files.list(&self.files()).await.map_err(said)?;
        let mut lines: Vec<_> =
            listed.iter().map(|file| format!("{} ({} bytes)", file.path, file.bytes)).collect();
        if lines.is_empty() {
            lines.push("no files yet".into());
        }
        Ok(Deed::told("listed", lines))
    }
}

/// Where the run's folder lies is nothing that a model needs.
fn said(error: FileError) -> String {
    let name = error.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    format!("cannot {} {name}: {}", error.what, error.why)
}

fn told(done: Result<Deed, String>) -> Deed {
    done.unwrap_or_else(|why| Deed::refused(why, "see file_list for what there is"))
}

fn without_fragment(url: &str) -> Option<url::Url> {
    let mut url = url::Url::parse(url).ok()?;
    url.set_fragment(None);
    Some(url)
}
