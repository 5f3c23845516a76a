use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::domain::{Granted, Limit, Money};

fn options(session_max: f64) -> BudgetOptions {
    let price = Price { input: 1.0, output: 2.0, ..Price::default() };
    let prices = BTreeMap::from([("m".to_owned(), price)]);
    BudgetOptions { session_max: Some(session_max), month_max: None, prices }
}

fn ledger(session_max: f64) -> Ledger {
    Ledger::new(options(session_max), 0.0)
}

fn tokens(input_tokens: u64, output_tokens: u64) -> Consumption {
    Consumption { input_tokens, output_tokens, ..Consumption::default() }
}

fn of<'a>(payer: &'a str, payer_cap: Option<f64>, expected: Consumption) -> Requested<'a> {
    Requested { model: "m", payer, payer_cap, expected, tool: None }
}

#[test]
fn refuses_before_the_cap_is_passed() {
    let mut ledger = ledger(3.0);
    let first = ledger.reserve(&of("Bartok", None, tokens(1_000_000, 500_000))).unwrap();
    let error = ledger.reserve(&of("Bartok", None, tokens(1_000_000, 500_000))).unwrap_err();
    assert!(error.to_string().contains("budget.session_max"), "{error}");
    ledger.settle(first, tokens(10, 10));
    assert!(ledger.spent() < 0.001);
    assert!(ledger.reserve(&of("Bartok", None, tokens(1_000_000, 500_000))).is_ok());
}

#[test]
fn npc_has_its_own_cap_and_free_models_none() {
    let mut ledger = ledger(100.0);
    let error = ledger.reserve(&of("Mira", Some(0.5), tokens(1_000_000, 0))).unwrap_err();
    assert!(error.to_string().contains("Mira's"), "{error}");
    let free = Requested { model: "free", ..of("Mira", Some(0.0), tokens(u64::MAX, 0)) };
    assert!(ledger.reserve(&free).is_ok());
}

#[test]
fn call_without_price_costs_reserved_amount() {
    let mut ledger = ledger(10.0);
    let amount = ledger.reserve(&of("Mira", None, tokens(1_000_000, 0))).unwrap();
    ledger.set_options(BudgetOptions { prices: BTreeMap::new(), ..options(10.0) });
    ledger.settle(amount, tokens(10, 0));
    assert!((ledger.spent() - 1.0).abs() < 1e-9, "{}", ledger.spent());
}

/// Four parallel samplings at 0.12 each under an NPC's cap of 0.20: one fits.
#[test]
fn payers_cap_sees_what_is_under_way() {
    let mut ledger = ledger(100.0);
    let under_way: Vec<_> = (0..4)
        .filter_map(|_| ledger.reserve(&of("Mira", Some(0.2), tokens(120_000, 0))).ok())
        .collect();
    assert_eq!(under_way.len(), 1);
    under_way.into_iter().for_each(|held| ledger.release(held));
    assert!(ledger.reserve(&of("Mira", Some(0.2), tokens(120_000, 0))).is_ok(), "given back");
}

#[test]
fn higher_cached_price_raises_cost_bound() {
    let price = Price { input: 1.0, cached_input: 3.0, ..Price::default() };
    let options =
        BudgetOptions { prices: BTreeMap::from([("m".to_owned(), price)]), ..options(1.0) };
    assert_eq!(options.bound("m", tokens(1_000_000, 0)), Money::of(3.0));
    let used = Consumption { cached_tokens: 9_000_000, ..tokens(1_000_000, 0) };
    assert_eq!(options.cost("m", used), Money::of(3.0), "more from the cache than there was");
}

#[test]
fn cache_write_price_applies_only_to_writes() {
    let price = Price { input: 1.0, cached_input: 0.1, cache_write: 1.25, ..Price::default() };
    let options =
        BudgetOptions { prices: BTreeMap::from([("m".to_owned(), price)]), ..options(1.0) };
    let million = tokens(1_000_000, 0);
    let used = Consumption { cached_tokens: 500_000, written_tokens: 400_000, ..million };
    assert_eq!(options.cost("m", used), Money::of(0.1 + 0.05 + 0.5));
    let more = Consumption { cached_tokens: 500_000, written_tokens: 9_000_000, ..million };
    assert_eq!(options.cost("m", more), Money::of(0.05 + 0.625), "more than there was");
    assert_eq!(options.bound("m", million), Money::of(1.0), "this service writes to no cache");
    let writes = Consumption { written_tokens: 1_000_000, ..million };
    assert_eq!(options.bound("m", writes), Money::of(1.25));
}

