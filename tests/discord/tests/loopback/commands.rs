//! Registering commands.

use crate::client::Rest;
use discord_loopback::{Discord, Options};
use serde_json::{Value, json};

#[tokio::test]
async fn commands_are_kept_and_keep_their_ids() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let inn = discord.guild("The Prancing Pony");
    let rest = Rest::new(&discord);
    let path = format!("/applications/{}/guilds/{}/commands", discord.bot(), inn.id);
    let two =
        json!([{"name": "roll", "description": "rolls"}, {"name": "help", "description": "helps"}]);
    let (status, first) = rest.ask("PUT", &path, two).await;
    assert_eq!((status, discord.commands(Some(inn.id)).len()), (200, 2));
    let one = json!([{"name": "roll", "description": "rolls dice"}]);
    let (_, second) = rest.ask("PUT", &path, one).await;
    assert_eq!(second[0]["id"], first[0]["id"]);
    assert_ne!(second[0]["version"], first[0]["version"]);
    let (status, made) =
        rest.ask("POST", &path, json!({"name": "say", "description": "says"})).await;
    assert_eq!(status, 201);
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    let (_, changed) = rest.ask("PATCH", &one, json!({"description": "says it"})).await;
    assert_eq!((&changed["name"], &changed["description"]), (&json!("say"), &json!("says it")));
    assert_eq!(rest.ask("DELETE", &one, Value::Null).await.0, 204);
    assert_eq!(rest.get(&one).await.1["code"], 10_063);
    let (_, all) = rest.get(&path).await;
    assert_eq!(all.as_array().unwrap().len(), 1);
    assert_eq!(discord.command_writes(), 5);
    let (_, foreign) = rest.get("/applications/1/commands").await;
    assert_eq!(foreign["code"], 20_012);
}

#[tokio::test]
async fn wrong_command_spoils_the_whole_request() {
    let discord = Discord::start(Options::default()).await.unwrap();
    let rest = Rest::new(&discord);
    let path = format!("/applications/{}/commands", discord.bot());
    let option = json!({"type": 3, "name": "Text", "description": "what"});
    let two = json!([{"name": "roll", "description": "rolls"}, {"name": "say", "description": "x", "options": [option]}]);
    let (status, body) = rest.ask("PUT", &path, two).await;
    assert_eq!(status, 400);
    let complaint = body["errors"]["1"]["options"]["0"]["name"]["_errors"][0]["code"].clone();
    assert_eq!(complaint, "APPLICATION_COMMAND_INVALID_NAME");
    assert!(discord.commands(None).is_empty());
    assert!(discord.violations()[0].contains("Text"), "{:?}", discord.violations());
}
