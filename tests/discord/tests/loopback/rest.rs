//! REST: who may what, what is well formed, what there is how often.

use crate::client::{Gateway, Rest, SOON};
use discord_loopback::{Discord, Fault, Limit, Options, Overwrite, permission};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn only_the_right_token_and_known_routes() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let stranger = Rest::with_token(&discord, "wrong");
    let (status, body) = stranger.get("/users/@me").await;
    assert_eq!((status, &body), (401, &json!({"message": "401: Unauthorized", "code": 0})));
    assert!(discord.violations().is_empty(), "a wrong token is the operator's");
    let rest = Rest::new(&discord);
    let (_, me) = rest.get("/users/@me").await;
    assert_eq!(me["id"], discord.bot().to_string());
    assert_eq!(rest.get("/users/%40me").await.1, me);
    let (_, gateway) = rest.get("/gateway/bot").await;
    assert_eq!(gateway["url"], discord.gateway_url());
    assert_eq!(rest.get("/nowhere").await.0, 404);
    assert_eq!(rest.ask("PUT", "/users/@me", Value::Null).await.0, 405);
    let (status, body) = rest.get("/channels/general").await;
    assert_eq!((status, &body["code"]), (400, &json!(50_035)));
    assert_eq!(discord.violations().len(), 3, "{:?}", discord.violations());
}

#[tokio::test]
async fn tls_by_the_name_of_discord() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let authority = std::fs::read(discord.ca_file()).unwrap();
    let address = discord.api_base().trim_start_matches("https://").parse().unwrap();
    let http = reqwest::Client::builder()
        .tls_built_in_root_certs(false)
        .add_root_certificate(reqwest::Certificate::from_pem(&authority).unwrap())
        .resolve("discord.com", address)
        .build()
        .unwrap();
    let answer = http.get("https://discord.com/api/v10/gateway").send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn messages_come_and_change_and_go() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let anna = inn.add_member("Anna", &[]);
    let rest = Rest::new(&discord);
    let path = format!("/channels/{}/messages", inn.text);
    let (status, sent) = rest.ask("POST", &path, json!({"content": "Well met"})).await;
    assert_eq!((status, &sent["content"]), (200, &json!("Well met")));
    let one = format!("{path}/{}", sent["id"].as_str().unwrap());
    let embed = json!({"content": "", "embeds": [{"title": "Panel", "fields": [{"name": "a", "value": "b"}]}]});
    let (status, edited) = rest.ask("PATCH", &one, embed).await;
    assert_eq!((status, &edited["embeds"][0]["type"]), (200, &json!("rich")));
    let seen =
        discord.wait_for_message(inn.text, SOON, |message| message.edits() == 1).await.unwrap();
    assert_eq!(seen.text(), "Panel\na\nb");
    assert_eq!(seen.versions[0].json["content"], "Well met");
    discord.delete_message(inn.text, seen.id);
    let (status, body) = rest.ask("PATCH", &one, json!({"content": "again"})).await;
    assert_eq!((status, &body["code"]), (404, &json!(10_008)));
    let theirs = discord.say(&anna, inn.text, "hello").unwrap();
    let (_, body) =
        rest.ask("PATCH", &format!("{path}/{theirs}"), json!({"content": "mine"})).await;
    assert_eq!(body["code"], 50_005);
    let (status, body) = rest.ask("DELETE", &format!("{path}/{theirs}"), Value::Null).await;
    assert_eq!((status, &body["code"]), (403, &json!(50_013)));
    assert_eq!(discord.violations(), Vec::<String>::new());
    let (_, body) = rest.ask("POST", &path, json!({"content": ""})).await;
    assert_eq!(body["code"], 50_006);
    assert_eq!(discord.violations().len(), 1);
}

