//! The world of a campaign, by its game master: entities, and which campaign is played.

use std::time::Duration;

use discord_loopback::{Message, Options, Response, Slash};

use super::hall::{BOUND, Hall};

const SALTMARSH: &str = "campaign: { name: Saltmarsh, description: A harbour., system: 5e }\n\
                         entities:\n\
                         - { name: Anders Solmor, type: npc, relationships: [{ target: Eda, type: suspects }] }\n\
                         - { name: Eda, type: npc }\n";

fn with_file(path: &str, name: &str, text: &str) -> Slash {
    Slash::new(path).file("file", name, "application/yaml", text.as_bytes())
}

async fn pressed(hall: &Hall, question: &Message, id: &str) -> Response {
    let answer = hall.discord.press(&hall.dm, hall.inn.text, question.id, id).await.unwrap();
    answer.wait_final(BOUND).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn entities_can_be_added_imported_and_removed() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let is = async |slash: Slash, wanted: &str| {
        let text = hall.told(&hall.dm, slash).await;
        assert!(text.contains(wanted), "wanted '{wanted}': {text}");
    };
    let anna = hall.inn.add_member("Anna", &[]);
    let refused = hall.told(&anna, Slash::new("entity list")).await;
    assert!(refused.contains("only game masters"), "{refused}");
    let grim = || {
        let add = Slash::new("entity add").option("name", "Grimwald").option("type", "npc");
        add.option("aliases", "the grey, Old Grim").option("secret", true)
    };
    is(grim(), "Added **Grimwald**, visible only to you").await;
    is(grim(), "'Grimwald' already exists").await;
    is(Slash::new("entity show").option("name", "old grim"), "also the grey, Old Grim").await;
    is(Slash::new("entity list").option("type", "npc"), "**Grimwald** · npc · only you know").await;
    is(Slash::new("entity show").option("name", "Elara"), "→ serves Duke Rodric Ashdown").await;
    let typing = Slash::new("entity show").option("name", "grimw");
    let found = hall.discord.autocomplete(&hall.dm, hall.inn.text, typing, "name").await.unwrap();
    assert_eq!(found.wait_first(BOUND).await.unwrap().choices()[0].0, "Grimwald");

    is(
        with_file("entity import", "s.yaml", SALTMARSH),
        "2 entities and 1 relations in 's.yaml': 3 added",
    )
    .await;
    is(with_file("entity import", "s.yaml", SALTMARSH), "0 added, 0 changed, 0 removed").await;
    let wrong = SALTMARSH.replace("target: Eda", "target: Edna");
    is(with_file("entity import", "s.yaml", &wrong), "s.yaml:3:63: unknown entity 'Edna'").await;

    is(Slash::new("entity remove").option("name", "Elara"), "is in the configured campaign file")
        .await;
    let question =
        hall.asks(&hall.dm, Slash::new("entity remove").option("name", "Grimwald")).await;
    let question = question.message.expect("a question");
    assert!(question.text().contains("Remove **Grimwald** (npc)"), "{}", question.text());
    let gone = pressed(&hall, &question, "entity:remove:grimwald").await;
    assert!(gone.text().contains("Removed **Grimwald**."), "{}", gone.text());
    is(Slash::new("entity show").option("name", "Grimwald"), "unknown entity 'Grimwald'").await;
    let question = hall.asks(&hall.dm, Slash::new("entity remove").option("name", "Eda")).await;
    let question = question.message.expect("a question");
    hall.dm.set_roles(&[]);
    let refused = pressed(&hall, &question, "entity:remove:eda").await;
    assert!(refused.text().contains("only game masters"), "{}", refused.text());
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn campaigns_can_be_loaded_and_switched() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let is = async |slash: Slash, wanted: &str| {
        let text = hall.told(&hall.dm, slash).await;
        assert!(text.contains(wanted), "wanted '{wanted}': {text}");
    };
    is(Slash::new("campaign info"), "Remembered: 1 sessions").await;
    is(
        with_file("campaign load", "s.yaml", SALTMARSH),
        "**Saltmarsh** is played from the next session on",
    )
    .await;
    is(Slash::new("campaign info"), "Known: 2 npc; 1 relations.").await;
    is(Slash::new("entity show").option("name", "Elara"), "unknown entity 'Elara'").await;
    let switch = |name: &str| Slash::new("campaign switch").option("name", name);
    is(switch("Waterdeep"), "(known: The Raven Signet, Saltmarsh;").await;
    is(switch("the raven signet"), "**The Raven Signet** is played").await;
    // The names of its entities are there to choose from before anything else is asked.
    let chosen = async |typed: &str| loop {
        let typing = Slash::new("entity show").option("name", typed);
        let found = hall.discord.autocomplete(&hall.dm, hall.inn.text, typing, "name").await;
        let choices = found.unwrap().wait_first(BOUND).await.unwrap().choices();
        if let Some((name, _)) = choices.into_iter().next() {
            return name;
        }
    };
    assert!(tokio::time::timeout(BOUND, chosen("elara")).await.unwrap().contains("Elara"));
    is(Slash::new("entity show").option("name", "Elara"), "Elara").await;
    is(with_file("campaign load", "n.yaml", "entities: []"), "has no campaign name").await;
    hall.ends();
}

