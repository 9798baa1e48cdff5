//! `news.localhost`: five articles.
use serde::Deserialize;

use crate::practice::template::{Html, fill, without_contract};

const FRONT: &str = include_str!("site/news/front.html");
const ARTICLE: &str = include_str!("site/news/article.html");
const ARTICLES: &str = include_str!("site/news/articles.toml");
const TEXTS: [(&str, &str); 5] = [
    ("repair-cafe-lamp", include_str!("site/news/repair-cafe-lamp.html")),
    ("night-train", include_str!("site/news/night-train.html")),
    ("otter-count", include_str!("site/news/otter-count.html")),
    ("library-of-tools", include_str!("site/news/library-of-tools.html")),
    ("town-clock", include_str!("site/news/town-clock.html")),
];

#[derive(Debug, Deserialize)]
struct Article {
    slug: String,
    title: String,
    author: String,
    date: String,
    lead: String,
}

/// The paper.
#[derive(Debug, Deserialize)]
pub struct News {
    #[serde(rename = "article")]
    articles: Vec<Article>,
}

impl News {
    pub fn load() -> Result<Self, toml::de::Error> {
        toml::from_str(ARTICLES)
    }

    /// Returns title and content of the page at `path`.
    pub fn page(&self, path: &str) -> Option<(String, Html)> {
        if path == "/" {
            return Some(("The Harbour Paper".into(), self.front()));
        }
        let slug = path.strip_prefix("/articles/")?;
        let article = self.articles.iter().find(|article| article.slug == slug)?;
        let (_, text) = TEXTS.iter().find(|(name, _)| *name == slug)?;
        let main = fill(
            ARTICLE,
            &[
                ("title", &Html::text(&article.title)),
                ("author", &Html::text(&article.author)),
                ("date", &Html::text(&article.date)),
                ("lead", &Html::text(&article.lead)),
                ("text", &Html::raw(without_contract(text))),
            ],
        );
        Some((format!("{} · The Harbour Paper", article.title), main))
    }

    fn front(&self) -> Html {
        let item = r#"<li><h2><a href="/articles/{{slug}}">{{title}}</a></h2><p>{{lead}}</p><p class="byline">{{author}} · {{date}}</p></li>"#;
        let items = self.articles.iter().map(|article| {
            fill(
                item,
                &[
                    ("slug", &Html::text(&article.slug)),
                    ("title", &Html::text(&article.title)),
                    ("lead", &Html::text(&article.lead)),
                    ("author", &Html::text(&article.author)),
                    ("date", &Html::text(&article.date)),
                ],
            )
        });
        fill(FRONT, &[("items", &items.collect())])
    }
}
