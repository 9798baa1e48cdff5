//! Finds an element by words, without a model: its role and its name, exactly or nearly. Pure.
use crate::domain::page::observation::Shown;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding<'a> {
    One(&'a Shown),
    /// Several fit as well; the best first.
    Several(Vec<&'a Shown>),
    /// Nothing fits; what is nearest, the best first.
    Nothing(Vec<&'a Shown>),
}

/// How many candidates are told.
const CANDIDATES: usize = 5;
/// Below this, an element is no answer; above, it may be one.
const FITS: f64 = 0.6;
/// How much better than the next the best must be.
const CLEAR: f64 = 0.12;

/// Words for roles, in the languages that people describe pages in.
const ROLES: &[(&str, &[&str])] = &[
    (
        "button",
        &[
            "button",
            "schaltfläche",
            "knopf",
            "bouton",
            "botón",
            "кнопка",
            "кнопку",
            "버튼",
            "ボタン",
            "按钮",
        ],
    ),
    ("link", &["link", "lien", "enlace", "ссылка", "ссылку", "링크", "リンク", "链接"]),
    (
        "textbox",
        &[
            "field",
            "textbox",
            "input",
            "box",
            "feld",
            "eingabefeld",
            "champ",
            "campo",
            "поле",
            "입력란",
            "欄",
            "输入框",
        ],
    ),
    ("searchbox", &["search", "searchbox", "field", "box", "input"]),
    (
        "combobox",
        &["dropdown", "combobox", "select", "list", "auswahl", "liste", "lista", "список"],
    ),
    ("checkbox", &["checkbox", "box", "tick", "kästchen", "case", "casilla", "флажок", "체크박스"]),
    ("radio", &["radio", "option"]),
    ("switch", &["switch", "toggle", "schalter"]),
    ("tab", &["tab", "reiter", "onglet", "pestaña", "вкладка", "вкладку", "탭", "タブ"]),
    ("menuitem", &["item", "menu", "entry"]),
    ("option", &["option", "item"]),
    ("slider", &["slider", "regler"]),
];

/// Words that say nothing.
const STOP: &[&str] = &[
    "the", "a", "an", "to", "of", "in", "for", "on", "at", "with", "der", "die", "das", "le", "la",
    "el", "los", "les",
];

/// Finds what `description` means among `shown`.
pub fn find<'a>(description: &str, shown: &'a [Shown]) -> Finding<'a> {
    let mut scored: Vec<(f64, &Shown)> =
        shown.iter().map(|shown| (score(description, shown), shown)).collect();
    // Stable: what fits as well stays in the page's order.
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let near = |least: f64| {
        let near = scored.iter().filter(move |(score, _)| *score >= least);
        near.take(CANDIDATES).map(|(_, shown)| *shown).collect::<Vec<_>>()
    };
    if best < FITS {
        return Finding::Nothing(near((best / 2.0).max(0.2)));
    }
    match near(FITS.max(best - CLEAR)).as_slice() {
        [one] => Finding::One(one),
        several => Finding::Several(several.to_vec()),
    }
}

/// How well an element fits, from 0 to a little over 1: by its name, and by its role where the
/// description has a word for one.
fn score(description: &str, shown: &Shown) -> f64 {
    let quoted = quoted(description);
    let name = words(&shown.name);
    let says = |word: &String| !STOP.contains(&word.as_str()) || name.contains(word);
    let said: Vec<String> =
        words(quoted.as_deref().unwrap_or(description)).into_iter().filter(says).collect();
    let all = words(description);
    let means_role = |word: &String| ROLES.iter().any(|(_, words)| words.contains(&word.as_str()));
    let mine = ROLES.iter().find(|(role, _)| *role == shown.role).map(|(_, words)| *words);
    let role_said = all.iter().any(means_role);
    let role_fits = all.iter().any(|word| mine.is_some_and(|mine| mine.contains(&word.as_str())));
    // The description with and without its word for the role: "Search field" may be a name.
    let says_role = |word: &&String| {
        mine.is_some_and(|mine| mine.contains(&word.as_str())) && !name.contains(word)
    };
    let bare: Vec<String> = said.iter().filter(|word| !says_role(word)).cloned().collect();
    let by_name = likeness(&said, &name).max(likeness(&bare, &name));
    let role = match (role_said, role_fits) {
        (true, true) => 1.1,
        (true, false) => 0.8,
        (false, _) => 1.0,
    };
    by_name * role
}

