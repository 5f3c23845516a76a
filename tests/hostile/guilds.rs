//! Other people's servers, and what their members send, through a Discord on this machine.

use discord_loopback::{Member, Message, Options, Response, Slash};
use tokio::{io::AsyncReadExt, net::TcpListener, time::timeout};

use crate::bot::hall::{BOUND, Hall};

/// Reply to a user who is not approved.
const ASK: &str = "ask the bot's owner to approve it";

/// The code that the program has printed.
fn code(hall: &Hall) -> String {
    let line = hall.program.as_ref().unwrap().says("use '/setup code:");
    line.split("/setup code:").nth(1).unwrap().split('\'').next().unwrap().to_owned()
}

/// Answer to a user who sends a component that no message has.
async fn forged(hall: &Hall, by: &Member, channel: u64, id: &str) -> Response {
    let pressed = hall.discord.forge(by, channel, id).await.expect("it is sent");
    pressed.wait_final(BOUND).await.expect("an answer")
}

fn ends(mut hall: Hall) {
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn unapproved_guild_is_shown_whom_to_ask() {
    let mut hall = Hall::new(Options::default(), "  # let in by its code\n").await;
    let (owner, channel) = (hall.inn.owner(), hall.inn.text);
    hall.start().await;
    let _dora = hall.discord.join_voice(&hall.dm, hall.inn.voice).await.unwrap();
    for slash in [Slash::new("session start"), Slash::new("help"), Slash::new("privacy info")] {
        let refused = hall.told(&hall.dm, slash).await;
        assert!(refused.contains(ASK) && refused.contains(&hall.inn.id.to_string()), "{refused}");
    }
    let typing = Slash::new("npc mute").option("name", "bar");
    let completed = hall.discord.autocomplete(&hall.dm, channel, typing, "name").await.unwrap();
    assert_eq!(completed.wait_first(BOUND).await.unwrap().choices(), []);
    assert!(forged(&hall, &owner, channel, "setup:role").await.text().contains(ASK));
    let setup = |code: &str| Slash::new("setup").option("code", code);
    assert!(hall.told(&owner, setup("ABCD-EFGH")).await.contains(ASK));
    let doctor = hall.place.run(&["doctor"]).ends_with(1);
    let lack = format!("✗ discord server: 'The Tilted Tankard' ({}) is not approved", hall.inn.id);
    assert!(doctor.stdout.contains(&lack), "{doctor:#?}");
    let bot = hall.discord.bot().to_string();
    let posted = hall.discord.messages(channel);
    assert!(posted.iter().all(|it| it.json()["author"]["id"] != bot), "nobody else sees any of it");

    let code = code(&hall);
    assert!(hall.told(&owner, setup(&code)).await.contains("Game masters: <@&"));
    let again = hall.told(&owner, Slash::new("setup")).await;
    assert!(again.contains("Game masters: <@&"), "{again}");
    let doctor = hall.place.run(&["doctor"]).ends_with(0);
    assert!(!doctor.stdout.contains("is not approved"), "{doctor:#?}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    let help = hall.told(&hall.dm, Slash::new("help")).await;
    assert!(help.contains("/session"), "it stays let in: {help}");
    ends(hall);
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_and_foreign_interactions_do_nothing() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let other = hall.discord.guild("The Sunken Oar");
    let (mallory, theirs) = (other.owner(), other.text);
    hall.listens_to("Dora").await;
    let panel = hall.reads(|it| it.button("End").is_some()).await;
    let ids = panel.components();
    let ids = ids.iter().filter_map(|it| it["custom_id"].as_str().map(str::to_owned));
    for id in ids {
        let answer = forged(&hall, &mallory, theirs, &id).await;
        assert!(answer.ephemeral(), "{id}");
        assert!(answer.text().contains("no session is running here"), "{id}: {}", answer.text());
    }
    for id in [
        "x",
        "panel:dance",
        "desk:approve:discord-1-1.0",
        "desk:filled-9:k",
        "facts:page:-1",
        "fact:accept:fact-1:ravenford",
        "privacy:delete:1",
        "privacy:purge:x",
        "setup:everything",
        "consent:maybe",
        "panel:end\0",
        "🗡:🗡:🗡",
    ] {
        for (by, channel) in [(&mallory, theirs), (&hall.dm, hall.inn.text)] {
            let answer = forged(&hall, by, channel, id).await;
            assert!(answer.ephemeral() && !answer.text().is_empty(), "{id}");
        }
    }
    for slash in [Slash::new("session stop"), Slash::new("xcard")] {
        assert!(!hall.told_in(&mallory, theirs, slash).await.contains("over"));
    }
    let whispered = hall.discord.whisper(&hall.dm, hall.inn.text, Slash::new("session stop")).await;
    let whispered = whispered.unwrap().wait_final(BOUND).await.unwrap();
    assert!(whispered.text().contains("I only work on servers"), "{}", whispered.text());
    let status = hall.told(&hall.dm, Slash::new("session status")).await;
    assert!(status.contains("Heard: Dora"), "the session still runs: {status}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn member_names_cannot_ping_or_format_text() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let names = ["@everyone **<@1>**", "[free](https://evil.example)", "\u{202e}\u{200b}kcin"];
    let members = names.map(|name| hall.inn.add_member(name, &[]));
    let mut seats = Vec::new();
    for member in &members {
        seats.push(hall.discord.join_voice(member, hall.inn.voice).await.unwrap());
    }
    let all =
        |it: &Message| ["everyone", "evil", "kcin"].iter().all(|name| it.text().contains(name));
    hall.reads(|it| it.button("End").is_some() && all(it)).await;
    let say = Slash::new("say").option("text", "@everyone hello").option("npc", "Bartok");
    hall.asks(&members[0], say).await;
    for message in hall.discord.messages(hall.inn.text) {
        let (json, text) = (message.json(), message.text());
        assert_eq!(json["mention_everyone"], false, "{text}");
        assert_eq!(json["mentions"], serde_json::json!([]), "{text}");
        assert!(!text.contains("**<@") && !text.contains("[free]("), "{text}");
        assert!(!text.contains("://evil") && !text.contains('\u{202e}'), "{text}");
    }
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_campaign_can_be_played_by_any_guild() {
    let wire = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let more = format!(
        "campaigns:\n  - {{ file: sunken.yaml, shared: true }}\nmcp:\n  servers:\n    - {{ name: far, \
         required: true, url: \"http://{}/mcp\", headers: {{ X-World: \"${{campaign.name}}\" }} }}\n",
        wire.local_addr().unwrap()
    );
    let mut hall = Hall::new(Options::default(), &more).await;
    hall.place.write("sunken.yaml", "campaign: { name: The Sunken City, system: dnd5e }\n");
    hall.start().await;
    let dm = &hall.dm;
    let servers = hall.told(dm, Slash::new("tools servers")).await;
    assert!(
        servers.contains("waiting for a session (its headers or resource_vars name campaign.name)"),
        "{servers}"
    );
    let switch = |name: &str| Slash::new("campaign switch").option("name", name);
    let refused = hall.told(dm, switch("The Hidden Vale")).await;
    assert!(refused.contains("The Sunken City; /campaign load"), "{refused}");
    let switched = hall.told(dm, switch("the sunken city")).await;
    assert!(switched.contains("**The Sunken City** is played here"), "{switched}");
    let _dora = hall.discord.join_voice(dm, hall.inn.voice).await.unwrap();
    assert!(hall.asks(dm, Slash::new("session start")).await.text().contains("I listen"));
    let (mut asked, _) = timeout(BOUND, wire.accept()).await.expect("it connects now").unwrap();
    let mut request = [0; 4_096];
    let read = timeout(BOUND, asked.read(&mut request)).await.unwrap().unwrap();
    let request = String::from_utf8_lossy(&request[..read]).to_lowercase();
    assert!(request.contains("x-world: the sunken city"), "{request}");
    ends(hall);
}
