//! Prometheus reads the figures of an evening.

use std::time::Duration;

use discord_loopback::{Options, Player, Slash};
use serde_json::Value;
use tokio::task::block_in_place;

use super::hall::{BOUND, Hall, said};
use crate::{
    deploying::queries,
    hostile::has_python,
    support::{
        chat_server::{ChatServer, Script},
        processes::wait_until,
        program::repository,
        prometheus::{Prometheus, fetched, promtool},
    },
    third_party::free_port,
};

/// Odo, whose model costs money, and a tool server.
fn config(port: u16, model: &ChatServer) -> String {
    let (url, tools) = (model.base_url(), repository("tests/support/mcp/server.py"));
    format!(
        r#"
web: {{ listen: "127.0.0.1:{port}" }}
cluster: {{ shards: 1 }}
providers:
  llm:
    - {{ service: openai, as: dear, base_url: "{url}", model: m }}
prices: {{ m: {{ input: 100, cached_input: 10, output: 200 }} }}
npcs:
  - {{ name: Odo, personality: A ferryman., llm: dear, voice: {{ provider: flite, voice_id: rms }} }}
mcp:
  servers:
    - {{ name: home, command: "python3 '{}' plain" }}
"#,
        tools.display()
    )
}

/// `player` greets Odo and hears his answer.
async fn greets(hall: &Hall, player: &Player) {
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    player.wait_for_silence(bot, quiet, BOUND).await.expect("the bot falls silent");
    player.forget();
    player.say(&said("slt", "Odo, good evening")).await.expect("it is said");
    player.wait_until_heard(bot, BOUND).await.expect("Odo answers");
    player.wait_for_silence(bot, quiet, BOUND).await.expect("Odo comes to an end");
}

/// Money in the figures is what `glyphoxa cost` reads in the ledger, once all is booked.
#[track_caller]
fn assert_figures_agree_with_ledger(hall: &Hall, port: u16) {
    let guild = hall.inn.id.to_string();
    wait_until("figures and ledger agree", || {
        let text = fetched(port, "/metrics").expect("figures");
        let spent = text.lines().filter(|line| line.starts_with("glyphoxa_spend_usd_total{"));
        let spent = spent.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        let cost = hall.place.run(&["cost", "--guild", &guild, "--json"]).ends_with(0).line();
        let booked = cost["cost"].as_f64().expect("a cost");
        booked > 0.0 && (spent.sum::<f64>() - booked).abs() < 1e-9
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_has_data_after_an_evening() {
    let port = free_port();
    let Some(prometheus) = Prometheus::start(free_port(), port) else { return };
    if !has_python() {
        return;
    }
    let model = ChatServer::start();
    model.otherwise(|request| {
        let asks = |it: &Value| it["role"] == "user" && it["content"].to_string().contains("2d6+3");
        match request.json["messages"].as_array().and_then(|it| it.last()) {
            Some(last) if asks(last) => {
                Script::calls(&[("call_1", "roll", r#"{"expression": "2d6+3"}"#)])
            }
            _ => Script::text(&["Good evening to you. ", "The river is high."]),
        }
    });

    let config = config(port, &model);
    let (hall, [_dora, player]) = Hall::with_player(Options::default(), &config, "Anna").await;
    let seen = |query: &str, least: f64| {
        block_in_place(|| {
            prometheus.until(query, |values| values.iter().any(|value| *value >= least));
        });
    };
    // What changes between two looks has a rate, so everything happens twice.
    for round in [1.0, 2.0] {
        greets(&hall, &player).await;
        hall.rolls_for(&player).await;
        hall.asks(&hall.dm, Slash::new("xcard")).await;
        hall.asks(&hall.dm, Slash::new("npc unmuteall")).await;
        seen("sum(glyphoxa_turn_first_audio_seconds_count)", 2.0 * round);
        seen("glyphoxa_interruptions_total{kind=\"x_card\"}", round);
    }
    for query in queries() {
        seen(&query, 0.0);
    }
    seen("sum(glyphoxa_spend_usd_total)", 0.001);
    seen("glyphoxa_mcp_server_up{server=\"home\"}", 1.0);
    let broken = block_in_place(|| prometheus.broken_rules());
    assert!(broken.is_empty(), "{broken:?}");
    let text = block_in_place(|| fetched(port, "/metrics")).expect("figures");
    let checked = block_in_place(|| promtool(&["check", "metrics"], &text)).expect("it is here");
    let checked = checked.ends_with(0);
    assert_eq!((checked.stdout.as_str(), checked.stderr.as_str()), ("", ""), "{text}");
    block_in_place(|| assert_figures_agree_with_ledger(&hall, port));
    hall.ends();
}