#[tokio::test]
async fn bodies_are_checked_where_they_are_wrong() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let rest = Rest::new(&discord);
    let everything = Limit { requests: 100, window: Duration::from_secs(60) };
    discord.set_limit("POST /channels/{channel_id}/messages", everything);
    let field = |name: &str| json!({"embeds": [{"fields": [{"name": "ok", "value": "ok"}, {"name": name, "value": "x"}]}]});
    let row =
        |part: Value| json!({"content": "x", "components": [{"type": 1, "components": [part]}]});
    let long = "x".repeat(4000);
    let two = json!({"type": 2, "style": 1, "label": "a", "custom_id": "same"});
    let cases = [
        (json!({"content": "x".repeat(2001)}), "/content"),
        (json!({"content": 5}), "/content"),
        (json!({"embeds": [{"description": "x".repeat(4097)}]}), "/embeds/0/description"),
        (json!({"embeds": [{"description": long}, {"description": long}]}), "/embeds"),
        (field(""), "/embeds/0/fields/1/name"),
        (
            row(json!({"type": 2, "style": 1, "label": "x".repeat(81), "custom_id": "a"})),
            "/components/0/components/0/label",
        ),
        (
            row(json!({"type": 2, "style": 1, "label": "x", "custom_id": "a".repeat(101)})),
            "/components/0/components/0/custom_id",
        ),
        (row(json!({"type": 2, "style": 1, "label": "x"})), "/components/0/components/0/custom_id"),
        (
            row(json!({"type": 4, "style": 1, "label": "x", "custom_id": "a"})),
            "/components/0/components/0/type",
        ),
        (
            json!({"content": "x", "components": [{"type": 1, "components": vec![two; 6]}]}),
            "/components/0/components",
        ),
        (json!({"content": "x", "flags": 64}), "/flags"),
    ];
    for (body, place) in cases {
        let (status, answer) =
            rest.ask("POST", &format!("/channels/{}/messages", inn.text), body).await;
        assert_eq!((status, &answer["code"]), (400, &json!(50_035)), "{place}: {answer}");
        let errors = answer["errors"].pointer(&format!("{place}/_errors"));
        assert!(errors.is_some_and(Value::is_array), "{place}: {answer}");
    }
    assert!(discord.messages(inn.text).is_empty());
}

