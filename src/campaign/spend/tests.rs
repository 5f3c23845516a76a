//! Money in a real store, whatever happens to the programs that spend it.

use std::{collections::BTreeMap, path::Path};

use futures::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    campaign::clock::paused,
    domain::{CampaignKey, Npc, Owner},
    engine::Reservation,
    logic::budget::{Consumption, Price},
    memory::Sqlite,
    provider::Kind,
    tools::CallErrorKind,
};

const CAP: f64 = 2.0;
const MONTH: f64 = 2.5;
const MIRAS: f64 = 0.5;

fn options() -> BudgetOptions {
    let price = Price { output: 1.0, ..Price::default() };
    let prices = BTreeMap::from([("m".to_owned(), price)]);
    BudgetOptions { session_max: Some(CAP), month_max: Some(MONTH), prices }
}

fn tokens(output_tokens: u64) -> Consumption {
    Consumption { output_tokens, ..Consumption::default() }
}

fn open_store(folder: &Path) -> Arc<dyn MemoryStore> {
    Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap())
}

fn scope(guild: u64) -> Scope {
    Scope { owner: Owner::Guild(guild), campaign: CampaignKey("saltmarsh".to_owned()) }
}

/// A sent call and the service's bill for it, in millionths.
struct Call {
    reserved: Reservation,
    of_mira: bool,
    bill: u64,
}

/// A server whose players and tools spend as much as they can, and its bill so far, in millionths.
struct World {
    store: Arc<dyn MemoryStore>,
    scope: Scope,
    accounts: Accounts,
    play: Budget,
    outside: Budget,
    calls: Vec<Call>,
    billed: u64,
    billed_outside: u64,
    billed_to_mira: u64,
}

impl World {
    async fn begin(store: &Arc<dyn MemoryStore>, guild: u64) -> Self {
        let (store, scope) = (Arc::clone(store), scope(guild));
        let (accounts, play, outside) = Self::opened(&store, &scope).await;
        let (billed, billed_outside, billed_to_mira) = (0, 0, 0);
        let calls = Vec::new();
        Self {
            store,
            scope,
            accounts,
            play,
            outside,
            calls,
            billed,
            billed_outside,
            billed_to_mira,
        }
    }

    async fn opened(store: &Arc<dyn MemoryStore>, scope: &Scope) -> (Accounts, Budget, Budget) {
        let accounts = Accounts::new(Some(Arc::clone(store)));
        let play = accounts
            .open(scope, AccountFor::Play { session: "friday".to_owned() }, &options())
            .await
            .unwrap();
        play.expect("Mira", Some(MIRAS));
        let outside = accounts.open(scope, AccountFor::Outside, &options()).await.unwrap();
        (accounts, play, outside)
    }

    /// `count` calls at once, of Mira or of an NPC without a cap.
    async fn ask(&mut self, count: usize, of_mira: bool, bound: u64) {
        let (payer, cap) = if of_mira { ("Mira", Some(MIRAS)) } else { ("Bartok", None) };
        let asking = (0..count).map(|_| self.play.reserve(Some("m"), payer, cap, tokens(bound)));
        for reserved in join_all(asking).await.into_iter().flatten() {
            self.bill(bound, of_mira);
            self.calls.push(Call { reserved, of_mira, bill: bound });
        }
    }

    fn bill(&mut self, amount: u64, of_mira: bool) {
        self.billed += amount;
        if of_mira {
            self.billed_to_mira += amount;
        }
    }

    async fn act(&mut self, rng: &mut StdRng) {
        let taken = (!self.calls.is_empty()).then(|| rng.random_range(0..self.calls.len()));
        match (rng.random_range(0..100), taken) {
            (0..30, _) => {
                let (of_mira, bound) = (rng.random_bool(0.4), rng.random_range(1..80_000));
                self.ask(1, of_mira, bound).await;
            }
            // A server that samples as often as it can.
            (30..35, _) => self.ask(4, true, 60_000).await,
            (35..40, _) => {
                let bound = rng.random_range(1..80_000);
                if let Ok(reserved) =
                    self.outside.reserve(Some("m"), "Aide", None, tokens(bound)).await
                {
                    self.billed_outside += bound;
                    reserved.settle(tokens(bound));
                }
            }
            (40..75, Some(index)) => {
                // Costs less than reserved, also on the bill.
                let Call { reserved, of_mira, bill } = self.calls.swap_remove(index);
                let used = rng.random_range(0..=bill);
                self.billed -= bill - used;
                if of_mira {
                    self.billed_to_mira -= bill - used;
                }
                reserved.settle(tokens(used));
            }
            (75..83, Some(index)) => {
                let (bill, of_mira) = (self.calls[index].bill, self.calls[index].of_mira);
                if self.calls[index].reserved.attempts().again(Kind::Unavailable).await.is_ok() {
                    self.bill(bill, of_mira);
                }
            }
            // Cancelled: billed all the same.
            (83..95, Some(index)) => drop(self.calls.swap_remove(index)),
            (95..98, _) => self.killed().await,
            (98.., _) => self.restarted().await,
            _ => {}
        }
    }

    /// Kills the process; the store keeps its content.
    async fn killed(&mut self) {
        let (accounts, play, outside) = Self::opened(&self.store, &self.scope).await;
        let calls = std::mem::take(&mut self.calls);
        let before = (
            std::mem::replace(&mut self.accounts, accounts),
            std::mem::replace(&mut self.play, play),
            std::mem::replace(&mut self.outside, outside),
        );
        std::mem::forget((calls, before));
    }