const LUNA: &str =
    "---\ntype: npc\n---\n# Luna\n\nShe sells maps.\n\n## GM Notes\nShe is the baron's daughter.\n";

#[tokio::test(flavor = "multi_thread")]
async fn imported_npc_joins_the_session() {
    let mut hall = Hall::new(Options::default(), "npc_dir: npcs # own cast\n").await;
    hall.place.write("npcs/tessa.yaml", "name: Tessa\nvoice: { voice_id: slt }\n");
    let dora = hall.listens().await;
    let import = || {
        let slash = Slash::new("npc import").option("voice", "flite rms");
        slash.file("file", "Luna.md", "text/markdown", LUNA.as_bytes())
    };
    let anna = hall.inn.add_member("Anna", &[]);
    let refused = hall.told(&anna, import()).await;
    assert!(refused.contains("only game masters"), "{refused}");

    let shown = hall.asks(&hall.dm, import()).await;
    let text = shown.text().replace('\\', "");
    assert!(shown.ephemeral() && text.contains("new: npc 'Luna'"), "{text}");
    assert!(text.contains("only for you: lore 'Secrets of Luna'"), "{text}");
    assert!(text.contains("Nothing has changed yet.") && !text.contains("daughter"), "{text}");
    assert!(!hall.place.path("npcs/luna.yaml").exists());
    let preview = shown.message.expect("a preview");
    let done = hall.presses(&hall.dm, &preview, "Import; the NPC knows its secrets").await;
    assert!(done.ephemeral(), "{}", done.text());
    assert!(done.text().replace('\\', "").contains("Imported: 1 new"), "{}", done.text());
    hall.reads(|it| it.text().contains("joins: Luna")).await;
    let file = std::fs::read_to_string(hall.place.path("npcs/luna.yaml")).expect("her file");
    let secrets = file.split("secret_knowledge:").nth(1).expect("her secrets");
    assert!(secrets.contains("daughter") && file.contains("voice_id: \"rms\""), "{file}");
    let (bot, quiet) = (hall.discord.bot(), Duration::from_millis(500));
    dora.wait_for_silence(bot, quiet, BOUND).await.expect("the notice ends");
    dora.forget();
    let say = Slash::new("say").option("text", "hello there").option("npc", "Luna");
    hall.asks(&hall.dm, say).await;
    dora.wait_until_heard(bot, BOUND).await.expect("she speaks without a model");

    let gone = hall.presses(&hall.dm, &preview, "Import").await.text();
    assert!(gone.contains("I no longer have this file"), "{gone}");
    hall.dm.set_roles(&[]);
    let refused = hall.presses(&hall.dm, &preview, "Import").await.text();
    assert!(refused.contains("only game masters"), "{refused}");
    hall.ends();
}
