//! Which site answers which request, and what every site has.
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::practice::account::{self, Accounts, Shown};
use crate::practice::exchange::{Asked, Reply};
use crate::practice::fixtures::{Around, Fixtures, held_document};
use crate::practice::holds::Holds;
use crate::practice::ledger::Ledger;
use crate::practice::mail::Mail;
use crate::practice::news::News;
use crate::practice::shop::Shop;
use crate::practice::template::{Html, fill, without_contract};

const LAYOUT: &str = include_str!("site/layout.html");
const STYLE: &str = include_str!("site/style.css");
const HOME: &str = include_str!("site/home.html");
const MISSING: &str = include_str!("site/missing.html");
const SHOP: Site = Site { class: "shop", brand: "Finch & Fern" };
const MAIL: Site = Site { class: "mail", brand: "Postbox" };
const NEWS: Site = Site { class: "news", brand: "The Harbour Paper" };
const PORTAL: Site = Site { class: "home", brand: "Practice" };

/// All sites together, and what tests see of them.
#[derive(Debug)]
pub struct Web {
    pub ledger: Ledger,
    pub holds: Holds,
    ports: Vec<u16>,
    empty_reply: u16,
    sites: Mutex<Sites>,
}

#[derive(Debug)]
struct Sites {
    shop: Shop,
    mail: Mail,
    news: News,
    accounts: Accounts,
    fixtures: Fixtures,
}

/// How a site looks.
#[derive(Debug, Clone, Copy)]
struct Site {
    class: &'static str,
    brand: &'static str,
}

impl Web {
    /// Returns the sites in their first state; `empty_reply` is the port of that name.
    ///
    /// # Errors
    /// Fails if a text that is compiled in cannot be read.
    pub fn new(ports: Vec<u16>, empty_reply: u16) -> io::Result<Self> {
        let sites = Sites {
            shop: Shop::load().map_err(io::Error::other)?,
            mail: Mail::load().map_err(io::Error::other)?,
            news: News::load().map_err(io::Error::other)?,
            accounts: Accounts::default(),
            fixtures: Fixtures::default(),
        };
        let (ledger, holds) = (Ledger::default(), Holds::default());
        Ok(Self { ledger, holds, ports, empty_reply, sites: Mutex::new(sites) })
    }

    /// Writes `asked` down and answers it; what tests ask about the server itself is not written down.
    pub async fn answer(&self, asked: Asked) -> Reply {
        match asked.asks() {
            (_, "/favicon.ico") => return Reply::empty(),
            ("GET", "/__ledger") => return self.ledger_as_json(),
            ("POST", path) if path.starts_with("/__release/") => {
                self.holds.release(path.trim_start_matches("/__release/"));
                return Reply::empty();
            }
            _ => {}
        }
        self.ledger.write(asked.received());
        if let Some(name) = asked.path.strip_prefix("/__hold/") {
            self.holds.pass(name).await;
            return Reply::of("text/plain", "released\n");
        }
        if asked.path == "/t/hold-document" {
            let named = asked.param("name");
            let name = if named.is_empty() { "hold-document" } else { &named };
            self.holds.pass(name).await;
            return held_document(name);
        }
        self.answer_at_once(&asked)
    }

    fn answer_at_once(&self, asked: &Asked) -> Reply {
        if asked.path == "/style.css" {
            return Reply::of("text/css; charset=utf-8", STYLE);
        }
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let Sites { shop, mail, news, accounts, fixtures } = &mut *sites;
        if asked.path.starts_with("/t/") {
            let found = fixtures.answer(asked, &self.around(asked), accounts);
            return found.unwrap_or_else(|| missing(PORTAL, &Html::default(), asked));
        }
        match (asked.host.strip_suffix(".localhost"), asked.method.as_str()) {
            (Some("shop"), _) => answer_shop(asked, shop, accounts),
            (Some("mail"), "POST") => {
                mail.post(asked).unwrap_or_else(|| missing(MAIL, &mail.nav(), asked))
            }
            (Some("mail"), _) => {
                let page = mail.page(asked);
                site(MAIL, &mail.nav(), asked, page)
            }
            (Some("news"), _) => {
                let nav = Html::raw(r#"<a href="/">This week</a>"#);
                site(NEWS, &nav, asked, news.page(&asked.path))
            }
            (Some("test"), _) if asked.path == "/" => Reply::found("/t/"),
            _ => site(PORTAL, &Html::default(), asked, portal(asked)),
        }
    }

    fn ledger_as_json(&self) -> Reply {
        match serde_json::to_string_pretty(&self.ledger.rows()) {
            Ok(text) => Reply::of("application/json", text),
            Err(error) => Reply::of("text/plain", error.to_string()).status(500),
        }
    }

    fn around(&self, asked: &Asked) -> Around {
        let here = self.ports.iter().position(|port| *port == asked.port).unwrap_or_default();
        let next = self.ports[(here + 1) % self.ports.len()];
        Around {
            other: format!("http://{}:{next}", asked.host),
            foreign: format!("http://frames.localhost:{next}"),
            empty_reply: format!("http://{}:{}/", asked.host, self.empty_reply),
        }
    }
}

fn answer_shop(asked: &Asked, shop: &mut Shop, accounts: &mut Accounts) -> Reply {
    let shown = match asked.asks() {
        ("GET", "/login") => account::login("", 200, ""),
        ("GET", "/account") => accounts.page(asked, ""),
        ("POST", "/logout") => return accounts.logout(asked, ""),
        ("POST", "/login") => match accounts.login(asked, "") {
            Ok(reply) => return reply,
            Err(form) => form,
        },
        ("POST", _) => {
            let posted = shop.post(asked);
            return posted.unwrap_or_else(|| missing(SHOP, &shop.nav(asked), asked));
        }
        _ => return site(SHOP, &shop.nav(asked), asked, shop.page(asked)),
    };
    let Shown { title, main, status } = shown;
    laid_out(SHOP, &shop.nav(asked), &format!("{title} · {}", SHOP.brand), &main).status(status)
}

fn portal(asked: &Asked) -> Option<(String, Html)> {
    let origin = |name: &str| Html::text(&format!("http://{name}.localhost:{}", asked.port));
    let (shop, mail, news, test) = (origin("shop"), origin("mail"), origin("news"), origin("test"));
    let values = [("shop", &shop), ("mail", &mail), ("news", &news), ("test", &test)];
    (asked.path == "/").then(|| ("Practice sites".into(), fill(HOME, &values)))
}

/// The page that a GET found, or the one that says that there is none.
fn site(site: Site, nav: &Html, asked: &Asked, page: Option<(String, Html)>) -> Reply {
    match page {
        Some((title, main)) if asked.method == "GET" => laid_out(site, nav, &title, &main),
        _ => missing(site, nav, asked),
    }
}

fn missing(site: Site, nav: &Html, asked: &Asked) -> Reply {
    let main = fill(MISSING, &[("path", &Html::text(&asked.path))]);
    laid_out(site, nav, "Not found", &main).status(404)
}

fn laid_out(site: Site, nav: &Html, title: &str, main: &Html) -> Reply {
    Reply::page(fill(
        without_contract(LAYOUT),
        &[
            ("title", &Html::text(title)),
            ("site", &Html::raw(site.class)),
            ("brand", &Html::text(site.brand)),
            ("nav", nav),
            ("main", main),
        ],
    ))
}
