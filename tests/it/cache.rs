use ractor::RpcReplyPort;
use strawmanus::messages::selector_cache::{
    CacheEntry, CacheError, CacheKey, Fingerprint, SelectorCacheMsg,
};
use strawmanus::messages::supervisor::Seat;
use strawmanus::ports::store::{Durability, Store, Table};

use crate::support::house::{CACHE, House, MINUTE, quiet};
use crate::support::memory::Memory;
use crate::support::web::Web;

type Answer<T> = Result<T, CacheError>;

async fn ask<T: Send + 'static>(
    house: &House,
    build: impl FnOnce(RpcReplyPort<Answer<T>>) -> SelectorCacheMsg,
) -> Answer<T> {
    house.world.doors.selector_cache.find(&()).unwrap().ask(build, MINUTE).await.unwrap()
}

fn print() -> Fingerprint {
    Fingerprint { tag: "button".into(), role: "button".into(), text_hash: 7 }
}

async fn keep(house: &House, key: &CacheKey, selector: &str) -> Answer<()> {
    let (key, selector, fingerprint) = (key.clone(), selector.to_owned(), print());
    ask(house, |reply| SelectorCacheMsg::Keep { key, selector, fingerprint, reply }).await
}

async fn look(house: &House, key: &CacheKey) -> Option<CacheEntry> {
    let key = key.clone();
    ask(house, |reply| SelectorCacheMsg::Look { key, reply }).await.unwrap()
}

async fn count(house: &House, key: &CacheKey, hit: bool) {
    let key = key.clone();
    ask(house, |reply| SelectorCacheMsg::Count { key, hit, reply }).await.unwrap();
}

async fn list(house: &House, domain: Option<&str>) -> Vec<String> {
    let domain = domain.map(str::to_owned);
    let rows = ask(house, |reply| SelectorCacheMsg::List { domain, reply }).await.unwrap();
    rows.into_iter().map(|(key, entry)| format!("{} {}", key.domain, entry.selector)).collect()
}

async fn clear(house: &House, domain: Option<&str>) -> usize {
    let domain = domain.map(str::to_owned);
    ask(house, |reply| SelectorCacheMsg::Clear { domain, reply }).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_was_found_is_kept_counted_listed_and_cleared() {
    let house = House::build(&Web::default()).await;
    let (send, more) = (CacheKey::new("a.test", "Send  it"), CacheKey::new("b.test", "more"));
    assert_eq!(look(&house, &send).await, None);
    count(&house, &send, true).await;
    assert_eq!(look(&house, &send).await, None, "what is not known is not counted");

    keep(&house, &send, "#send").await.unwrap();
    keep(&house, &more, "#more").await.unwrap();
    for hit in [true, true, false] {
        count(&house, &CacheKey::new("A.test", " send it"), hit).await;
    }
    let known = CacheEntry { selector: "#send".into(), fingerprint: print(), hits: 2, misses: 1 };
    assert_eq!(look(&house, &send).await, Some(known));
    assert_eq!(list(&house, None).await, ["a.test #send", "b.test #more"]);
    assert_eq!(list(&house, Some("b.test")).await, ["b.test #more"]);
    assert_eq!(house.card(&Seat::SelectorCache).doing, "2 entries");

    keep(&house, &send, "#other").await.unwrap();
    assert_eq!(look(&house, &send).await.unwrap().hits, 0, "another selector begins anew");
    assert_eq!(clear(&house, Some("a.test")).await, 1);
    assert_eq!(list(&house, None).await, ["b.test #more"]);
    assert_eq!(house.memory.rows(Table::Selectors), 1);
    assert_eq!((clear(&house, None).await, house.memory.rows(Table::Selectors)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn what_was_kept_outlives_the_actor_and_the_house() {
    let house = House::build(&Web::default()).await;
    let key = CacheKey::new("a.test", "send");
    keep(&house, &key, "#send").await.unwrap();
    count(&house, &key, true).await;
    house.cell(CACHE).kill();
    quiet().await;
    assert_eq!(look(&house, &key).await.unwrap().hits, 1);
    assert_eq!(house.card(&Seat::SelectorCache).incarnation, 2);

    // A row that another version wrote is as good as none.
    let odd = ("{}".to_owned(), "{}".to_owned());
    house.memory.put(Table::Selectors, odd.0, odd.1, Durability::Soon).await.unwrap();
    house.root.stop_and_wait(None, None).await.unwrap();
    let next = House::over(&Web::default(), house.memory.clone()).await;
    assert_eq!(list(&next, None).await, ["a.test #send"]);
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_is_an_answer_and_memory_serves_on() {
    let memory = Memory::default().without(Table::Selectors);
    let house = House::over(&Web::default(), memory).await;
    let key = CacheKey::new("a.test", "send");
    let error = keep(&house, &key, "#send").await.unwrap_err();
    assert!(error.to_string().starts_with("the store failed: the disk"), "{error}");
    assert_eq!(look(&house, &key).await.unwrap().selector, "#send");
    assert_eq!(house.card(&Seat::SelectorCache).incarnation, 1);
}