#[test]
fn tokens_of_sound_cost_their_own_price() {
    let price = Price { audio_input: 32.0, audio_cached: 0.4, audio_output: 64.0, ..TEXT };
    let options =
        BudgetOptions { prices: BTreeMap::from([("m".to_owned(), price)]), ..options(1.0) };
    let million = 1_000_000;
    let heard = Consumption { audio_in: million, ..Consumption::default() };
    assert_eq!(options.cost("m", heard), Money::of(32.0));
    let again = Consumption { audio_cached: 900_000, ..heard };
    assert_eq!(options.cost("m", again), Money::of(3.2 + 0.36));
    let more = Consumption { audio_cached: 9_000_000, ..heard };
    assert_eq!(options.cost("m", more), Money::of(0.4), "more from the cache than was heard");
    let spoken = Consumption { audio_out: million, ..tokens(million, million) };
    assert_eq!(options.cost("m", spoken), Money::of(4.0 + 24.0 + 64.0), "beside what is text");
    assert_eq!(options.cost("other", spoken), Money::ZERO);
}

#[test]
fn sound_is_bound_by_the_dearest_it_may_cost() {
    let bound = |audio_cached| {
        let price = Price { audio_input: 32.0, audio_cached, ..TEXT };
        let prices = BTreeMap::from([("m".to_owned(), price)]);
        let heard = Consumption { audio_in: 1_000_000, audio_cached: 1_000_000, ..tokens(0, 0) };
        BudgetOptions { prices, ..options(1.0) }.bound("m", heard)
    };
    assert_eq!(bound(0.4), Money::of(32.0), "the cache may not have it");
    assert_eq!(bound(40.0), Money::of(40.0));
}

#[test]
fn pictures_and_requests_cost_each() {
    let price = Price { picture: 0.04, request: 0.005, ..Price::default() };
    let prices = BTreeMap::from([("m".to_owned(), price)]);
    let options = BudgetOptions { prices, ..options(1.0) };
    let used = Consumption { pictures: 2, requests: 3, ..Consumption::default() };
    assert_eq!(options.cost("m", used), Money::of(0.095));
    assert_eq!(options.bound("m", used), Money::of(0.095));
}

#[test]
fn picture_of_counted_tokens_costs_those() {
    let price = Price { picture: 0.25, output: 30.0, ..Price::default() };
    let prices = BTreeMap::from([("m".to_owned(), price)]);
    let options = BudgetOptions { prices, ..options(1.0) };
    let picture = Consumption { pictures: 1, ..Consumption::default() };
    assert_eq!(options.bound("m", picture), Money::of(0.25));
    let counted = Consumption { output_tokens: 1_000, ..picture };
    assert_eq!(options.cost("m", counted), Money::of(0.03));
}

/// Text prices of a service that also takes sound.
const TEXT: Price = Price {
    input: 4.0,
    cached_input: 0.4,
    cache_write: 5.0,
    output: 24.0,
    audio_input: 0.0,
    audio_cached: 0.0,
    audio_output: 0.0,
    characters: 0.0,
    minute: 0.0,
    picture: 0.0,
    request: 0.0,
};

#[derive(Default)]
struct Store {
    taken: BTreeMap<Option<String>, Money>,
    posts: usize,
}

