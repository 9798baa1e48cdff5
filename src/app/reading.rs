//! The verbs that read a page: a picture of it, its words, one of its elements.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::browsing::target_of;
use crate::app::told::trouble;
use crate::app::{Call, Told};
use crate::control::answer::Answer;
use crate::domain::ids::TabId;
use crate::domain::outcome::OutcomeKind;
use crate::domain::page::excerpt::excerpt;
use crate::domain::page::find::{Finding, find};
use crate::domain::page::observation::{Observation, Shown, View};
use crate::messages::tab::{PictureOrder, TabMsg};
use crate::store::files::replace;

/// Characters of an extract when nobody says.
const EXTRACT: usize = 4_000;

impl Call<'_> {
    pub async fn screenshot(
        &self,
        target: Option<&str>,
        (full_page, marks): (bool, bool),
        output: Option<&Path>,
    ) -> Told<Answer> {
        let target = target.map(|target| target_of(target, None)).transpose()?;
        let order = PictureOrder { target, full_page, marks };
        let tab = self.tab_id().await?;
        let shoot = |patience, reply| TabMsg::Picture { order: order.clone(), patience, reply };
        let picture = self.ask_tab(tab, self.action_time(), shoot).await?;
        let path = self.picture_path(tab, output);
        self.save(path.clone(), picture.png).await?;
        let (width, height) = (picture.width, picture.height);
        let data = json!({ "tab": tab, "path": path, "width": width, "height": height });
        let mut answer = Answer::told(format!("{} ({width}x{height})", path.display()), data);
        if picture.cut {
            answer.warnings.push("the page is larger than a picture can be, and was cut".into());
        }
        Ok(answer)
    }

    /// A file that is named lies where the command was called, others in the folder for them.
    fn picture_path(&self, tab: TabId, output: Option<&Path>) -> PathBuf {
        if let Some(output) = output {
            return self.request.context.folder.join(output);
        }
        let folder = self.app.home.below(&self.config.folders.screenshots);
        let moment = format!("{:.3}", self.app.world.clock.now()).replace(':', "-");
        folder.join(format!("{moment}-{tab}.png"))
    }

    async fn save(&self, path: PathBuf, png: Vec<u8>) -> Told<()> {
        let to = path.clone();
        let written = tokio::task::spawn_blocking(move || replace(&to, &png)).await;
        let why = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        trouble(
            "disk",
            format!("cannot write {}: {why}; choose another file with -o", path.display()),
        )
    }

    pub async fn find(&self, words: &str) -> Told<Answer> {
        let tab = self.tab_id().await?;
        let seen = self.view(tab, View::Operable).await?;
        let lines = |shown: &[&Shown]| shown.iter().map(|shown| told(shown)).collect::<Vec<_>>();
        Ok(match find(words, &seen.elements) {
            Finding::One(shown) => {
                let (role, name, bounds) = (&shown.role, &shown.name, shown.bounds);
                let id = shown.id.to_string();
                let data =
                    json!({ "tab": tab, "ref": id, "role": role, "name": name, "box": bounds });
                Answer::told(told(shown), data)
            }
            Finding::Several(fits) => {
                let fits = lines(&fits);
                let why = format!("{} elements fit `{words}`: {}", fits.len(), fits.join("; "));
                Answer::acted(OutcomeKind::Ambiguous, why)
                    .with_hint("use the number of the one that is meant, or say more of it")
                    .with_data(json!({ "fits": fits }))
            }
            Finding::Nothing(near) => {
                let near = lines(&near);
                let nearest = if near.is_empty() {
                    String::new()
                } else {
                    format!("; the nearest: {}", near.join("; "))
                };
                Answer::acted(OutcomeKind::NotFound, format!("nothing fits `{words}`{nearest}"))
                    .with_hint("`snapshot -i` shows everything that can be operated")
                    .with_data(json!({ "near": near }))
            }
        })
    }

    pub async fn extract(&self, query: &str, most: Option<usize>) -> Told<Answer> {
        let tab = self.tab_id().await?;
        let seen = self.view(tab, View::Payload).await?;
        let text = excerpt(seen.markdown(), query, most.unwrap_or(EXTRACT));
        Ok(Answer::told(text.clone(), words_of(tab, &seen, &text)))
    }

    pub async fn read(&self) -> Told<Answer> {
        let tab = self.tab_id().await?;
        let seen = self.view(tab, View::Payload).await?;
        let data = words_of(tab, &seen, seen.markdown());
        Ok(Answer::told(seen.markdown(), data))
    }
}

fn words_of(tab: TabId, seen: &Observation, text: &str) -> Value {
    json!({ "tab": tab, "url": seen.url, "title": seen.title, "text": text })
}

/// `e12 button "Send"`.
fn told(shown: &Shown) -> String {
    let role = if shown.role.is_empty() { "clickable" } else { &shown.role };
    format!("{} {role} \"{}\"", shown.id, shown.name.replace('"', "'"))
}
