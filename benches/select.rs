//! Choosing tools: `visible()` and narrowing over a thousand tools, by words and by stand-in
//! embeddings. One JSON line per case, then one that says which goals hold.
//!
//! An NPC may use all thousand. `floor` is arithmetic that takes about as long as a choice and
//! needs nothing of the program: its slow end is the machine's. `words` narrows by ten utterances in
//! turn, `common_words` by one whose every word is in every tool. In `cosine` the embedder answers at
//! once with 384 numbers, which are kept from the second time on, so what is left is the comparison.
//! `--quick` runs less of each, with a tenth of the tools.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing calls is none")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{hint::black_box, sync::Arc, time::Instant};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use glyphoxa::measure::{
    CallContext, CallError, CallOutput, Declared, Definition, Embedder, Error, Handler, Materials,
    Query, SelectionOptions, SourceKind, Tier, ToolHost, offer_built_ins,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};
use support::{
    figures::{Figures, ms, rounded, runtime},
    table::npc,
};

/// Tools an NPC may use, the built-in ones not counted.
const TOOLS: usize = 1_000;
/// Length of the vectors of small sentence models.
const DIMENSION: usize = 384;
/// Its tier.
const TIER: Tier = Tier::Deep;
/// Subjects of tools.
const THINGS: [&str; 25] = [
    "weather", "spell", "quest", "merchant", "map", "lamp", "door", "calendar", "message", "song",
    "monster", "treasure", "potion", "journey", "tavern", "temple", "weapon", "armour", "portrait",
    "rumour", "faction", "note", "timer", "file", "table",
];
/// Actions of tools: the verb, and the start of the description.
const DEEDS: [(&str, &str); 40] = [
    ("get", "Returns one"),
    ("list", "Lists every"),
    ("find", "Finds a"),
    ("create", "Makes a new"),
    ("update", "Changes a"),
    ("delete", "Removes a"),
    ("describe", "Tells all about a"),
    ("compare", "Compares two of a"),
    ("rank", "Orders by worth each"),
    ("price", "Prices a"),
    ("share", "Shares with the table a"),
    ("hide", "Hides from players a"),
    ("open", "Opens a"),
    ("close", "Closes a"),
    ("move", "Moves elsewhere a"),
    ("copy", "Copies a"),
    ("draw", "Draws a picture of a"),
    ("play", "Plays a"),
    ("stop", "Stops a"),
    ("start", "Starts a"),
    ("schedule", "Sets a time for a"),
    ("cancel", "Cancels a"),
    ("count", "Counts how many there are of a"),
    ("tag", "Puts a tag on a"),
    ("untag", "Takes a tag off a"),
    ("link", "Links to another a"),
    ("split", "Splits a"),
    ("merge", "Merges with another a"),
    ("check", "Checks the state of a"),
    ("repair", "Repairs a broken"),
    ("break", "Breaks a"),
    ("lock", "Locks a"),
    ("unlock", "Unlocks a"),
    ("summon", "Summons a"),
    ("banish", "Banishes a"),
    ("translate", "Translates the words of a"),
    ("read", "Reads a"),
    ("write", "Writes a"),
    ("import", "Imports from elsewhere a"),
    ("export", "Exports as a file a"),
];
/// Lines of players.
const UTTERANCES: [&str; 10] = [
    "What will the weather be like on the road to Ravenford tomorrow, and should we wait?",
    "Which spell could open this door without anybody in the tavern hearing it?",
    "Kannst du mir sagen, welche Gerüchte in der Stadt über den Schatz erzählt werden?",
    "Draw us a picture of the monster that came out of the temple",
    "Roll a d20 for me, with advantage",
    "Wie viele Tränke haben wir noch, und was kosten neue?",
    "Please stop that song and play something for a fight",
    "I walk over to the merchant and ask what he wants for the silver armour",
    "Do you remember who gave us the quest with the lost message?",
    "Well met, my friend!",
];

/// Does nothing.
struct Idle;

impl Handler for Idle {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        ready(Ok(CallOutput::text("done"))).boxed()
    }
}

/// Vectors that are near each other or not, at once.
struct Random;

