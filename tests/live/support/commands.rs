//! More ways to give a command.
use crate::support::shell::{Done, Shell, done, now};

impl Shell {
    /// Runs a command as it is, in an environment that differs in these.
    pub fn plain_with(&self, environment: &[(&str, &str)], words: &[&str]) -> Done {
        let began = now();
        let mut command = self.command(words);
        let output = command.envs(environment.iter().copied()).output().unwrap();
        done(output, began.elapsed())
    }

    /// Returns the number that a snapshot gives the element of this role and name: `e7`.
    pub fn number_of(&self, role: &str, name: &str) -> String {
        let seen = self.run(&["snapshot"]).good();
        let refs = seen.data("refs").as_object().unwrap();
        let found = refs.iter().find(|(_, at)| at["role"] == role && at["name"] == name);
        found.unwrap_or_else(|| panic!("no {role} {name}: {seen:#?}")).0.clone()
    }
}

impl Done {
    /// The kind of the error; empty without one.
    pub fn kind(&self) -> &str {
        self.json["error"]["kind"].as_str().unwrap_or_default()
    }
}
