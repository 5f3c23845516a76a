//! Tests that the ledger of every store must pass.

use super::{
    super::{AccountId, AccountRequest, DayCost, MemoryStore, Posting},
    sample::{key, other},
};
use crate::domain::{Claim, Cost, Granted, Limit, Money, Owner, Scope};

const NOON: i64 = 1_000_000;

fn scope(guild: u64, of: Scope) -> Scope {
    Scope { owner: Owner::Guild(guild), ..of }
}

fn wanted(name: &str, since: i64, now: i64) -> AccountRequest {
    AccountRequest { name: name.to_owned(), since, now, before: Money::ZERO }
}

fn claim(cap: u64, want: u64, need: u64) -> Claim {
    Claim { cap: Some(Money(cap)), want: Money(want), need: Money(need), ..Claim::default() }
}

fn posting(account: AccountId, month: &str, claims: Vec<Claim>) -> Posting {
    Posting { account, month: month.to_owned(), month_max: None, claims, costs: Vec::new() }
}

async fn posted(store: &dyn MemoryStore, at: &Scope, posting: Posting) -> Granted {
    store.post(at, posting).await.unwrap().remove(0)
}

pub async fn accounts(store: &dyn MemoryStore) {
    let at = scope(42, key());
    let first = store.account(&at, wanted("play", NOON, NOON)).await.unwrap();
    let again = store.account(&at, wanted("play", NOON - 9, NOON + 5)).await.unwrap();
    assert_eq!(first, again, "it goes on");
    // Another campaign of the same owner pays from the same account.
    let elsewhere = scope(42, other());
    assert_eq!(store.account(&elsewhere, wanted("play", NOON, NOON)).await.unwrap(), first);
    let later = store.account(&at, wanted("play", NOON + 1, NOON + 9)).await.unwrap();
    assert_ne!(first, later, "the first is over");
    let others = scope(u64::MAX, key());
    assert_ne!(store.account(&others, wanted("play", NOON, NOON)).await.unwrap(), first);
    let mut seeded = wanted("kept", 0, NOON);
    seeded.before = Money(70);
    let seeded = store.account(&at, seeded.clone()).await.unwrap();
    let got = posted(store, &at, posting(seeded, "2026-11", vec![claim(100, 50, 0)])).await;
    assert_eq!((got.granted, got.total), (Money(30), Money(100)));
}

pub async fn caps(store: &dyn MemoryStore) {
    let (at, elsewhere) = (scope(42, key()), scope(42, other()));
    let account = store.account(&at, wanted("play", NOON, NOON)).await.unwrap();
    let got = posted(store, &at, posting(account, "2026-11", vec![claim(100, 60, 40)])).await;
    assert_eq!(got, Granted { payer: None, granted: Money(60), total: Money(60), refused: None });
    // A partial grant, if it is enough; otherwise nothing.
    let got =
        posted(store, &elsewhere, posting(account, "2026-11", vec![claim(100, 60, 30)])).await;
    assert_eq!((got.granted, got.refused), (Money(40), None));
    let got = posted(store, &at, posting(account, "2026-12", vec![claim(100, 1, 1)])).await;
    assert_eq!((got.granted, got.total), (Money(0), Money(100)));
    assert_eq!(got.refused, Some(Limit::Account));
    // Money owed counts beyond any cap; returned money can be reserved again.
    let owing = Claim { owed: Money(7), ..claim(100, 0, 0) };
    let got = posted(store, &at, posting(account, "2026-11", vec![owing])).await;
    assert_eq!((got.granted, got.total), (Money(7), Money(107)));
    let returning = Claim { returned: Money(20), spent: Money(5), ..claim(100, 0, 0) };
    let got = posted(store, &at, posting(account, "2026-11", vec![returning])).await;
    assert_eq!(got.total, Money(87));
    // A payer's cap applies beside the account's.
    let bartok = |want| Claim { payer: Some("Bartok".to_owned()), ..claim(10, want, want) };
    let got =
        store.post(&at, posting(account, "2026-11", vec![bartok(8), bartok(4)])).await.unwrap();
    assert_eq!((got[0].granted, got[1].granted), (Money(8), Money(0)));
    assert_eq!(got[1].refused, Some(Limit::Payer));
    months(store, account).await;
}

/// A month's cap counts all accounts and campaigns of the owner.
async fn months(store: &dyn MemoryStore, account: AccountId) {
    let (at, elsewhere) = (scope(42, key()), scope(42, other()));
    let another = store.account(&elsewhere, wanted("outside", NOON, NOON)).await.unwrap();
    let capped = |account, month: &str, want| Posting {
        month_max: Some(Money(100)),
        ..posting(account, month, vec![claim(1_000, want, want)])
    };
    let got = posted(store, &elsewhere, capped(another, "2026-11", 14)).await;
    assert_eq!((got.granted, got.refused), (Money(0), Some(Limit::Month)));
    let got = posted(store, &elsewhere, capped(another, "2026-11", 13)).await;
    assert_eq!((got.granted, got.refused), (Money(13), None));
    assert_eq!(posted(store, &at, capped(account, "2026-12", 9)).await.granted, Money(9));
    let spent = store.spent(&at).await.unwrap();
    let spent: Vec<_> = spent.iter().map(|it| (it.month.as_str(), it.total.0)).collect();
    assert_eq!(spent, [("2026-12", 9), ("2026-11", 47)]);
    assert_eq!(store.spent(&scope(7, key())).await.unwrap(), []);
}

fn cost(day: &str, payer: &str, spent: u64) -> DayCost {
    let cost = Cost {
        payer: payer.to_owned(),
        service: "m".to_owned(),
        tool: String::new(),
        spent: Money(spent),
        requests: 1,
    };
    DayCost { day: day.to_owned(), session: "s".to_owned(), cost }
}

/// Costs add up by day, session, payer, service and tool, within one scope.
pub async fn costs(store: &dyn MemoryStore) {
    let (at, elsewhere) = (scope(42, key()), scope(42, other()));
    let account = store.account(&at, wanted("play", NOON, NOON)).await.unwrap();
    let post = async |at: &Scope, costs: Vec<DayCost>| {
        store.post(at, Posting { costs, ..posting(account, "2026-11", Vec::new()) }).await.unwrap();
    };
    let drawn = Cost { tool: "image-gen.draw".to_owned(), ..cost("", "Bartok", 9).cost };
    let drawn = DayCost { cost: drawn, ..cost("2026-11-02", "", 0) };
    post(&at, vec![cost("2026-11-02", "Bartok", 3), drawn.clone()]).await;
    post(&at, vec![cost("2026-11-02", "Bartok", 4), cost("2026-11-30", "hearing", 5)]).await;
    post(&at, vec![cost("2026-12-01", "Bartok", 7)]).await;
    post(&elsewhere, vec![cost("2026-11-02", "Bartok", 100)]).await;
    let november = "2026-11-01".to_owned()..="2026-11-31".to_owned();
    let bartok = cost("2026-11-02", "Bartok", 7);
    let bartok = DayCost { cost: Cost { requests: 2, ..bartok.cost }, ..bartok };
    let expected = [bartok, drawn, cost("2026-11-30", "hearing", 5)];
    assert_eq!(store.costs(&at, november.clone()).await.unwrap(), expected);
    assert_eq!(store.costs(&scope(7, key()), november).await.unwrap(), []);
}