/// How alike two names are, from 0 to 1.
fn likeness(said: &[String], name: &[String]) -> f64 {
    if said.is_empty() || name.is_empty() {
        return 0.0;
    }
    if said == name {
        return 1.0;
    }
    let nearly = |word: &String, other: &String| {
        word == other
            || (word.chars().count() > 3
                && strsim::normalized_damerau_levenshtein(word, other) >= 0.75)
    };
    let found = said.iter().filter(|word| name.iter().any(|other| nearly(word, other))).count();
    let covered = name.iter().filter(|word| said.iter().any(|other| nearly(word, other))).count();
    let (found, covered) = (found as f64 / said.len() as f64, covered as f64 / name.len() as f64);
    let whole = strsim::normalized_damerau_levenshtein(&said.join(" "), &name.join(" "));
    (found * 0.7 + covered * 0.2).max(whole * 0.9).min(0.95)
}

/// What stands in quotes is the name itself.
fn quoted(description: &str) -> Option<String> {
    let pairs =
        [('"', '"'), ('\'', '\''), ('“', '”'), ('„', '“'), ('«', '»'), ('‘', '’'), ('「', '」')];
    pairs.iter().find_map(|(open, close)| {
        let begin = description.find(*open)? + open.len_utf8();
        let end = begin + description[begin..].find(*close)?;
        let inner = description[begin..end].trim();
        (!inner.is_empty()).then(|| inner.to_owned())
    })
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ElementId;

    fn page() -> Vec<Shown> {
        let all = [
            ("link", "Home"),
            ("searchbox", "Search products"),
            ("button", "Search"),
            ("button", "Add to cart"),
            ("button", "Add to wish list"),
            ("link", "Cart (2)"),
            ("button", "Delete"),
            ("button", "Delete"),
            ("checkbox", "I agree to the terms"),
            ("combobox", "Country"),
            ("button", "Отправить заявку"),
            ("textbox", "이메일 주소"),
        ];
        let shown = |(id, (role, name)): (u32, &(&str, &str))| Shown {
            id: ElementId(id),
            role: (*role).into(),
            name: (*name).into(),
            secret: false,
            bounds: None,
            line: String::new(),
        };
        (0..).zip(all.iter()).map(shown).collect()
    }

    #[test]
    fn descriptions_lead_to_one_element() {
        let page = page();
        for (description, id) in [
            ("Home", 0),
            ("the search field", 1),
            ("search products", 1),
            ("Search button", 2),
            ("add to cart", 3),
            ("the \"Add to cart\" button", 3),
            ("Add to crat", 3),
            ("add to wish list button", 4),
            ("cart link", 5),
            ("terms checkbox", 8),
            ("country dropdown", 9),
            ("кнопка отправить заявку", 10),
            ("이메일 주소 입력란", 11),
        ] {
            match find(description, &page) {
                Finding::One(shown) => assert_eq!(shown.id, ElementId(id), "{description}"),
                other => panic!("{description}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_fits_twice_is_refused_with_its_candidates() {
        let page = page();
        let ids = |shown: Vec<&Shown>| shown.iter().map(|shown| shown.id.0).collect::<Vec<_>>();
        match find("delete button", &page) {
            Finding::Several(fits) => assert_eq!(ids(fits), [6, 7]),
            other => panic!("{other:?}"),
        }
        assert!(matches!(find("checkout now", &page), Finding::Nothing(_)));
        assert!(matches!(find("", &page), Finding::Nothing(near) if near.is_empty()));
        assert!(matches!(find("x", &[]), Finding::Nothing(near) if near.is_empty()));
    }
}