impl Embedder for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn dimension(&self) -> Option<usize> {
        Some(DIMENSION)
    }

    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>> {
        let vector = |text: &String| {
            let seed =
                text.bytes().fold(7_u64, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte));
            let mut dice = StdRng::seed_from_u64(seed);
            (0..DIMENSION).map(|_| dice.random_range(0.0..1.0)).collect()
        };
        let vectors = texts.iter().map(vector).collect();
        ready(Ok(vectors)).boxed()
    }
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (n, tools) = if quick { (20, TOOLS / 10) } else { (5_000, TOOLS) };
    let host = host(tools);
    let runtime = runtime();
    let time = |act: &mut dyn FnMut(usize)| {
        let times = (0..n).map(|nth| {
            let started = Instant::now();
            act(nth);
            ms(started.elapsed())
        });
        Figures::new(times.collect::<Vec<_>>())
    };
    let floor = time(&mut |nth| _ = black_box(arithmetic(nth)));
    let name = npc().name;
    let visible = batched(n, || _ = black_box(host.visible(&name, TIER, TIER.ceiling())));
    assert_eq!(host.visible(&name, TIER, TIER.ceiling()).len(), tools + 2);
    let offered = |utterance: &str| {
        let query = Query { utterance, ..Query::default() };
        let offered = host.offered(&name, TIER, TIER.ceiling(), &query);
        let offered = runtime.block_on(offered);
        assert!(offered.len() <= 9, "narrowed");
        black_box(offered);
    };
    let common = "tools of a table for every place and state: value, place".repeat(3);
    let words = time(&mut |nth| offered(UTTERANCES[nth % UTTERANCES.len()]));
    let common_words = time(&mut |_| offered(&common));
    let threshold = 0.5;
    let options = SelectionOptions { threshold, ..SelectionOptions::default() };
    host.select_by(options, Some(Arc::new(Random)));
    runtime.block_on(host.embedded());
    let cosine = time(&mut |nth| offered(UTTERANCES[nth % UTTERANCES.len()]));
    for (case, figures) in [
        ("floor", &floor),
        ("visible", &visible),
        ("words", &words),
        ("common_words", &common_words),
        ("cosine", &cosine),
    ] {
        let us = |percent| rounded(figures.at(percent) * 1e3);
        let line = json!({ "case": case, "tools": tools, "n": figures.n(), "p50_us": us(50),
            "p95_us": us(95), "p99_us": us(99) });
        println!("{line}");
    }
    let slowest = words.at(99).max(common_words.at(99));
    let goals = json!({ "goals": [
        { "goal": "visible() <= 200 ns p50", "reached": visible.at(50) <= 200e-6 },
        { "goal": "by words <= 1 ms p50", "reached": words.at(50) <= 1.0 && common_words.at(50) <= 1.0 },
        { "goal": "by words <= 1 ms p99", "absolute": slowest <= 1.0,
          "relative": slowest <= floor.at(99) + 1.0 },
    ] });
    println!("{goals}");
}

/// Some 50 us of work.
fn arithmetic(seed: usize) -> usize {
    (0..40_000).fold(seed, |sum, n| black_box(sum.wrapping_mul(31).wrapping_add(n)))
}

/// Times of one call each, a hundred at a time: a clock is slower than what is timed.
fn batched(n: usize, act: impl Fn()) -> Figures {
    const AT_ONCE: u32 = 100;
    let times = (0..n).map(|_| {
        let started = Instant::now();
        (0..AT_ONCE).for_each(|_| act());
        ms(started.elapsed() / AT_ONCE)
    });
    Figures::new(times.collect::<Vec<_>>())
}

/// A host with `count` tools of one server, and the built-in ones.
fn host(count: usize) -> ToolHost {
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    let mut npc = npc();
    // Two of the built-in ones, however many there are.
    npc.tools = ["world.*", "dice-roller.roll", "dice-roller.roll_table"].map(str::to_owned).into();
    host.catalog().set_cast(&[Arc::new(npc)]);
    offer_built_ins(&host, Materials::dice(StdRng::seed_from_u64(1)));
    let tools = DEEDS.iter().flat_map(|(deed, does)| {
        THINGS.iter().map(move |thing| Definition {
            name: format!("{deed}_{thing}"),
            description: format!(
                "{does} {thing}. Takes its place or name, and answers with the state of every {thing} \
                 that the table knows of, with a value for each."
            ),
            input: json!({ "type": "object", "properties": {
                "place": { "type": "string" }, "name": { "type": "string" },
                "maxResults": { "type": "integer" },
            } }),
            output: None,
            declared: Declared { read_only: Some(true), ..Declared::default() },
            handler: Arc::new(Idle),
        })
    });
    // Not as a server's: their schemas may only take 2 s to compile.
    let refused = host.offer("world", SourceKind::Manifest, tools.take(count).collect());
    assert!(refused.is_empty(), "{refused:?}");
    host
}