    async fn restarted(&mut self) {
        self.calls.clear();
        self.accounts.close().await;
        let (accounts, play, outside) = Self::opened(&self.store, &self.scope).await;
        (self.accounts, self.play, self.outside) = (accounts, play, outside);
    }

    fn holds(&self) {
        let of = |amount: f64| Money::of(amount).0 / 1_000;
        assert!(self.billed <= of(CAP), "{} billed in a session", self.billed);
        assert!(self.billed_outside <= of(CAP), "{} billed outside", self.billed_outside);
        assert!(self.billed + self.billed_outside <= of(MONTH), "the month's cap");
        assert!(self.billed_to_mira <= of(MIRAS), "{} billed to Mira", self.billed_to_mira);
    }
}

/// A server's life: 400 steps of turns, simultaneous samplings, retries, cancels, kills and
/// restarts. Returns its bill.
async fn lived(store: &Arc<dyn MemoryStore>, guild: u64) -> u64 {
    let mut rng = StdRng::seed_from_u64(guild);
    let mut world = World::begin(store, guild).await;
    for _ in 0..400 {
        world.act(&mut rng).await;
        world.holds();
    }
    world.billed + world.billed_outside
}

/// 10,000 steps of 25 servers at once, whose simultaneous writes reach the disk together.
#[tokio::test]
async fn services_never_bill_more_than_caps() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(folder.path());
    let billed = join_all((0..25).map(|guild| lived(&store, guild))).await;
    let full = billed.iter().filter(|billed| **billed > 1_500_000).count();
    assert!(full > 15, "money is there to be spent: {billed:?} millionths");
}

/// Both programs' bills stay below the cap.
#[tokio::test]
async fn two_programs_share_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open_store(folder.path()), open_store(folder.path()));
    let (mut one, mut other) = (World::begin(&one, 1).await, World::begin(&other, 1).await);
    for _ in 0..60 {
        one.ask(1, false, 50_000).await;
        other.ask(1, false, 50_000).await;
    }
    let billed = one.billed + other.billed;
    assert!(billed <= 2_000_000 && billed > 1_700_000, "{billed}");
}

/// Costs in the store are what was settled, by session, payer, service and tool.
#[tokio::test]
async fn costs_in_the_store_are_what_was_settled() {
    let folder = tempfile::tempdir().unwrap();
    paused::begin(1_795_337_697_000);
    let (store, scope) = (open_store(folder.path()), scope(1));
    let accounts = Accounts::new(Some(Arc::clone(&store)));
    let friday = AccountFor::Play { session: "friday".to_owned() };
    let play = accounts.open(&scope, friday, &options()).await.unwrap();
    for (tool, used) in [(None, 7_000), (Some("image-gen.draw"), 5_000), (None, 2_000)] {
        let budget = tool.map_or_else(|| play.clone(), |tool| play.for_tool(tool));
        let reserved = budget.reserve(Some("m"), "Mira", None, tokens(20_000)).await.unwrap();
        reserved.settle(tokens(used));
    }
    drop(play);
    accounts.close().await;
    let day = "2026-11-22".to_owned();
    let costs = store.costs(&scope, day.clone()..=day).await.unwrap();
    let costs: Vec<_> = costs
        .iter()
        .map(|it| (&*it.session, &*it.cost.tool, it.cost.spent.0 / 1_000, it.cost.requests))
        .collect();
    assert_eq!(costs, [("friday", "", 9_000, 2), ("friday", "image-gen.draw", 5_000, 1)]);
    paused::end();
}

/// Payments outside sessions stay within the caps of that account and of its payer.
#[tokio::test]
async fn tools_outside_sessions_are_paid_within_caps() {
    let folder = tempfile::tempdir().unwrap();
    let (store, scope) = (open_store(folder.path()), scope(1));
    let accounts = Accounts::new(Some(store));
    let mut mira = Npc::plain("Mira");
    mira.policy.max_cost = Some(MIRAS);
    let (mira, bartok) = (Arc::new(mira), Arc::new(Npc::plain("Bartok")));
    for (npc, paid) in [(mira, 5), (bartok, 15)] {
        let payments = accounts.payments(&scope, &options(), &npc);
        for _ in 0..paid {
            let payment = payments.reserve("m", tokens(100_000)).await.unwrap();
            payment.settle(tokens(100_000));
        }
        let refused = payments.reserve("m", tokens(100_000)).await.err().expect("a cap");
        assert_eq!(refused.kind, CallErrorKind::Policy, "{}", npc.name);
    }
    accounts.close().await;
    // The monitor reads what is booked, to the billionth.
    let spent = "glyphoxa_spend_usd_total{service=\"m\",kind=\"npc\"} 2.000000000";
    let figures = accounts.figures().render();
    assert!(figures.lines().any(|line| line == spent), "{figures}");
}

/// A turn rarely waits for the disk: its money was reserved before.
#[tokio::test]
async fn turn_does_not_wait_for_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::begin(&open_store(folder.path()), 1).await;
    let mut waited = 0;
    for _ in 0..60 {
        let reserved = world.play.reserve_now(Some("m"), "Bartok", None, tokens(6_000)).unwrap();
        waited += usize::from(!reserved.is_ready());
        reserved.ready().await.unwrap();
        reserved.settle(tokens(2_000));
    }
    assert!(waited < 30, "{waited} of 60 turns have waited for the disk");
}
