//! Programs outside have NPCs speak at a table in Discord.

use discord_loopback::{Options, Player, Slash};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::hall::Hall;
use crate::{support::outside::Caller, third_party::free_port};

/// Long enough to be interrupted.
const TALE: &str = "Four wagons went out by the north gate. Eleven people went with them. Not one \
                    of them came back to us. The guard has searched the road for a week. They found \
                    a wheel, a boot and a broken lantern.";
/// Packets of its first words.
const BEGUN: usize = 60;

/// Bartok tells the tale; the result, and `during` once it has begun.
async fn told(
    hall: &Hall,
    dora: &Player,
    caller: &Caller,
    during: impl Future<Output = ()>,
) -> Value {
    dora.forget();
    let caller = caller.clone();
    let tale = json!({ "npc": "Bartok", "text": TALE });
    let said = spawn_blocking(move || caller.calls("voice.speak", &tale));
    hall.is_heard_for(dora, BEGUN).await;
    during.await;
    said.await.expect("an answer")
}

#[tokio::test(flavor = "multi_thread")]
async fn program_has_an_npc_speak_at_the_table() {
    let port = free_port();
    let web = format!("web: {{ listen: \"127.0.0.1:{port}\" }}\n");
    let (hall, dora) = Hall::in_session(Options::default(), &web).await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    let guild = hall.inn.id.to_string();
    let caller = Caller::new(&hall.place, port, &["--guild", &guild]);
    let whole = told(&hall, &dora, &caller, async {}).await;
    assert_eq!((&whole["how"], &whole["heard"]), (&json!("spoken"), &json!(TALE)));
    assert_eq!(whole["seconds"], Value::Null, "the table has its sound");
    assert!(hall.audible(&dora) > 4 * BEGUN, "{}", hall.audible(&dora));
    let panel = hall.reads(|it| it.text().contains("outside: voice.speak by ")).await;
    let part = told(&hall, &dora, &caller, async {
        hall.presses(&hall.dm, &panel, "Next speaker").await;
    });
    let part = part.await;
    assert_eq!(part["how"], "interrupted", "{part}");
    let heard = part["heard"].as_str().expect("text");
    assert!(heard.starts_with("Four wagons") && !heard.contains("lantern"), "{heard}");
    let carded = told(&hall, &dora, &caller, async {
        hall.asks(&hall.dm, Slash::new("xcard")).await;
    });
    let carded = carded.await;
    assert_eq!((&carded["how"], &carded["heard"]), (&json!("x_card"), &json!("")));
    let listened = json!({ "text": "I am here." });
    assert_eq!(caller.calls("voice.speak", &listened)["how"], "x_card");
    hall.ends();
}
