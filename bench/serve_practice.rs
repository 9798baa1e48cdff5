//! Serves the practice sites until Ctrl-C: `cargo run --example serve-practice`.
use strawmanus::practice::server::{Options, Practice};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let practice = Practice::start(Options::default())?;
    for (site, path) in [("shop", "/"), ("mail", "/"), ("news", "/"), ("test", "/t/")] {
        println!("{site:>6}  {}", practice.url(site, path));
    }
    println!("ledger  {}", practice.url_at(0, "127.0.0.1", "/__ledger"));
    tokio::signal::ctrl_c().await
}