impl Store {
    fn post(&mut self, postings: &Postings) -> Vec<Granted> {
        self.posts += 1;
        let grant = |claim: &crate::domain::Claim| {
            let taken = self.taken.entry(claim.payer.clone()).or_default();
            let room = claim.cap.map_or(Money(u64::MAX), |cap| cap.less(taken.plus(claim.owed)));
            let refused = (claim.want.min(room) < claim.need).then_some(Limit::Account);
            let granted = if refused.is_some() { Money::ZERO } else { claim.want.min(room) };
            let granted = granted.plus(claim.owed);
            *taken = taken.plus(granted).less(claim.returned);
            Granted { payer: claim.payer.clone(), granted, total: *taken, refused }
        };
        postings.claims.iter().map(grant).collect()
    }
}

fn written(ledger: &mut Ledger, store: &mut Store) {
    while let Some(postings) = ledger.postings() {
        let granted = store.post(&postings);
        ledger.posted(&postings, &granted);
    }
}

#[test]
fn requests_go_out_without_waiting_for_store() {
    let (mut ledger, mut store) = (Ledger::kept(options(100.0), false), Store::default());
    let mut waited = 0;
    for _ in 0..200 {
        written(&mut ledger, &mut store);
        let held = ledger.reserve(&of("Mira", None, tokens(20_000, 300))).unwrap();
        waited += usize::from(!ledger.is_covered(&held).unwrap());
        written(&mut ledger, &mut store);
        assert!(ledger.is_covered(&held).unwrap());
        ledger.settle(held, tokens(6_000, 100));
    }
    assert_eq!(waited, 0, "{} posts", store.posts);
    ledger.rest();
    written(&mut ledger, &mut store);
    assert_eq!(store.taken[&None], Money::of(200.0 * 0.0062), "what is left has gone back");
}

#[test]
fn store_outage_allows_only_money_set_aside() {
    let (mut ledger, mut store) = (Ledger::kept(options(1.0), false), Store::default());
    written(&mut ledger, &mut store);
    let small = ledger.reserve(&of("Mira", None, tokens(15_000, 0))).unwrap();
    assert!(ledger.is_covered(&small).unwrap(), "set aside ahead");
    let large = ledger.reserve(&of("Mira", None, tokens(500_000, 0))).unwrap();
    let postings = ledger.postings().unwrap();
    assert!(!ledger.is_covered(&large).unwrap());
    ledger.unposted(&postings, "it is away".to_owned());
    let error = ledger.is_covered(&large).unwrap_err();
    assert!(error.to_string().contains("it is away"), "{error}");
    ledger.release(large);
    ledger.settle(small, tokens(15_000, 0));
    written(&mut ledger, &mut store);
    let again = ledger.reserve(&of("Mira", None, tokens(500_000, 0))).unwrap();
    written(&mut ledger, &mut store);
    assert!(ledger.is_covered(&again).unwrap(), "it is back");
}

/// A call of the simulation.
struct Call {
    held: ReservedAmount,
    bill: Consumption,
    went_out: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask { payer: usize, input: u64, share: u64 },
    Write,
    Answer(usize),
    Retry(usize),
    Cancel(usize),
    Away,
    Kill,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let ask = (0..3_usize, 1..120_000_u64, 0..=100_u64);
    prop_oneof![
        5 => ask.prop_map(|(payer, input, share)| Step::Ask { payer, input, share }),
        5 => Just(Step::Write),
        3 => (0..8_usize).prop_map(Step::Answer),
        1 => (0..8_usize).prop_map(Step::Retry),
        1 => (0..8_usize).prop_map(Step::Cancel),
        1 => Just(Step::Away),
        1 => Just(Step::Kill),
        1 => Just(Step::Restart),
    ]
}

const CAP: f64 = 2.0;
const MIRAS: f64 = 0.5;
const PAYERS: [(&str, Option<f64>); 3] =
    [("Mira", Some(MIRAS)), ("Bartok", None), ("hearing", None)];

/// The ledger, the store, the calls, and what the service has billed.
struct World {
    ledger: Ledger,
    store: Store,
    calls: Vec<Call>,
    billed: u64,
    billed_to_mira: u64,
}

impl World {
    fn begin(&mut self) {
        self.ledger = Ledger::kept(options(CAP), false);
        self.ledger.expect("Mira", Some(MIRAS));
        written(&mut self.ledger, &mut self.store);
    }

