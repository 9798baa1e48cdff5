//! Filling in the texts of `site/`.

/// Text that is safe to put into a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Html(String);

impl Html {
    /// Escapes `text`, for use as text or inside a quoted attribute.
    pub fn text(text: &str) -> Self {
        let mut safe = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                '&' => safe.push_str("&amp;"),
                '<' => safe.push_str("&lt;"),
                '>' => safe.push_str("&gt;"),
                '"' => safe.push_str("&quot;"),
                '\'' => safe.push_str("&#39;"),
                other => safe.push(other),
            }
        }
        Self(safe)
    }

    /// Takes `html` as it is: only for what we wrote ourselves.
    pub fn raw(html: impl Into<String>) -> Self {
        Self(html.into())
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Self {
        Self(parts.into_iter().map(|part| part.0).collect::<Vec<_>>().join("\n"))
    }
}

/// Returns `template` without the comment at its head (that is for its readers), each `{{name}}`
/// replaced by its value. What has no value stays, so that it is seen; values are not filled again.
pub fn fill(template: &str, values: &[(&str, &Html)]) -> Html {
    let mut rest = without_contract(template);
    let mut filled = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let value = after.split_once("}}").and_then(|(name, tail)| {
            let (_, value) = values.iter().find(|(key, _)| *key == name)?;
            Some((value, tail))
        });
        rest = match value {
            Some((value, tail)) => {
                filled.push_str(&value.0);
                tail
            }
            None => {
                filled.push_str("{{");
                after
            }
        };
    }
    filled.push_str(rest);
    Html(filled)
}

/// Returns what stands after the comment that every file of `site/` begins with.
pub fn without_contract(file: &str) -> &str {
    match file.strip_prefix("<!--").and_then(|rest| rest.split_once("-->")) {
        Some((_, text)) => text.trim_start(),
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_values_are_not_filled_again() {
        let name = Html::text("<b title=\"x\">Finch & 'Fern' {{b}}</b>");
        let filled =
            fill("<!-- a, b -->\n{{a}}|{{b}}|{{c}}", &[("a", &name), ("b", &Html::raw("<i>"))]);
        assert_eq!(
            filled.into_string(),
            "&lt;b title=&quot;x&quot;&gt;Finch &amp; &#39;Fern&#39; {{b}}&lt;/b&gt;|<i>|{{c}}"
        );
    }
}
