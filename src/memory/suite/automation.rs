//! Runs of workflows, schedules, and claims of their firings.

use futures::future::try_join_all;

use super::{
    super::{Claim, Forget, KeptRun, KeptSchedule, MemoryStore, Scope},
    sample::{key, of_guild, other},
};
use crate::domain::{PersonId, Timestamp};

const ANNA: &str = "123456789012345678";

fn run(id: &str, began: Timestamp, person: &str) -> KeptRun {
    let record = format!(r#"{{"run":"{id}","starter":{{"person":"{person}"}},"steps":[]}}"#);
    KeptRun { id: id.to_owned(), workflow: "bells".to_owned(), began, ended: None, record }
}

fn schedule(id: &str, next: Option<Timestamp>) -> KeptSchedule {
    KeptSchedule {
        id: id.to_owned(),
        when: r#"{"at":5}"#.to_owned(),
        action: format!(r#"{{"line":{{"npc":"Bartok","text":"It's late, <@{ANNA}>!"}}}}"#),
        by: Some(PersonId(ANNA.to_owned())),
        made: 3,
        next,
        last: None,
    }
}

async fn ids(store: &dyn MemoryStore, scope: &Scope) -> Vec<String> {
    let all = store.schedules(scope).await.unwrap();
    all.into_iter().map(|schedule| schedule.id).collect()
}

pub async fn runs(store: &dyn MemoryStore) {
    let (scope, all): (_, Vec<KeptRun>) =
        (key(), (1..=501).map(|began| run(&format!("r{began}"), began, ANNA)).collect());
    for some in all.chunks(50) {
        // At once, so that they share a flush of the disk.
        let writes = some.iter().map(|kept| store.keep_run(&scope, kept.clone()));
        try_join_all(writes).await.unwrap();
    }
    let ended = KeptRun { ended: Some(900), record: "{}".to_owned(), ..run("r500", 500, ANNA) };
    store.keep_run(&key(), ended.clone()).await.unwrap();
    assert_eq!(store.runs(&key(), 2).await.unwrap(), [run("r501", 501, ANNA), ended]);
    let all = store.runs(&key(), 0).await.unwrap();
    assert_eq!((all.len(), all.last().unwrap().id.as_str()), (500, "r2"));
    for elsewhere in [other(), of_guild(1)] {
        assert_eq!(store.runs(&elsewhere, 9).await.unwrap(), []);
    }
    store.forget(&key(), Forget::Before(501)).await.unwrap();
    assert_eq!(store.runs(&key(), 0).await.unwrap(), [run("r501", 501, ANNA)]);
}

pub async fn schedules(store: &dyn MemoryStore) {
    for (id, next) in [("waits", None), ("late", Some(9)), ("soon", Some(5))] {
        store.add_schedule(&of_guild(1), schedule(id, next)).await.unwrap();
    }
    assert_eq!(store.scopes().await.unwrap(), [of_guild(1)], "it is found at the next start");
    let again = KeptSchedule { when: "{}".to_owned(), ..schedule("soon", Some(10)) };
    store.add_schedule(&of_guild(1), again).await.unwrap();
    let expected = [schedule("soon", Some(5)), schedule("late", Some(9)), schedule("waits", None)];
    assert_eq!(store.schedules(&of_guild(1)).await.unwrap(), expected);
    for elsewhere in [key(), of_guild(2)] {
        assert!(ids(store, &elsewhere).await.is_empty());
        assert!(!store.remove_schedule(&elsewhere, "soon").await.unwrap());
    }
    assert!(store.remove_schedule(&of_guild(1), "soon").await.unwrap());
    assert!(!store.remove_schedule(&of_guild(1), "soon").await.unwrap());
    assert_eq!(ids(store, &of_guild(1)).await, ["late", "waits"]);
}

pub async fn due_schedules(store: &dyn MemoryStore) {
    let begun = KeptSchedule { last: Some(99), ..schedule("begun", Some(100)) };
    let fired = KeptSchedule { last: Some(5), ..schedule("fired", None) };
    let times = [("soon", Some(5)), ("late", Some(9)), ("waits", None)];
    let planned = times.map(|(id, next)| schedule(id, next));
    for schedule in planned.into_iter().chain([begun, fired]) {
        store.add_schedule(&key(), schedule).await.unwrap();
    }
    for (has_session, expected) in
        [(false, vec!["soon", "begun"]), (true, vec!["soon", "begun", "waits"])]
    {
        let due = store.due_schedules(&key(), 8, has_session).await.unwrap();
        assert_eq!(due.into_iter().map(|it| it.id).collect::<Vec<_>>(), expected);
        assert_eq!(store.due_schedules(&other(), 8, has_session).await.unwrap(), []);
    }
}

pub async fn claims(store: &dyn MemoryStore) {
    let claim = |due, then, is_over| Claim { id: "a", due, then, is_over };
    store.add_schedule(&key(), schedule("a", None)).await.unwrap();
    assert!(!store.claim_schedule(&other(), claim(None, Some(5), false)).await.unwrap());
    // A session begins: its time is known.
    for is_first in [true, false] {
        let taken = store.claim_schedule(&key(), claim(None, Some(5), false)).await.unwrap();
        assert_eq!(taken, is_first);
    }
    assert_eq!(store.schedules(&key()).await.unwrap(), [schedule("a", Some(5))]);
    let (scope, fired) = (key(), claim(Some(5), Some(9), false));
    let (one, two) =
        tokio::join!(store.claim_schedule(&scope, fired), store.claim_schedule(&scope, fired));
    assert_ne!(one.unwrap(), two.unwrap(), "only one of two may fire it");
    let next = KeptSchedule { last: Some(5), ..schedule("a", Some(9)) };
    assert_eq!(store.schedules(&key()).await.unwrap(), [next]);
    for (due, is_taken) in [(Some(5), false), (None, false), (Some(9), true), (Some(9), false)] {
        let taken = store.claim_schedule(&key(), claim(due, None, true)).await.unwrap();
        assert_eq!(taken, is_taken, "{due:?}");
    }
    assert!(ids(store, &key()).await.is_empty());
}

/// A deleted person's id leaves their runs and schedules, even if a run ends later.
pub async fn people(store: &dyn MemoryStore) {
    for scope in [key(), of_guild(1)] {
        store.add_schedule(&scope, schedule("a", Some(5))).await.unwrap();
        let later = KeptSchedule { made: 8, ..schedule("later", None) };
        store.add_schedule(&scope, later).await.unwrap();
        store.keep_run(&scope, run("r", 4, ANNA)).await.unwrap();
        store.keep_run(&scope, run("s", 5, "8")).await.unwrap();
    }
    let forget = Forget::Player { id: ANNA.to_owned(), before: 8 };
    store.forget(&key(), forget).await.unwrap();
    let ended = KeptRun { ended: Some(7), ..run("r", 4, ANNA) };
    store.keep_run(&key(), ended).await.unwrap();
    let ended = KeptRun { ended: Some(7), ..run("r", 4, "") };
    assert_eq!(store.runs(&key(), 9).await.unwrap(), [run("s", 5, "8"), ended]);
    let left = store.schedules(&key()).await.unwrap();
    assert_eq!((left[0].by.as_ref(), left[0].action.contains(ANNA)), (None, false), "{left:?}");
    assert!(left[0].action.contains("It's late"));
    assert_eq!(left[1], KeptSchedule { made: 8, ..schedule("later", None) });
    let elsewhere = store.schedules(&of_guild(1)).await.unwrap();
    assert_eq!(elsewhere[0], schedule("a", Some(5)));
    assert_eq!(store.runs(&of_guild(1), 9).await.unwrap()[1], run("r", 4, ANNA));
}

/// Two programs on the same data: each of a schedule's times is fired by one of them.
pub async fn contest(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    one.add_schedule(&key(), schedule("a", Some(0))).await.unwrap();
    for due in 0..20 {
        let claim = Claim { id: "a", due: Some(due), then: Some(due + 1), is_over: due == 19 };
        let scope = key();
        let both =
            tokio::join!(one.claim_schedule(&scope, claim), two.claim_schedule(&scope, claim));
        assert_ne!(both.0.unwrap(), both.1.unwrap(), "{due}");
    }
    assert!(ids(two, &key()).await.is_empty());
}
