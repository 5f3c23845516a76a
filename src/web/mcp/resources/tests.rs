//! Rights to read resources.

use std::{collections::BTreeSet, path::Path};

use rmcp::model::ErrorCode;

use super::*;
use crate::{
    campaign::Handles,
    domain::{AccessRole, Owner},
    memory::Visibility,
};

fn holder(owner: Owner, role: AccessRole, tools: Option<&[&str]>) -> Holder {
    let tools = tools.map(|all| all.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<_>>());
    Holder { id: "a".to_owned(), owner, role, tools }
}

/// Two guilds and this machine, each with a session, lines, and entities.
async fn three_owners(folder: &Path) -> Handles {
    let handles = stand_in::handles(folder);
    for (owner, name) in
        [(Owner::Guild(1), "one"), (Owner::Guild(2), "two"), (Owner::Local, "here")]
    {
        let scope = handles.scope(owner, None);
        let session = format!("session-{name}");
        stand_in::session(&handles, &scope, &session, Some(9_000)).await;
        let open = format!("The door of {name} is open.");
        stand_in::line(&handles, &scope, &session, &open, Visibility::Everyone).await;
        let hidden = format!("The secret cellar of {name}.");
        stand_in::line(&handles, &scope, &session, &hidden, Visibility::Dm).await;
        stand_in::entity(&handles, &scope, &format!("inn-{name}"), Visibility::Everyone).await;
        stand_in::entity(&handles, &scope, &format!("secret-{name}"), Visibility::Dm).await;
    }
    handles
}

/// Addresses that are listed on all pages.
async fn listed_uris(reader: &ResourceReader<'_>) -> Vec<String> {
    let (mut uris, mut cursor) = (Vec::new(), None);
    loop {
        let page = page(reader, cursor).await.unwrap();
        assert!(page.resources.len() <= PAGE);
        uris.extend(page.resources.into_iter().map(|it| it.uri));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return uris;
        }
    }
}

#[tokio::test]
async fn each_token_reads_what_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let handles = three_owners(folder.path()).await;
    let of = |name: &str| {
        [
            format!("glyphoxa://session/session-{name}/transcript"),
            format!("glyphoxa://session/session-{name}/recap"),
            format!("glyphoxa://entity/inn-{name}"),
            format!("glyphoxa://entity/secret-{name}"),
            "glyphoxa://npc/Bartok".to_owned(),
        ]
    };
    let all: BTreeSet<String> = ["one", "two", "here"].into_iter().flat_map(of).collect();
    for kind in &uri::KINDS {
        let has_row = |uri: &String| ResourceUri::read(uri).unwrap().kind() == kind;
        assert!(all.iter().any(has_row), "'{}' has no expectation", kind.name);
    }
    let (dm, player) = (AccessRole::Dm, AccessRole::Player);
    let (one, two) = (Owner::Guild(1), Owner::Guild(2));
    // No table runs, so players meet no NPC; one of another guild sees nothing of this one.
    for (holder, name, may) in [
        (holder(one, dm, None), "one", vec![0, 1, 2, 3, 4]),
        (holder(one, player, None), "one", vec![0, 1, 2]),
        (holder(two, dm, None), "two", vec![0, 1, 2, 3, 4]),
        (holder(two, player, None), "two", vec![0, 1, 2]),
        (holder(Owner::Local, player, None), "here", vec![0, 1, 2]),
        (holder(Owner::Guild(3), dm, None), "one", vec![4]),
        (holder(one, dm, Some(&["dice.roll"])), "one", vec![]),
        (holder(one, dm, Some(&["session.transcript", "npc.list"])), "one", vec![0, 4]),
        (holder(one, player, Some(&["entity.get", "session.recap"])), "one", vec![1, 2]),
    ] {
        let reader = ResourceReader { handles: &handles, holder: &holder };
        let own = of(name);
        let own: BTreeSet<&String> = may.iter().map(|index: &usize| &own[*index]).collect();
        let listed = listed_uris(&reader).await;
        assert_eq!(listed.iter().collect::<BTreeSet<_>>(), own, "{holder:?}");
        for uri in &all {
            let read = reader.read(uri).await;
            assert_eq!(read.is_ok(), own.contains(uri), "{holder:?} {uri}: {read:?}");
            let is_unknown = matches!(read, Err(ReadError::Unknown(_)));
            assert!(read.is_ok() || is_unknown, "{holder:?} {uri}: {read:?}");
            let text = read.unwrap_or_default();
            assert!(holder.role == dm || !text.contains("secret"), "{holder:?} {uri}: {text}");
        }
        let kinds = templates(&holder).resource_templates.len();
        let readable = uri::KINDS.iter().filter(|kind| holder.has_tool(kind.tool)).count();
        assert_eq!(kinds, readable, "{holder:?}");
    }
    let dm = holder(one, dm, None);
    let text = ResourceReader { handles: &handles, holder: &dm }.read(&of("one")[0]).await.unwrap();
    let expected = "#1 00:00:02 Anna: The door of one is open.\n\
                    #2 00:00:02 Anna: The secret cellar of one.\n";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn long_list_comes_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let handles = stand_in::handles(folder.path());
    let scope = handles.scope(Owner::Local, None);
    for number in 0..PAGE + 30 {
        stand_in::entity(&handles, &scope, &format!("inn {number}"), Visibility::Everyone).await;
    }
    let holder = holder(Owner::Local, AccessRole::Player, None);
    let reader = ResourceReader { handles: &handles, holder: &holder };
    let uris = listed_uris(&reader).await;
    assert_eq!(uris.iter().collect::<BTreeSet<_>>().len(), PAGE + 30);
    assert!(uris.contains(&"glyphoxa://entity/inn%207".to_owned()), "{uris:?}");
    let wrong = page(&reader, Some("-1".to_owned())).await.unwrap_err();
    assert_eq!(wrong.code, ErrorCode::INVALID_PARAMS);
    let beyond = page(&reader, Some(usize::MAX.to_string())).await.unwrap();
    assert!(beyond.resources.is_empty() && beyond.next_cursor.is_none());
}
