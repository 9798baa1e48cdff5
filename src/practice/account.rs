//! Signing in: one cookie that ends with the browser, one that outlives it.
use std::collections::BTreeMap;

use crate::practice::exchange::{Asked, Reply};
use crate::practice::template::{Html, fill};

const LOGIN: &str = include_str!("site/shop/login.html");
const ACCOUNT: &str = include_str!("site/shop/account.html");
const PASSWORD: &str = "practice";

/// Who is signed in. Known tokens only count; they differ between two servers, since browsers share
/// cookies between ports.
#[derive(Debug, Default)]
pub struct Accounts {
    users: BTreeMap<String, String>,
    given: usize,
}

/// What to show, and with which answer.
#[derive(Debug)]
pub struct Shown {
    pub title: &'static str,
    pub main: Html,
    pub status: u16,
}

impl Accounts {
    /// Returns what `asked` sees at the account's page; `prefix` is `` or `/t`.
    pub fn page(&self, asked: &Asked, prefix: &str) -> Shown {
        let by = |cookie| asked.cookie(cookie).and_then(|token| self.users.get(token));
        let (session, remember) = (by("session"), by("remember"));
        let Some(user) = session.or(remember) else { return login(prefix, 200, "") };
        let yes_or_no = |known: bool| Html::text(if known { "yes" } else { "no" });
        let main = fill(
            ACCOUNT,
            &[
                ("user", &Html::text(user)),
                ("session", &yes_or_no(session.is_some())),
                ("remember", &yes_or_no(remember.is_some())),
                ("logout", &Html::text(&format!("{prefix}/logout"))),
            ],
        );
        Shown { title: "Account", main, status: 200 }
    }

    /// Signs in: `Ok` goes on to the account, `Err` is the form again with what was wrong.
    pub fn login(&mut self, asked: &Asked, prefix: &str) -> Result<Reply, Shown> {
        let user = asked.field("user");
        if user.is_empty() || asked.field("password") != PASSWORD {
            return Err(login(prefix, 401, "That name and password do not belong together."));
        }
        self.given += 1;
        let token = format!("{}-{}", asked.port, self.given);
        self.users.insert(token.clone(), user);
        Ok(Reply::see_other(format!("{prefix}/account"))
            .cookie(format!("session={token}; Path=/; HttpOnly; SameSite=Lax"))
            .cookie(format!("remember={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000")))
    }

    pub fn logout(&mut self, asked: &Asked, prefix: &str) -> Reply {
        for cookie in ["session", "remember"] {
            asked.cookie(cookie).and_then(|token| self.users.remove(token));
        }
        Reply::see_other(format!("{prefix}/account"))
            .cookie("session=; Path=/; Max-Age=0")
            .cookie("remember=; Path=/; Max-Age=0")
    }
}

/// Returns the form to sign in.
pub fn login(prefix: &str, status: u16, wrong: &str) -> Shown {
    let notice = match wrong {
        "" => Html::default(),
        text => {
            fill(r#"<p class="notice" role="alert">{{text}}</p>"#, &[("text", &Html::text(text))])
        }
    };
    let action = Html::text(&format!("{prefix}/login"));
    let main = fill(LOGIN, &[("action", &action), ("notice", &notice)]);
    Shown { title: "Sign in", main, status }
}
