//! `shop.localhost`: a shelf, a search, a cart for each visitor, a checkout.
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::practice::exchange::{Asked, Reply};
use crate::practice::template::{Html, fill};

const SHELF: &str = include_str!("site/shop/shelf.html");
const ITEM: &str = include_str!("site/shop/item.html");
const PRODUCT: &str = include_str!("site/shop/product.html");
const CART: &str = include_str!("site/shop/cart.html");
const CART_EMPTY: &str = include_str!("site/shop/cart-empty.html");
const CHECKOUT: &str = include_str!("site/shop/checkout.html");
const ORDER: &str = include_str!("site/shop/order.html");
const PRODUCTS: &str = include_str!("site/shop/products.toml");
const ICONS: &str = include_str!("site/shop/icons.svg");
const MOST_OF_ONE: u32 = 99;

#[derive(Debug, Deserialize)]
struct Product {
    slug: String,
    name: String,
    category: String,
    cents: u32,
    material: String,
    blurb: String,
}

#[derive(Debug)]
struct Order {
    name: String,
    cents: u32,
}

/// Product's slug → quantity.
type Cart = BTreeMap<String, u32>;

/// The shop. A cart belongs to a `basket` cookie.
#[derive(Debug, Deserialize)]
pub struct Shop {
    #[serde(rename = "product")]
    products: Vec<Product>,
    #[serde(skip)]
    carts: BTreeMap<String, Cart>,
    #[serde(skip)]
    orders: Vec<Order>,
    #[serde(skip)]
    baskets_given: usize,
}

impl Shop {
    pub fn load() -> Result<Self, toml::de::Error> {
        toml::from_str(PRODUCTS)
    }

    /// The links at the top.
    pub fn nav(&self, asked: &Asked) -> Html {
        let things: u32 = self.cart(asked).map_or(0, |cart| cart.values().sum());
        let links = r#"<a href="/">All products</a><a href="/account">Account</a><a href="/cart">Cart ({{things}})</a>"#;
        fill(links, &[("things", &Html::text(&things.to_string()))])
    }

    /// Returns title and content of the page that a GET asks for.
    pub fn page(&self, asked: &Asked) -> Option<(String, Html)> {
        let titled = |title: &str, main| Some((format!("{title} · Finch & Fern"), main));
        match asked.path.as_str() {
            "/" => titled("All products", self.shelf("All products", "", |_| true)),
            "/search" => {
                let query = asked.param("q");
                let heading = format!("Results for “{query}”");
                titled("Search", self.shelf(&heading, &query, |product| product.matches(&query)))
            }
            "/cart" => titled("Your cart", self.cart_page(asked)),
            "/checkout" => {
                let total = Html::text(&price(self.total(asked)));
                titled("Checkout", fill(CHECKOUT, &[("total", &total)]))
            }
            path => self.deeper(path),
        }
    }

    /// Takes what was posted; returns where to look next.
    pub fn post(&mut self, asked: &Asked) -> Option<Reply> {
        match asked.path.as_str() {
            "/cart" => self.add(asked),
            "/orders" => {
                let cents = self.total(asked);
                self.orders.push(Order { name: asked.field("name"), cents });
                self.carts.remove(asked.cookie("basket").unwrap_or_default());
                Some(Reply::see_other(format!("/orders/{}", self.orders.len())))
            }
            _ => None,
        }
    }

    fn deeper(&self, path: &str) -> Option<(String, Html)> {
        if let Some(category) = path.strip_prefix("/categories/") {
            let main = self.shelf(category, "", |product| product.category == category);
            return Some((format!("{category} · Finch & Fern"), main));
        }
        if let Some(number) = path.strip_prefix("/orders/") {
            let order = self.orders.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
            let values = [
                ("number", &Html::text(number)),
                ("name", &Html::text(&order.name)),
                ("total", &Html::text(&price(order.cents))),
            ];
            return Some((format!("Order {number} · Finch & Fern"), fill(ORDER, &values)));
        }
        let product = self.product(path.strip_prefix("/products/")?)?;
        Some((format!("{} · Finch & Fern", product.name), product.fill(PRODUCT)))
    }