#[tokio::test]
async fn permissions_decide() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let rest = Rest::new(&discord);
    let path = format!("/channels/{}/messages", inn.text);
    let embed = json!({"embeds": [{"title": "x"}]});
    inn.set_overwrite(inn.text, Overwrite::Role(inn.bot_role), 0, permission::EMBED_LINKS);
    assert_eq!(rest.ask("POST", &path, embed).await.1["code"], 50_013);
    assert_eq!(rest.ask("POST", &path, json!({"content": "x"})).await.0, 200);
    inn.set_overwrite(inn.text, Overwrite::Member(discord.bot()), 0, permission::VIEW_CHANNEL);
    assert_eq!(rest.ask("POST", &path, json!({"content": "x"})).await.1["code"], 50_001);
    let (status, body) = rest.ask("POST", "/channels/1/messages", json!({"content": "x"})).await;
    assert_eq!((status, &body["code"]), (404, &json!(10_003)));
    let status = format!("/channels/{}/voice-status", inn.voice);
    assert_eq!(rest.ask("PUT", &status, json!({"status": "playing"})).await.0, 403);
    inn.set_role(inn.bot_role, permission::SET_VOICE_CHANNEL_STATUS | permission::MANAGE_CHANNELS);
    let set = rest.raw("PUT", &status, Some(json!({"status": "playing"}))).await.unwrap();
    assert_eq!(set.status(), 204);
    assert!(set.headers().get("content-type").is_none(), "nothing is no JSON");
    assert_eq!(inn.voice_status(inn.voice).as_deref(), Some("playing"));
    let elsewhere = discord.guild_without_bot("Rivendell");
    assert_eq!(rest.get(&format!("/guilds/{}", elsewhere.id)).await.1["code"], 50_001);
    let path = format!("/guilds/{}/members/{}", inn.id, elsewhere.owner);
    assert_eq!(rest.get(&path).await.1["code"], 10_007);
    assert_eq!(discord.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn empty_buckets_report_when_they_refill() {
    let limit = Limit { requests: 2, window: Duration::from_secs(1_000) };
    let discord = Discord::start(Options { limit, ..Options::default() }).await.unwrap();
    let rest = Rest::new(&discord);
    let header = |answer: &reqwest::Response, name: &str| {
        answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
    };
    let first = rest.raw("GET", "/users/@me", None).await.unwrap();
    assert_eq!(header(&first, "x-ratelimit-limit").unwrap(), "2");
    assert_eq!(header(&first, "x-ratelimit-remaining").unwrap(), "1");
    assert!(header(&first, "x-ratelimit-bucket").is_some());
    assert_eq!(rest.get("/users/@me").await.0, 200);
    let third = rest.raw("GET", "/users/@me", None).await.unwrap();
    assert_eq!(third.status(), 429);
    let after: u32 = header(&third, "retry-after").unwrap().parse().unwrap();
    assert!((900..=1_000).contains(&after), "{after} s");
    assert_eq!(rest.get("/users/@me/guilds").await.0, 200, "another bucket");
    discord.advance(limit.window);
    assert_eq!(rest.get("/users/@me").await.0, 200);
    discord.limit_globally(Duration::from_secs(900));
    let (status, body) = rest.get("/users/@me/guilds").await;
    assert_eq!((status, &body["global"]), (429, &json!(true)));
    assert!(body["retry_after"].as_f64().unwrap() > 800.0);
    assert_eq!(discord.requests().iter().filter(|one| one.status == 429).count(), 2);
}

#[tokio::test]
async fn faults_come_as_planned() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let rest = Rest::new(&discord);
    let path = format!("/channels/{}/messages", inn.text);
    discord.fail("POST", "/messages", Fault::Status(502), 1);
    discord.fail("POST", "/messages", Fault::Cut, 1);
    discord.fail("POST", "/messages", Fault::Unanswered, 1);
    discord.fail("POST", "/messages", Fault::Slow(Duration::from_millis(50)), 1);
    let send = || rest.raw("POST", &path, Some(json!({"content": "x"})));
    assert_eq!(send().await.unwrap().status(), 502);
    assert!(send().await.is_err() && discord.messages(inn.text).is_empty());
    assert!(send().await.is_err() && discord.messages(inn.text).len() == 1);
    let before = std::time::Instant::now();
    assert_eq!(send().await.unwrap().status(), 200);
    assert!(before.elapsed() >= Duration::from_millis(50));
    let before = std::time::Instant::now();
    discord.freeze_network(Duration::from_millis(100));
    assert_eq!(rest.get("/users/@me").await.0, 200);
    assert!(before.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn files_go_up_and_come_down() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let rest = Rest::new(&discord);
    let payload =
        json!({"content": "the log", "attachments": [{"id": 0, "description": "all of it"}]});
    let part =
        reqwest::multipart::Part::text("line").file_name("log.txt").mime_str("text/plain").unwrap();
    let form = reqwest::multipart::Form::new()
        .part("files[0]", part)
        .text("payload_json", payload.to_string());
    let (status, sent) = rest.form(&format!("/channels/{}/messages", inn.text), form).await;
    assert_eq!((status, &sent["attachments"][0]["description"]), (200, &json!("all of it")));
    let (name, url) = discord.messages(inn.text)[0].files().remove(0);
    assert_eq!(name, "log.txt");
    let url = url.replace(&discord.api_base(), &discord.http_base());
    assert_eq!(reqwest::get(url).await.unwrap().text().await.unwrap(), "line");
}

#[tokio::test]
async fn direct_messages_are_for_two() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let anna = inn.add_member("Anna", &[]);
    let (mut hers, _) = Gateway::identified(&discord, &anna.token(), 1 << 12).await;
    let rest = Rest::new(&discord);
    let (status, channel) =
        rest.ask("POST", "/users/@me/channels", json!({"recipient_id": anna.id.to_string()})).await;
    assert_eq!((status, &channel["type"]), (200, &json!(1)));
    let path = format!("/channels/{}/messages", channel["id"].as_str().unwrap());
    assert_eq!(rest.ask("POST", &path, json!({"content": "psst"})).await.0, 200);
    assert_eq!(hers.event("MESSAGE_CREATE").await["content"], "psst");
    anna.set_dms(false);
    assert_eq!(rest.ask("POST", &path, json!({"content": "psst"})).await.1["code"], 50_007);
}