    /// Sends calls as soon as they are covered; from then on they are billed, whatever happens.
    fn send(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            self.send_one(call);
        }
    }

    fn send_one(&mut self, mut call: Call) {
        if !call.went_out {
            match self.ledger.is_covered(&call.held) {
                Ok(false) => {}
                Err(_) => return self.ledger.release(call.held),
                Ok(true) => {
                    call.went_out = true;
                    let cost = options(CAP).cost("m", call.bill).0;
                    self.billed += cost;
                    if call.held.is_of("Mira") {
                        self.billed_to_mira += cost;
                    }
                }
            }
        }
        self.calls.push(call);
    }

    fn ask(&mut self, payer: usize, bound: u64, bill: u64) {
        let (payer, cap) = PAYERS[payer];
        if let Ok(held) = self.ledger.reserve(&of(payer, cap, tokens(bound, 0))) {
            self.send_one(Call { held, bill: tokens(bill, 0), went_out: false });
        }
    }

    fn take(&mut self, index: usize) -> Option<Call> {
        (index < self.calls.len()).then(|| self.calls.remove(index))
    }

    fn act(&mut self, step: Step) {
        match step {
            Step::Ask { payer, input, share } => self.ask(payer, input, input * share / 100),
            Step::Write => written(&mut self.ledger, &mut self.store),
            Step::Answer(index) => match self.take(index) {
                Some(call) if call.went_out => self.ledger.settle(call.held, call.bill),
                Some(call) => self.calls.push(call),
                None => {}
            },
            // A cancelled call is booked in full; its retry has its own reservation.
            Step::Retry(index) => {
                if self.calls.get(index).is_some_and(|call| call.went_out) {
                    let call = self.calls.remove(index);
                    self.ledger.settle_at_least(call.held, Consumption::default());
                    self.ask(1, 50_000, 40_000);
                }
            }
            Step::Cancel(index) => {
                if let Some(call) = self.take(index) {
                    match call.went_out {
                        true => self.ledger.settle_at_least(call.held, Consumption::default()),
                        false => self.ledger.release(call.held),
                    }
                }
            }
            Step::Away => {
                if let Some(postings) = self.ledger.postings() {
                    self.ledger.unposted(&postings, "away".to_owned());
                }
            }
            Step::Kill => {
                self.calls.clear();
                self.begin();
            }
            Step::Restart => {
                for call in std::mem::take(&mut self.calls) {
                    if call.went_out {
                        self.ledger.settle_at_least(call.held, Consumption::default())
                    } else {
                        self.ledger.release(call.held)
                    }
                }
                self.ledger.rest();
                written(&mut self.ledger, &mut self.store);
                self.begin();
            }
        }
        self.send();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    /// 50 times 200 steps: what was billed never exceeds a cap, whatever is killed and restarted.
    #[test]
    fn no_interleaving_passes_a_cap(steps in prop::collection::vec(step(), 200)) {
        let store = Store::default();
        let mut world = World {
            ledger: Ledger::default(), store, calls: Vec::new(), billed: 0, billed_to_mira: 0,
        };
        world.begin();
        for step in steps {
            world.act(step);
            prop_assert!(world.billed <= Money::of(CAP).0, "{} billed", world.billed);
            prop_assert!(world.billed_to_mira <= Money::of(MIRAS).0);
            prop_assert!(world.billed <= world.store.taken[&None].0, "more than is set aside");
        }
    }
}

#[test]
fn costs_that_were_not_posted_come_again() {
    let mut ledger = Ledger::kept(options(3.0), true);
    let amount = ledger.reserve(&of("Mira", None, tokens(1_000_000, 0))).unwrap();
    ledger.settle(amount, tokens(500_000, 0));
    let lost = ledger.postings().unwrap();
    let costs: Vec<_> =
        lost.costs.iter().map(|it| (&*it.payer, &*it.service, it.requests)).collect();
    assert_eq!(costs, [("Mira", "m", 1)]);
    ledger.unposted(&lost, "away".to_owned());
    assert_eq!(ledger.postings().unwrap().costs, lost.costs);
    assert!(ledger.postings().is_none_or(|it| it.costs.is_empty()));
}