    fn shelf(&self, heading: &str, query: &str, shown: impl Fn(&Product) -> bool) -> Html {
        let mut categories: Vec<_> = self.products.iter().map(|p| p.category.as_str()).collect();
        categories.dedup();
        let link = r#"<a href="/categories/{{category}}">{{category}}</a>"#;
        let links = categories.iter().map(|name| fill(link, &[("category", &Html::text(name))]));
        let items = self.products.iter().filter(|product| shown(product));
        let mut items: Html = items.map(|product| product.fill(ITEM)).collect();
        if items == Html::default() {
            items = Html::raw("<li>Nothing fits. Try another word.</li>");
        }
        fill(
            SHELF,
            &[
                ("query", &Html::text(query)),
                ("heading", &Html::text(heading)),
                ("categories", &links.collect()),
                ("items", &items),
            ],
        )
    }

    fn add(&mut self, asked: &Asked) -> Option<Reply> {
        let slug = self.product(&asked.field("product"))?.slug.clone();
        let quantity = asked.field("quantity").parse().unwrap_or(1).clamp(1, MOST_OF_ONE);
        let basket = match asked.cookie("basket") {
            Some(known) if self.carts.contains_key(known) => known.to_owned(),
            _ => {
                self.baskets_given += 1;
                // Browsers share cookies between ports: two servers must not give the same name.
                format!("{}-{}", asked.port, self.baskets_given)
            }
        };
        let held = self.carts.entry(basket.clone()).or_default().entry(slug).or_default();
        *held = (*held + quantity).min(MOST_OF_ONE);
        let cookie = format!("basket={basket}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400");
        Some(Reply::see_other("/cart").cookie(cookie))
    }

    fn cart_page(&self, asked: &Asked) -> Html {
        let Some(cart) = self.cart(asked) else { return fill(CART_EMPTY, &[]) };
        let row = r#"<tr><td><a href="/products/{{slug}}">{{name}}</a></td><td class="number">{{quantity}}</td><td class="number price">{{price}}</td></tr>"#;
        let rows = cart.iter().filter_map(|(slug, quantity)| {
            let product = self.product(slug)?;
            Some(fill(
                row,
                &[
                    ("slug", &Html::text(slug)),
                    ("name", &Html::text(&product.name)),
                    ("quantity", &Html::text(&quantity.to_string())),
                    ("price", &Html::text(&price(product.cents * quantity))),
                ],
            ))
        });
        let total = Html::text(&price(self.total(asked)));
        fill(CART, &[("rows", &rows.collect()), ("total", &total)])
    }

    fn cart(&self, asked: &Asked) -> Option<&Cart> {
        self.carts.get(asked.cookie("basket")?)
    }

    fn total(&self, asked: &Asked) -> u32 {
        let lines = self.cart(asked).into_iter().flatten();
        lines.filter_map(|(slug, quantity)| Some(self.product(slug)?.cents * quantity)).sum()
    }

    fn product(&self, slug: &str) -> Option<&Product> {
        self.products.iter().find(|product| product.slug == slug)
    }
}

impl Product {
    fn matches(&self, query: &str) -> bool {
        let text = format!("{} {} {}", self.name, self.category, self.blurb).to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    fn fill(&self, template: &str) -> Html {
        fill(
            template,
            &[
                ("slug", &Html::text(&self.slug)),
                ("name", &Html::text(&self.name)),
                ("category", &Html::text(&self.category)),
                ("material", &Html::text(&self.material)),
                ("blurb", &Html::text(&self.blurb)),
                ("price", &Html::text(&price(self.cents))),
                ("icon", &icon(&self.slug)),
            ],
        )
    }
}

/// The product's symbol of icons.svg as a picture of its own; none if it was not drawn.
fn icon(slug: &str) -> Html {
    let symbol = ICONS
        .split_once(&format!(r#"<symbol id="{slug}""#))
        .and_then(|(_, rest)| rest.split_once("</symbol>"));
    symbol.map_or_else(Html::default, |(drawing, _)| {
        Html::raw(format!(r#"<svg aria-hidden="true" focusable="false"{drawing}</svg>"#))
    })
}

fn price(cents: u32) -> String {
    format!("€{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_has_a_drawing_and_a_price_that_can_be_read() {
        let shop = Shop::load().unwrap();
        assert_eq!(shop.products.len(), 12);
        for product in &shop.products {
            assert_ne!(icon(&product.slug), Html::default(), "{}", product.slug);
        }
        assert_eq!(price(4850), "€48.50");
        assert_eq!(price(840), "€8.40");
        assert_eq!(price(5), "€0.05");
    }

    #[test]
    fn a_search_wants_every_word_somewhere() {
        let shop = Shop::load().unwrap();
        let found = |query: &str| shop.products.iter().filter(|p| p.matches(query)).count();
        assert_eq!(found("LAMP"), 3);
        assert_eq!(found("lamp desk"), 1);
        assert_eq!(found("lamp trowel"), 0);
    }
}
