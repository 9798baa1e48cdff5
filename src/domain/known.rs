//! Where a run may go: to what the user named, and to what it really saw. Pure.
use std::collections::HashSet;

use url::Url;

/// The addresses that a run knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    places: HashSet<String>,
    /// Hosts that the user named: their front page may be opened.
    hosts: HashSet<String>,
}

/// Why an address is not gone to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{url}` was neither named by the user nor seen as a link; open a page that leads there and follow its links"
)]
pub struct Guessed {
    pub url: String,
}

impl Known {
    /// Takes every address and host that a text of the user names.
    pub fn named(&mut self, text: &str) {
        let breaks = |c: char| {
            c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\'' | '`' | '(' | ')' | ',' | ';')
        };
        for word in text.split(breaks) {
            let word = word.trim_end_matches(['.', ':', '!', '?', '…', '。', '」', '”', ']']);
            let word = word.trim_start_matches(['[', '“', '„', '«', '「']);
            if let Some(url) = as_address(word) {
                self.hosts.insert(host(&url));
                self.saw(url.as_str());
            }
        }
    }

    /// Takes an address that was really seen, or been at.
    pub fn saw(&mut self, url: &str) {
        if let Ok(url) = Url::parse(url) {
            self.places.insert(place(&url));
        }
    }

    /// Says whether the run may go to `url`.
    ///
    /// # Errors
    /// When it comes from nowhere.
    pub fn may_open(&self, url: &str) -> Result<(), Guessed> {
        let guessed = || Guessed { url: url.to_owned() };
        let parsed = Url::parse(url).map_err(|_| guessed())?;
        let front = parsed.path() == "/" && parsed.query().is_none();
        let named = front && self.hosts.contains(&host(&parsed));
        if named || self.places.contains(&place(&parsed)) { Ok(()) } else { Err(guessed()) }
    }
}

/// The same page is the same place: with or without `www.`, by http or https, with or without a
/// slash at the end; a fragment is a part of it.
fn place(url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{}{query}", host(url), url.path().trim_end_matches('/'))
}

fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    let name = name.strip_prefix("www.").unwrap_or(&name);
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// A word that is an address, or a host with a dot or a port in it.
fn as_address(word: &str) -> Option<Url> {
    if word.contains("://") {
        return Url::parse(word).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    }
    let bare = word.split(['/', '?', '#']).next()?;
    let (name, port) = bare.split_once(':').map_or((bare, None), |(name, port)| (name, Some(port)));
    if port.is_some_and(|port| port.is_empty() || !port.chars().all(|c| c.is_ascii_digit())) {
        return None;
    }
    let last = name.rsplit('.').next()?;
    let worded =
        name.contains('.') && last.chars().count() >= 2 && last.chars().all(char::is_alphabetic);
    let local = name == "localhost" && port.is_some();
    let address =
        name.split('.').count() == 4 && name.split('.').all(|part| part.parse::<u8>().is_ok());
    // `report.md` is a file; who means the host writes its scheme.
    let file = ["md", "txt", "csv", "json", "pdf", "html", "js", "rs", "py"].contains(&last)
        && bare == word;
    (worded || local || address).then_some(())?;
    if file || word.contains('@') {
        return None;
    }
    Url::parse(&format!("https://{word}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(task: &str, seen: &[&str]) -> Known {
        let mut known = Known::default();
        known.named(task);
        seen.iter().for_each(|url| known.saw(url));
        known
    }

    #[test]
    fn what_the_user_named_may_be_opened() {
        let task = "Compare http://shop.localhost:8080/kettles?c=1, (www.example.com) and news.example.org/today. Mail ada@example.net";
        let known = known(task, &[]);
        for url in [
            "http://shop.localhost:8080/kettles?c=1",
            "http://shop.localhost:8080/kettles?c=1#top",
            "http://shop.localhost:8080/",
            "https://example.com/",
            "http://www.example.com",
            "https://news.example.org/today/",
            "https://news.example.org/",
        ] {
            assert_eq!(known.may_open(url), Ok(()), "{url}");
        }
        for url in [
            "http://shop.localhost:8080/admin",
            "http://shop.localhost:8080/kettles?c=2",
            "http://shop.localhost:9090/",
            "https://example.com/login",
            "https://evil.example/",
            "https://example.net/",
            "https://example.com.evil.example/",
            "javascript:alert(1)",
        ] {
            assert!(known.may_open(url).is_err(), "{url}");
        }
    }

    #[test]
    fn links_that_were_seen_may_be_opened_and_nothing_beside_them() {
        let known = known("Find it", &["https://a.example/p/1?x=2#y", "not an address"]);
        assert_eq!(known.may_open("https://a.example/p/1?x=2"), Ok(()));
        for url in ["https://a.example/p/2", "https://a.example/p", "https://a.example/", "nowhere"]
        {
            assert!(known.may_open(url).is_err(), "{url}");
        }
    }

    #[test]
    fn words_of_a_task_are_no_hosts() {
        let known =
            known("Write report.md e.g. about version 2.5 and Node.js; cost: 3.50, foo:bar", &[]);
        assert_eq!(known, Known::default());
    }
}
