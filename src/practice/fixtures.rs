//! Pages under `/t/` of any host: one for each thing that a browser can do to us.
use std::collections::BTreeMap;

use crate::practice::account::{self, Accounts};
use crate::practice::exchange::{Asked, Reply};
use crate::practice::template::{Html, fill};

const TICK: &str = include_str!("site/t/tick.js");
const ARRIVED: &str = include_str!("site/t/arrived.html");
const COUNTER: &str = include_str!("site/t/counter.html");
const ECHO: &str = include_str!("site/t/echo.html");
const HELD: &str = include_str!("site/t/held-document.html");
const LIST: &str = include_str!("site/t/list.html");
const POSTED: &str = include_str!("site/t/posted.html");
const SET_COOKIE: &str = include_str!("site/t/set-cookie.html");
const STATUS: &str = include_str!("site/t/status.html");

/// Pages that need nothing but their file, and the values that every one of them may use.
const PAGES: &[(&str, &str)] = &[
    ("alert", include_str!("site/t/alert.html")),
    ("beforeunload", include_str!("site/t/beforeunload.html")),
    ("below-fold", include_str!("site/t/below-fold.html")),
    ("blank", include_str!("site/t/blank.html")),
    ("close-me", include_str!("site/t/close-me.html")),
    ("confirm", include_str!("site/t/confirm.html")),
    ("console", include_str!("site/t/console.html")),
    ("covered", include_str!("site/t/covered.html")),
    ("dead-button", include_str!("site/t/dead-button.html")),
    ("effects", include_str!("site/t/effects.html")),
    ("effects/pushed", include_str!("site/t/effects.html")),
    ("fields", include_str!("site/t/fields.html")),
    ("frame", include_str!("site/t/frame.html")),
    ("frame-child", include_str!("site/t/frame-child.html")),
    ("keys", include_str!("site/t/keys.html")),
    ("modal", include_str!("site/t/modal.html")),
    ("popup", include_str!("site/t/popup.html")),
    ("popup-child", include_str!("site/t/popup-child.html")),
    ("post-form", include_str!("site/t/post-form.html")),
    ("post-only-button", include_str!("site/t/post-only-button.html")),
    ("prompt", include_str!("site/t/prompt.html")),
    ("replace", include_str!("site/t/replace.html")),
    ("slow-subresource", include_str!("site/t/slow-subresource.html")),
    ("spin", include_str!("site/t/spin.html")),
    ("spin-now", include_str!("site/t/spin-now.html")),
    ("swap", include_str!("site/t/swap.html")),
    ("ways", include_str!("site/t/ways.html")),
];
/// Pages made on the way, for the index.
const MADE: &[&str] = &[
    "account",
    "counter",
    "deep?n=2000",
    "echo?word=fern",
    "empty-reply",
    "hold-document",
    "login",
    "many-links?n=300",
    "redirect/3",
    "set-cookie",
    "status/404",
    "status/500",
    "table?rows=1000",
];
/// POSTs that are only counted, in the ledger.
const QUIET: [&str; 4] = ["beacon", "frame-press", "post-only", "swap-press"];
const COLUMNS: usize = 10;
const MOST: usize = 100_000;

/// Where a page's relatives are.
#[derive(Debug)]
pub struct Around {
    /// The same host on another port: another origin, but the same site.
    pub other: String,
    /// Another site: a browser puts it into another process.
    pub foreign: String,
    /// Answers nothing at all.
    pub empty_reply: String,
}

/// What the pages keep.
#[derive(Debug, Default)]
pub struct Fixtures {
    counts: BTreeMap<String, usize>,
    posts: usize,
}

impl Fixtures {
    /// Answers a request for `/t/…`; none if there is no such page.
    pub fn answer(
        &mut self,
        asked: &Asked,
        around: &Around,
        accounts: &mut Accounts,
    ) -> Option<Reply> {
        let name = asked.path.strip_prefix("/t/")?;
        if asked.method == "POST" {
            return self.post(asked, name, accounts);
        }
        if asked.method != "GET" {
            return None;
        }
        match name {
            "" => Some(page(&index())),
            "counter" => Some(self.count(asked)),
            "echo" => Some(echo(asked, &asked.query)),
            "empty-reply" => Some(Reply::found(around.empty_reply.clone())),
            "set-cookie" => Some(set_cookie(asked)),
            "login" => Some(shown(account::login("/t", 200, ""))),
            "account" => Some(shown(accounts.page(asked, "/t"))),
            "many-links" | "table" | "deep" => Some(page(&long(name, asked))),
            _ => numbered(name).or_else(|| plain(name, asked, around)),
        }
    }

    fn post(&mut self, asked: &Asked, name: &str, accounts: &mut Accounts) -> Option<Reply> {
        match name {
            "post-form" => {
                self.posts += 1;
                let count = Html::text(&self.posts.to_string());
                let word = Html::text(&asked.field("word"));
                Some(page(&fill(POSTED, &[("word", &word), ("count", &count)])))
            }
            "echo" => Some(echo(asked, &asked.body)),
            "login" => Some(accounts.login(asked, "/t").unwrap_or_else(shown)),
            "logout" => Some(accounts.logout(asked, "/t")),
            _ => QUIET.contains(&name).then(Reply::empty),
        }
    }

