//! An evening of faults in figures, and what they have to be.
//!
//! Entry methods: [`Evening::schedules`] before the faults, [`Evening::ends`] after them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::{
    AFTER_KILL,
    evening::{Evening, Fault, SEED, TALKERS, TOKENS, most},
    lines_with,
    silence::Figures,
};

/// Price of a token that the model writes.
const PRICE: f64 = 0.001;
/// Time between two firings of the schedule, in ms.
const MINUTE: i64 = 60_000;
/// The clock of a process may be read a moment before that of another.
const MOMENT: i64 = 1_000;

/// Price of so many tokens.
fn price(tokens: u64) -> f64 {
    u32::try_from(tokens).map_or(f64::INFINITY, f64::from) * PRICE
}

/// Lines whose command was answered, and how often each was written.
struct Written {
    /// Lost although they were stored, and written twice.
    lost: usize,
    twice: usize,
    /// Typed just before a fault of the table's process: all of them, and those not stored in time.
    at_a_fault: usize,
    unstored: usize,
}

struct Spend {
    billed: f64,
    booked: f64,
    set_aside: f64,
}

impl Spend {
    /// All that was billed is booked, but for requests under way at a fault, which are set aside.
    #[track_caller]
    fn assert_equals_bill(&self, at_stake: f64) {
        let Self { billed, booked, set_aside } = self;
        assert!((billed - booked).abs() <= at_stake + 1e-6, "{billed} billed, {booked} booked");
        assert!(booked + set_aside >= billed - 1e-6, "{billed} billed, {booked} + {set_aside}");
    }
}

impl Evening {
    /// A workflow begins every minute in one server from now on; since when, as Unix time in ms.
    pub fn schedules(&self) -> i64 {
        let id = self.cluster.guilds[1].id.to_string();
        let when = ["schedule", "create", "every 1m", "--workflow", "bells", "--guild", &*id];
        let list = ["schedule", "list", "--json", "--guild", &*id];
        block_in_place(|| {
            self.desk.run(&when).ends_with(0);
            self.desk.run(&list).ends_with(0).line()["made"].as_i64().expect("a time")
        })
    }

    /// Ends all processes and judges the evening; the schedule was `made` then.
    pub fn ends(mut self, made: i64) {
        let at_once = self.cluster.at_once();
        for it in &mut self.nodes {
            let program = it.node.program.take().expect("it runs");
            assert_eq!(block_in_place(|| program.terminate()), 0);
        }
        let began = self.fired();
        let written = block_in_place(|| self.judge_lines());
        let heard: usize = block_in_place(|| TALKERS.iter().map(|it| self.heard(*it)).sum());
        let spend = block_in_place(|| self.spend());
        let breaches = self.cluster.discord.identify_breaches(self.cluster.discord.bot());
        self.tell(&json!({
            "lines": {
                "typed": self.lines.len(), "lost": written.lost, "twice": written.twice,
                "at_a_fault": written.at_a_fault, "at_a_fault_unstored": written.unstored, "heard": heard,
            },
            "sounds_at_once": at_once.len(), "identify_breaches": breaches,
            "spend": {
                "billed": spend.billed, "booked": spend.booked, "set_aside": spend.set_aside,
            },
            "fired": began.len(), "violations": self.cluster.discord.violations().len(),
        }));

        assert_eq!((written.lost, written.twice), (0, 0), "lines lost, and lines written twice");
        assert!(heard > 0, "players were heard");
        assert!(at_once.is_empty(), "{at_once:#?}");
        assert_eq!(breaches, 0, "identifies that came too early");
        spend.assert_equals_bill(price(self.at_stake * TOKENS));
        assert!(!began.is_empty(), "the schedule fires");
        for (at, due) in began.iter().zip((1..).map(|it| made + it * MINUTE)) {
            assert!(*at >= due - MOMENT, "more than once a minute since {made}: {began:?}");
        }
        let kills = self.silences(Fault::Kill).worst;
        assert!(kills <= AFTER_KILL.as_secs_f64(), "{kills:.1} s of silence after a kill");
    }

    /// Silences of all tables that were hit.
    fn silences(&self, fault: Fault) -> Figures {
        let those = self.suffered.iter().filter(|it| it.fault == fault);
        Figures::of(those.flat_map(|it| it.silences.iter().copied()))
    }

    /// Silences of the table that sounded first after each fault.
    fn first_silences(&self, fault: Fault) -> Figures {
        let those = self.suffered.iter().filter(|it| it.fault == fault);
        Figures::of(those.filter_map(|it| it.silences.iter().min().copied()))
    }

    /// One line of JSON.
    fn tell(&self, more: &Value) {
        let kinds = [
            ("kill", Fault::Kill),
            ("halt", Fault::Halt),
            ("cut", Fault::Cut),
            ("outage", Fault::Outage),
        ];
        let silence = |(name, fault): (&str, Fault)| {
            let (first, all) = (self.first_silences(fault), self.silences(fault));
            (name.to_owned(), json!({ "first_table": first.json(), "all_tables": all.json() }))
        };
        let silence: serde_json::Map<String, Value> = kinds.into_iter().map(silence).collect();
        let told = json!({
            "seed": SEED, "faults": self.suffered.len(),
            "seconds": self.began.elapsed().as_secs(), "silence_seconds": silence, "ended": more,
        });
        eprintln!("{told}");
    }

    /// Lines of a table's transcript that were typed.
    pub fn written(&self, table: usize) -> Vec<String> {
        lines_with("mill", &self.desk, &self.cluster.guilds[table])
    }

    fn judge_lines(&self) -> Written {
        let tables = self.all_tables();
        let found: BTreeMap<usize, Vec<String>> =
            tables.into_iter().map(|table| (table, self.written(table))).collect();
        let mut all = Written { lost: 0, twice: 0, at_a_fault: 0, unstored: 0 };
        for line in &self.lines {
            let times = found[&line.table].iter().filter(|it| **it == line.text).count();
            all.twice += usize::from(times > 1);
            all.lost += usize::from(times == 0 && line.is_stored);
            if line.before.is_some() {
                all.at_a_fault += 1;
                all.unstored += usize::from(!line.is_stored);
            }
        }
        all
    }

    /// How often a talker was heard.
    fn heard(&self, table: usize) -> usize {
        lines_with("evening", &self.desk, &self.cluster.guilds[table]).len()
    }

    /// The model's bill, and the ledger.
    fn spend(&self) -> Spend {
        let requests = self.model.requests();
        let billed: u64 = requests.iter().filter(|it| it.refused.is_none()).map(most).sum();
        let (mut booked, mut set_aside) = (0.0, 0.0);
        for guild in &self.cluster.guilds {
            let id = guild.id.to_string();
            let cost = self.desk.run(&["cost", "--json", "--guild", &id]).ends_with(0).line();
            booked += cost["cost"].as_f64().expect("a cost");
            set_aside += cost["set_aside"].as_f64().expect("money set aside");
        }
        Spend { billed: price(billed), booked, set_aside }
    }

    /// Beginnings of the workflow's runs, as Unix time in ms.
    fn fired(&self) -> Vec<i64> {
        let asked = "SELECT began FROM run WHERE workflow = 'bells' ORDER BY began";
        let rows = self.cluster.rows(asked);
        rows.iter().map(|row| row.get(0)).collect()
    }
}
