//! Setting up, privacy, tools and approvals, by users with the right to them.

use std::{fs, time::Duration};

use discord_loopback::{AUDIBLE, Message, Options, Response, Slash, permission};

use super::hall::{BOUND, Hall, said};
use crate::support::program::repository;

/// A server of tools, one of which asks the game master first, and an NPC that calls it.
fn with_home() -> String {
    let server = repository("tests/support/mcp/server.py");
    format!(
        "  trust_dms: true\nmcp:\n  servers:\n    - {{ name: home, command: \"python3 '{}' plain\", \
         tools: {{ count: {{ approval: dm }} }} }}\nnpcs:\n  - name: Tessa\n    \
         tools: [home.count, home.ask, home.picture]\n    budget_tier: deep\n    lines:\n      - {{ when: [tally], \
         tool: {{ name: home.count }}, say: \"I ask.\" }}\n      - say: \"Hm.\"\n",
        server.display()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_shows_what_is_there_and_what_is_heard() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let role = hall.inn.add_role("Steward", permission::MANAGE_GUILD);
    let olga = hall.inn.add_member("Olga", &[role]);
    let hidden = hall.discord.command(&hall.dm, hall.inn.text, Slash::new("setup")).await;
    assert!(hidden.is_err(), "it is not shown to who may not manage the server");
    let player = hall.discord.join_voice(&olga, hall.inn.voice).await.unwrap();
    hall.listens_to("Olga").await;
    let answer = hall.asks(&olga, Slash::new("setup")).await;
    let text = answer.text();
    for wanted in
        ["✅ Speak in", "✅ Attach Files in", "Game masters: <@&", "2.00 per session", "NPCs: en"]
    {
        assert!(text.contains(wanted), "wanted {wanted}: {text}");
    }
    let message = answer.message.unwrap();
    // The line is waited for, then something is said.
    let bot = hall.discord.bot();
    let test = message.button("Test").unwrap()["custom_id"].as_str().unwrap().to_owned();
    let mut heard = String::new();
    // A machine that is busy may be too slow once.
    for _ in 0..3 {
        player.wait_for_silence(bot, Duration::from_millis(700), BOUND).await.unwrap();
        player.forget();
        let tried = hall.discord.press(&olga, hall.inn.text, message.id, &test).await.unwrap();
        player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
        player.wait_for_silence(bot, Duration::from_millis(700), BOUND).await.unwrap();
        player.say(&said("slt", "Good evening Greymantle")).await.unwrap();
        heard = tried.wait_final(BOUND).await.unwrap().text();
        if heard.contains("I heard: “") {
            break;
        }
    }
    assert!(heard.contains("I heard: “") && heard.contains("evening"), "{heard}");

    let place = (hall.inn.text, message.id, "setup:consent");
    let chosen = hall.discord.choose(&olga, place, &["ask"]).await.unwrap();
    let text = chosen.wait_final(BOUND).await.unwrap().text();
    assert!(text.contains("Consent: players are heard only after"), "{text}");
    hall.reads(|it| it.content().contains("Not heard:") && it.content().contains("Olga")).await;
    let channel = hall.inn.text.to_string();
    let place = (hall.inn.text, message.id, "setup:log");
    let chosen = hall.discord.choose(&olga, place, &[&channel]).await.unwrap();
    assert!(chosen.wait_final(BOUND).await.unwrap().text().contains(&format!("<#{channel}>")));
    let place = (hall.inn.text, message.id, "setup:role");
    let chosen = hall.discord.choose(&olga, place, &[&role.to_string()]).await.unwrap();
    assert!(chosen.wait_final(BOUND).await.unwrap().text().contains(&format!("<@&{role}>")));
    let refused = hall.told(&hall.dm, Slash::new("tools list")).await;
    assert!(refused.contains(&format!("<@&{role}>")), "another role now: {refused}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn players_decide_whether_they_are_heard() {
    let (mut hall, _dora) = Hall::in_session(Options::default(), "").await;
    let anna = hall.inn.add_member("Anna", &[]);
    let _seat = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    hall.listens_to("Anna").await;
    let info = hall.told(&anna, Slash::new("privacy info")).await;
    for wanted in ["I hear you while", "(here, local)", "written lines", "never store sound"] {
        assert!(info.contains(wanted), "wanted {wanted}: {info}");
    }
    hall.told(&anna, Slash::new("privacy optout")).await;
    hall.reads(|it| it.content().contains("Not heard: Anna")).await;
    assert!(hall.told(&anna, Slash::new("privacy info")).await.contains("You opted out"));
    let refused = hall.told(&anna, Slash::new("ask").option("text", "what is fireball?")).await;
    assert!(refused.contains("only game masters"), "{refused}");
    let answer = hall.told(&hall.dm, Slash::new("ask").option("text", "what is fireball?")).await;
    assert!(answer.contains("rules-lookup."), "the tools are named: {answer}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    assert!(hall.told(&anna, Slash::new("privacy info")).await.contains("You opted out"));
    hall.told(&anna, Slash::new("privacy optin")).await;
    assert!(hall.told(&anna, Slash::new("privacy info")).await.contains("I hear you while"));
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn game_master_decides_calls_and_answers_servers() {
    let (hall, _dora) = Hall::in_session(Options::default(), &with_home()).await;
    let anna = hall.inn.add_member("Anna", &[]);
    let say = || Slash::new("say").option("text", "a tally please").option("npc", "Tessa");
    let is_ready = |line: &str| line.starts_with("home ") && line.contains("ready");
    let servers = Slash::new("tools servers");
    hall.until_told(&hall.dm, servers, |told| told.lines().any(is_ready)).await;
    let asked = |it: &Message| {
        it.content().contains("**Tessa** wants to call `home.count`") && it.button("Deny").is_some()
    };
    hall.asks(&hall.dm, say()).await;
    let request = hall.reads(asked).await;
    let refused = hall.presses(&anna, &request, "Approve").await.text();
    assert!(refused.contains("only game masters"), "{refused}");
    let twice = ["Deny", "Deny"].map(|label| hall.presses(&hall.dm, &request, label));
    let twice = futures::future::join_all(twice).await;
    let twice: Vec<String> = twice.iter().map(Response::text).collect();
    let once = |text: &str| twice.iter().filter(|answer| answer.contains(text)).count() == 1;
    assert!(once("Denied by Dora") && once("already decided"), "{twice:?}");
    hall.reads(|it| it.id == request.id && it.components().is_empty()).await;

    hall.asks(&hall.dm, say()).await;
    let request = hall.reads(asked).await;
    let edit = request.button("Edit").unwrap()["custom_id"].as_str().unwrap();
    let opened = hall.discord.press(&hall.dm, hall.inn.text, request.id, edit).await.unwrap();
    let wrong = hall.discord.submit(&hall.dm, &opened, &[("arguments", "n = 3")]).await.unwrap();
    let why = wrong.wait_final(BOUND).await.unwrap().text();
    assert!(why.contains("JSON"), "{why}");
    let right = hall.discord.submit(&hall.dm, &opened, &[("arguments", "{}")]).await.unwrap();
    let text = right.wait_final(BOUND).await.unwrap().text();
    assert!(text.contains("Edited and approved by Dora"), "{text}");

    // A server asks while the game master calls its tool.
    let (dm, text_channel) = (&hall.dm, hall.inn.text);
    let as_tessa = |tool| Slash::new("tools call").option("tool", tool).option("npc", "Tessa");
    let refused = hall.told(dm, Slash::new("tools call").option("tool", "home.ask")).await;
    assert!(refused.contains("may not use 'home.ask'"), "nor does a game master: {refused}");
    let call = as_tessa("home.ask");
    let called = hall.discord.command(dm, text_channel, call).await.unwrap();
    let question = hall.reads(|it| it.content().contains("The tool server **home** asks")).await;
    let fill = question.button("Fill in").unwrap()["custom_id"].as_str().unwrap();
    let form = hall.discord.press(dm, text_channel, question.id, fill).await.unwrap();
    let inputs = form.wait_first(BOUND).await.unwrap().inputs();
    assert_eq!(inputs, [("0".to_owned(), "name".to_owned())]);
    let sent = hall.discord.submit(dm, &form, &[("0", "Sildar")]).await.unwrap();
    assert!(sent.wait_final(BOUND).await.unwrap().text().contains("Answered by Dora"));
    let result = called.wait_final(BOUND).await.unwrap().text();
    assert!(result.contains("Sildar"), "{result}");
    let call = as_tessa("home.picture");
    let picture = hall.asks(dm, call).await;
    let files = picture.message.unwrap().files();
    assert!(files.iter().any(|(name, _)| name == "picture.png"), "{files:?}");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_commands_manage_permissions_and_servers() {
    let more = "  trust_dms: true\nfile_io: { base_dir: notes }\n";
    let mut hall = Hall::new(Options::default(), more).await;
    hall.start().await;
    let is = async |hall: &Hall, slash: Slash, wanted: &str| {
        let text = hall.told(&hall.dm, slash).await;
        assert!(text.contains(wanted), "wanted '{wanted}': {text}");
    };
    let tools = |what: &str| Slash::new(&format!("tools {what}"));
    is(&hall, tools("list"), "dice-roller.roll ").await;
    is(&hall, tools("list").option("npc", "Hale"), "dice-roller.roll_table").await;
    let rules = |what| tools(what).option("npc", "Hale").option("tool", "rules-lookup.*");
    is(&hall, rules("allow"), "Captain Hale may use rules-lookup.* from its next turn on").await;
    is(&hall, tools("list").option("npc", "Hale"), "rules-lookup.get_rule").await;
    let unknown = tools("deny").option("npc", "Hale").option("tool", "dice-roler.roll");
    is(&hall, unknown, "did you mean 'dice-roller.roll'?").await;
    is(&hall, tools("calibrate").option("tool", "rules-lookup"), "p50").await;
    let nobodys = tools("calibrate").option("tool", "file-io.read_file");
    is(&hall, nobodys, "no NPC may use it").await;
    let table = |what| tools(what).option("npc", "Hale").option("tool", "dice-roller.roll_table");
    is(&hall, table("deny"), "may not use dice-roller.roll_table").await;
    is(&hall, table("call"), "Captain Hale may not use").await;
    is(&hall, table("allow"), "may use dice-roller.roll_table").await;
    is(&hall, tools("leaderboard"), "1. rules-lookup.").await;
    let roll = tools("call").option("tool", "dice-roller.roll");
    is(&hall, roll.option("arguments", "{\"expression\": \"2d6\"}"), "dice-roller.roll` took")
        .await;

    let server = repository("tests/support/mcp/server.py");
    let command = format!("python3 '{}' plain", server.display());
    let add = |name: &str| tools("server add").option("name", name);
    is(&hall, add("dice-roller").option("command", &*command), "built-in").await;
    is(&hall, add("home"), "a program to start, or url").await;
    let secret = add("far").option("url", "http://127.0.0.1:9/mcp?key=sesame");
    is(&hall, secret.option("token", "open-sesame"), "Connecting 'far'").await;
    is(&hall, add("home").option("command", &*command), "Connecting 'home'").await;
    is(&hall, add("home").option("command", &*command), "'home' already exists").await;
    let shown = hall.told(&hall.dm, tools("servers")).await;
    assert!(shown.contains("far") && !shown.contains("sesame"), "{shown}");
    is(&hall, tools("server restart").option("name", "home"), "Reconnecting 'home'").await;
    is(&hall, tools("server remove").option("name", "far"), "Removed 'far'").await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);

    // All of it is there after a restart.
    hall.start().await;
    is(&hall, tools("list").option("npc", "Hale"), "allowed rules-lookup.*").await;
    is(&hall, tools("servers"), "home: added here").await;
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    let kept = fs::read(hall.place.path("data/memory.db")).unwrap();
    let kept = String::from_utf8_lossy(&kept);
    assert!(kept.contains("server.py") && !kept.contains("sesame"), "a token that was taken away");
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}
