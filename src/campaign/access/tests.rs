//! Tokens over the store, with paused time.

use std::{path::Path, sync::Arc, time::Duration};

use super::*;
use crate::{
    campaign::clock::paused,
    domain::{AccessRole, Owner},
    memory::Sqlite,
};

/// An evening in 2026.
const EVENING: i64 = 1_795_800_000_000;
const DAY: Duration = Duration::from_secs(86_400);

fn access(folder: &Path) -> Access {
    Access::new(Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap()))
}

fn wanted(owner: Owner, role: AccessRole) -> NewToken {
    NewToken { owner, role, tools: None, days: None }
}

#[tokio::test]
async fn holder_has_what_the_token_was_made_for() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path());
    let tools = ["npc.list", "dice.roll", "npc.list"].map(str::to_owned).to_vec();
    let limited = NewToken { tools: Some(tools), ..wanted(Owner::Guild(42), AccessRole::Dm) };
    let (secret, token) = access.create(limited).await.unwrap();
    let tools = ["dice.roll", "npc.list"].map(str::to_owned);
    let holder = Holder {
        id: token.id.clone(),
        owner: Owner::Guild(42),
        role: AccessRole::Dm,
        tools: Some(tools.into()),
    };
    assert_eq!(access.holder(&secret).await.unwrap(), Some(holder));
    let (other, _) = access.create(wanted(Owner::Local, AccessRole::Player)).await.unwrap();
    let holder = access.holder(&other).await.unwrap().unwrap();
    assert_eq!((holder.owner, holder.tools), (Owner::Local, None));
    assert_ne!(secret, other);
}

#[tokio::test]
async fn secret_is_in_no_file_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path());
    let (secret, token) = access.create(wanted(Owner::Local, AccessRole::Dm)).await.unwrap();
    assert!(secret::has_form(&secret) && secret.len() == 47, "{}", secret.len());
    assert!(token.hash.len() == 64 && token.hash == secret::hash(&secret));
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(43).any(|part| part == &secret.as_bytes()[4..]));
    }
}

#[tokio::test]
async fn wrong_secrets_have_no_holder() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path());
    let (secret, token) = access.create(wanted(Owner::Local, AccessRole::Dm)).await.unwrap();
    let longer = format!("{secret}A");
    let other_case = secret.to_ascii_uppercase();
    let guessed = format!("glx_{}", "A".repeat(43));
    for wrong in ["", "glx_", &token.id, &token.hash, &secret[..46], &longer, &other_case, &guessed]
    {
        assert_eq!(access.holder(wrong).await.unwrap(), None, "{wrong}");
    }
}

#[tokio::test]
async fn revoked_token_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // As two programs share a store.
    let (here, there) = (access(folder.path()), access(folder.path()));
    let (secret, token) = here.create(wanted(Owner::Local, AccessRole::Dm)).await.unwrap();
    assert!(there.holder(&secret).await.unwrap().is_some());
    assert!(here.revoke(&token.id).await.unwrap());
    assert_eq!(there.holder(&secret).await.unwrap(), None);
    assert!(!here.revoke(&token.id).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn token_ends_after_its_days() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path());
    paused::begin(EVENING);
    let brief = NewToken { days: Some(2), ..wanted(Owner::Local, AccessRole::Player) };
    let (secret, token) = access.create(brief).await.unwrap();
    assert_eq!((token.made, token.ends), (EVENING, Some(EVENING + 172_800_000)));
    tokio::time::advance(2 * DAY - Duration::from_millis(1)).await;
    assert!(access.holder(&secret).await.unwrap().is_some());
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(access.holder(&secret).await.unwrap(), None);
    assert_eq!(access.list(None).await.unwrap(), [token], "it is still listed");
    paused::end();
}

#[tokio::test(start_paused = true)]
async fn what_goes_on_ends_with_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path());
    paused::begin(EVENING);
    let (secret, token) = access.create(wanted(Owner::Local, AccessRole::Dm)).await.unwrap();
    let holder = access.holder(&secret).await.unwrap().unwrap();
    assert!(access.is_valid(&holder).await.unwrap());
    access.revoke(&token.id).await.unwrap();
    access.ended(&holder).await;
    let brief = NewToken { days: Some(1), ..wanted(Owner::Local, AccessRole::Dm) };
    let (secret, _) = access.create(brief).await.unwrap();
    let holder = access.holder(&secret).await.unwrap().unwrap();
    tokio::time::advance(DAY).await;
    access.ended(&holder).await;
    paused::end();
}

#[tokio::test]
async fn tokens_of_other_owners_stay() {
    let folder = tempfile::tempdir().unwrap();
    let access = access(folder.path());
    let (here, there) = (Owner::Guild(1), Owner::Guild(2));
    for owner in [here, here, there, Owner::Local] {
        access.create(wanted(owner, AccessRole::Dm)).await.unwrap();
    }
    assert_eq!(access.revoke_all(here).await.unwrap(), 2);
    assert_eq!(access.list(Some(here)).await.unwrap(), []);
    let left: Vec<Owner> =
        access.list(None).await.unwrap().into_iter().map(|token| token.owner).collect();
    assert!(left.contains(&there) && left.contains(&Owner::Local) && left.len() == 2);
}
