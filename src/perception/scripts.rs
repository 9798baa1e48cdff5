//! The library that runs in the page.
//!
//! Its files are real JavaScript, each with its contract at the head; here they become one script.

/// The library as one script: evaluate it once in an isolated world of each document. It defines
/// `globalThis.strawmanus`; each of its functions takes one parsed object and answers a string, JSON
/// text or a plain word. Evaluated again in the same world it does nothing, so that numbers stay.
pub const LIBRARY: &str = concat!(
    "(() => {\n'use strict';\nif (globalThis.strawmanus) return;\n",
    include_str!("js/reach.js"),
    include_str!("js/roles.js"),
    include_str!("js/names.js"),
    include_str!("js/states.js"),
    include_str!("js/visible.js"),
    include_str!("js/hits.js"),
    include_str!("js/describe.js"),
    include_str!("js/walk.js"),
    include_str!("js/resolve.js"),
    include_str!("js/probe.js"),
    include_str!("js/digest.js"),
    include_str!("js/operate.js"),
    include_str!("js/read.js"),
    include_str!("js/watch.js"),
    include_str!("js/secrets.js"),
    include_str!("js/library.js"),
    "})();\n",
);

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTIONS: [&str; 20] = [
        "walk",
        "resolve",
        "count",
        "visible",
        "probe",
        "probe_point",
        "probe_focus",
        "focused",
        "focus_for_fill",
        "assign",
        "select_option",
        "value_of",
        "scroll",
        "get",
        "text_has",
        "watch_begin",
        "watch_peek",
        "watch_end",
        "secrets",
        "page_values",
    ];

    #[test]
    fn every_function_of_the_contract_is_offered() {
        let offered =
            LIBRARY.split("Object.freeze({").nth(1).expect("the library offers an object");
        let names: Vec<&str> = offered
            .lines()
            .map_while(|line| (!line.starts_with("});")).then_some(line.trim()))
            .filter_map(|line| line.split([':', ',']).next())
            .filter(|name| !name.is_empty())
            .collect();
        assert_eq!(names, FUNCTIONS);
    }

    /// What would leave a trace in the page.
    #[test]
    fn nothing_in_it_writes_nodes_or_attributes() {
        for word in [
            "setAttribute",
            "appendChild",
            "insertBefore",
            "innerHTML =",
            ".append(",
            "attachShadow",
            "cloneNode",
        ] {
            assert!(!LIBRARY.contains(word), "{word}");
        }
    }
}
