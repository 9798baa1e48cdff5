//! What a run leaves behind: `report.md`, `trace.json`, `guard.json`.

use crate::actors::orchestrator::looping::Loop;
use crate::domain::journal::{Entry, Standing};
use crate::domain::report;
use crate::messages::orchestrator::RunError;

impl Loop {
    pub async fn write_reports(
        &self,
        standing: &Standing,
        entries: &[Entry],
    ) -> Result<(), RunError> {
        let files = report::files(&self.order, standing, entries);
        for (name, text) in files.map_err(|error| RunError::Report(error.to_string()))? {
            let written =
                self.world.files.write(&self.order.folder.join(name), text.as_bytes()).await;
            written.map_err(|error| RunError::Report(error.to_string()))?;
        }
        Ok(())
    }
}