    fn count(&mut self, asked: &Asked) -> Reply {
        let name = word(&asked.param("name"), "count");
        let count = self.counts.entry(name.clone()).or_default();
        *count += 1;
        let count = Html::text(&count.to_string());
        page(&fill(COUNTER, &[("name", &Html::text(&name)), ("count", &count)]))
    }
}

/// What `/t/hold-document` answers after it waited for `name`.
pub fn held_document(name: &str) -> Reply {
    page(&fill(HELD, &[("name", &Html::text(name))]))
}

fn page(content: &Html) -> Reply {
    let shell = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n{{content}}";
    Reply::page(fill(shell, &[("content", content)]))
}

fn shown(shown: account::Shown) -> Reply {
    let titled = "<title>{{title}}</title>\n{{main}}";
    let title = Html::text(shown.title);
    page(&fill(titled, &[("title", &title), ("main", &shown.main)])).status(shown.status)
}

fn plain(name: &str, asked: &Asked, around: &Around) -> Option<Reply> {
    let (_, file) = PAGES.iter().find(|(page, _)| *page == name)?;
    Some(page(&fill(
        file,
        &[
            ("tick", &Html::raw(TICK)),
            ("name", &Html::text(&word(&asked.param("name"), "frame"))),
            ("other", &Html::text(&around.other)),
            ("foreign", &Html::text(&around.foreign)),
        ],
    )))
}

/// `status/N` and `redirect/N`.
fn numbered(name: &str) -> Option<Reply> {
    let (kind, number) = name.split_once('/')?;
    let number: u16 = number.parse().ok()?;
    match (kind, number) {
        ("status", 200..600) => {
            let status = Html::text(&number.to_string());
            Some(page(&fill(STATUS, &[("status", &status)])).status(number))
        }
        ("redirect", 0) => Some(page(&fill(ARRIVED, &[]))),
        ("redirect", _) => Some(Reply::found(format!("/t/redirect/{}", number - 1))),
        _ => None,
    }
}

fn echo(asked: &Asked, pairs: &str) -> Reply {
    let row = "<tr><th scope=\"row\">{{name}}</th><td>{{value}}</td></tr>";
    let pairs = url::form_urlencoded::parse(pairs.as_bytes());
    let rows = pairs.map(|(name, value)| {
        fill(row, &[("name", &Html::text(&name)), ("value", &Html::text(&value))])
    });
    let method = Html::text(&asked.method);
    page(&fill(ECHO, &[("method", &method), ("rows", &rows.collect())]))
}

fn set_cookie(asked: &Asked) -> Reply {
    let pairs = asked.cookies.iter().map(|(name, value)| format!("{name}={value}"));
    let received = Html::text(&pairs.collect::<Vec<_>>().join("; "));
    page(&fill(SET_COOKIE, &[("received", &received)]))
        .cookie("by_header=1; Path=/; Max-Age=86400")
        .cookie("hidden=1; Path=/; HttpOnly")
}

fn long(name: &str, asked: &Asked) -> Html {
    let number = |param, default: usize| asked.param(param).parse().unwrap_or(default).min(MOST);
    let (title, body) = match name {
        "many-links" => ("Many links", links(number("n", 300))),
        "table" => ("Table", table(number("rows", 100))),
        _ => ("Deep", deep(number("n", 1000))),
    };
    fill(LIST, &[("title", &Html::text(title)), ("body", &Html::raw(body))])
}

fn links(n: usize) -> String {
    let link = |i| format!("<li><a href=\"/t/blank?{i}\">Link {i}</a></li>\n");
    format!("<ul>\n{}</ul>", (1..=n).map(link).collect::<String>())
}

fn table(rows: usize) -> String {
    let head = (1..=COLUMNS).map(|c| format!("<th scope=\"col\">Column {c}</th>"));
    let row = |r| {
        let cells = (1..=COLUMNS).map(|c| format!("<td>r{r} c{c}</td>")).collect::<String>();
        format!("<tr>{cells}</tr>\n")
    };
    format!(
        "<table><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table>",
        head.collect::<String>(),
        (1..=rows).map(row).collect::<String>()
    )
}

/// By script: parsers flatten what is nested more than some hundred deep.
fn deep(n: usize) -> String {
    format!(
        "<div id=\"top\"></div>\n<script>\nlet at = document.getElementById(\"top\");\n\
         for (let i = 0; i < {n}; i++) at = at.appendChild(document.createElement(\"div\"));\n\
         at.innerHTML = \"<button>Innermost</button>\";\n</script>"
    )
}

fn index() -> Html {
    let names = PAGES.iter().map(|(name, _)| *name).chain(MADE.iter().copied());
    let item = "<li><a href=\"/t/{{name}}\">{{name}}</a></li>";
    let items: Html = names.map(|name| fill(item, &[("name", &Html::text(name))])).collect();
    let body = fill("<ul>\n{{items}}\n</ul>", &[("items", &items)]);
    fill(LIST, &[("title", &Html::text("Test pages")), ("body", &body)])
}

/// A parameter that pages also use inside script: letters, digits and dashes, or `default`.
fn word(text: &str, default: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if text.is_empty() || !text.chars().all(fits) { default.to_owned() } else { text.to_owned() }
}
