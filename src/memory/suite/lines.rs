//! Lines: writing, finding, withdrawing and deleting.

use super::{
    super::{
        ASKED, Asked, CANCELLED, Forget, GuildRecord, LineFilter, LineQuery, MemoryStore, Pick,
        Session, SessionFilter, TranscriptLine, Uid, Utterance, Viewer, Visibility, text::fold,
    },
    sample::{heard, key, line, npc, other, player},
};

async fn all(store: &dyn MemoryStore, viewer: Viewer) -> Vec<TranscriptLine> {
    store.lines(&key(), LineFilter::default(), viewer).await.unwrap()
}

fn texts(lines: &[TranscriptLine]) -> Vec<&str> {
    lines.iter().map(|line| line.said.text.as_str()).collect()
}

async fn found(store: &dyn MemoryStore, query: LineQuery, viewer: Viewer) -> Vec<String> {
    let query = LineQuery { limit: 10, ..query };
    let hits = store.search(&key(), query, viewer).await.unwrap();
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    hits.into_iter().map(|hit| hit.line.said.text).collect()
}

fn about(text: &str) -> LineQuery {
    LineQuery { text: text.to_owned(), ..LineQuery::default() }
}

pub async fn appending(store: &dyn MemoryStore) {
    let two = vec![line("one", 1, "Hello there."), line("one", 2, "The mill burned down.")];
    assert_eq!(store.append(&key(), two.clone()).await.unwrap(), [1, 2]);
    // Repeated with a new line, as after a lost answer.
    let mut again = two.clone();
    again.push(line("one", 3, "Who did it?"));
    assert_eq!(store.append(&key(), again).await.unwrap(), [1, 2, 3]);
    assert_eq!(store.append(&key(), vec![line("two", 1, "A new day.")]).await.unwrap(), [1]);
    let late = [two.clone(), vec![line("two", 2, "It rains.")]].concat();
    assert_eq!(store.append_late(&key(), late).await.unwrap(), [1, 2, 2]);
    // An equal identity in another campaign is another line.
    assert_eq!(store.append(&other(), vec![two[0].clone()]).await.unwrap(), [1]);

    let written = all(store, Viewer::Dm).await;
    assert_eq!(written.len(), 5);
    let mut first = written[0].said.clone();
    first.present.sort();
    let mut given = two[0].clone();
    given.present.sort();
    assert_eq!((first, written[0].seq, written[0].withdrawn), (given, 1, false));

    // A bad line rejects its whole batch, but no other batch.
    let bad = Utterance { uid: Uid::default(), ..line("one", 9, "nobody") };
    let batch = vec![line("one", 8, "lost"), bad];
    let campaign = key();
    let (lost, kept) = tokio::join!(
        store.append(&campaign, batch),
        store.append(&campaign, vec![line("one", 4, "Kept.")])
    );
    assert!(lost.unwrap_err().to_string().contains("no identity"));
    assert_eq!(kept.unwrap(), [4]);

    sessions(store).await;
    parts(store).await;
}

/// Words that are written before their turn ends.
pub async fn open_words(store: &dyn MemoryStore) {
    let asked = |n| {
        let (outcome, tools) = (ASKED.to_owned(), serde_json::Value::Null);
        Utterance { turn: 0, outcome, tools, ..line("one", n, "any wombat?") }
    };
    let given = vec![asked(1), asked(2), line("one", 3, "a wombat")];
    assert_eq!(store.append(&key(), given).await.unwrap(), [1, 2, 3]);
    assert!(all(store, Viewer::Dm).await[0].said.is_open_in("one"));
    store.withdraw(&key(), vec![asked(2).uid]).await.unwrap();
    // Only what came of the words is added, and only to words that are there.
    let ended = |n| Utterance { at: 7, ..line("one", n, "another text") };
    let other = Utterance { outcome: "cancelled".to_owned(), ..ended(3) };
    let lines = vec![ended(1), ended(2), other.clone()];
    assert_eq!(store.append(&key(), lines.clone()).await.unwrap(), [1, 2, 3]);
    assert_eq!(store.append_late(&key(), vec![asked(1)]).await.unwrap(), [1]);
    let written = all(store, Viewer::Dm).await;
    assert_eq!(texts(&written), ["any wombat?", "a wombat"]);
    let (first, last) = (&written[0].said, &written[1].said);
    assert_eq!((first.turn, first.outcome.as_str(), first.at), (1, "spoken", asked(1).at));
    assert_eq!((&first.tools, last.outcome.as_str()), (&lines[0].tools, "spoken"));
    let gaps = LineFilter { gaps: true, ..LineFilter::default() };
    let gaps = store.lines(&key(), gaps, Viewer::Dm).await.unwrap();
    assert!(gaps[1].withdrawn && gaps[1].said.tools.is_null(), "{:?}", gaps[1]);

    // A process that goes on with the session settles what was left open before.
    let elsewhere = Utterance { session: "two".to_owned(), ..asked(4) };
    let elsewhere = Utterance { uid: Uid("two-4".to_owned()), ..elsewhere };
    store.append(&key(), vec![asked(4), asked(5), elsewhere]).await.unwrap();
    let (id, started) = ("one".to_owned(), Some(asked(5).at));
    store.put_session(&key(), Session { id, started, ..Session::default() }).await.unwrap();
    let written = all(store, Viewer::Dm).await;
    let outcomes: Vec<&str> = written.iter().map(|line| line.said.outcome.as_str()).collect();
    assert_eq!(outcomes, ["spoken", "spoken", CANCELLED, ASKED, ASKED]);
    assert_eq!((written[2].said.turn, written[2].said.at), (0, asked(4).at));
}

async fn sessions(store: &dyn MemoryStore) {
    let session =
        Session { id: "one".to_owned(), title: Some("The mill".to_owned()), ..Session::default() };
    store.put_session(&key(), session.clone()).await.unwrap();
    let ended = Session { id: "one".to_owned(), ended: Some(9_000_000), ..Session::default() };
    store.put_session(&key(), ended).await.unwrap();
    let entries = store.sessions(&key(), SessionFilter::default()).await.unwrap();
    let ids: Vec<&str> = entries.iter().map(|entry| entry.session.id.as_str()).collect();
    assert_eq!(ids, ["one", "two"], "the latest first");
    let one = &entries[0];
    assert_eq!(one.session.title.as_deref(), Some("The mill"));
    assert_eq!((one.session.started, one.session.ended), (Some(1_001_000), Some(9_000_000)));
    assert_eq!((one.lines, one.unindexed, one.last_at), (4, 4, Some(1_004_000)));
    let latest = SessionFilter { limit: 1, ..SessionFilter::default() };
    assert_eq!(store.sessions(&key(), latest).await.unwrap().len(), 1);
    assert_eq!(store.sessions(&other(), SessionFilter::default()).await.unwrap().len(), 1);
    let counts = store.counts(&key()).await.unwrap();
    assert_eq!((counts.sessions, counts.lines), (2, 6));
}

async fn parts(store: &dyn MemoryStore) {
    let part = |pick, limit| LineFilter {
        session: Some("one".to_owned()),
        pick,
        limit,
        ..LineFilter::default()
    };
    for (filter, expected) in [
        (part(Pick::Range { from: 2, to: 3 }, 0), vec![2, 3]),
        (part(Pick::Range { from: 3, to: u64::MAX }, 0), vec![3, 4]),
        (part(Pick::All, 2), vec![3, 4]),
        (part(Pick::Unindexed, 2), vec![1, 2]),
    ] {
        let lines = store.lines(&key(), filter, Viewer::Dm).await.unwrap();
        assert_eq!(lines.iter().map(|line| line.seq).collect::<Vec<_>>(), expected);
    }
}

pub async fn searching(store: &dyn MemoryStore) {
    let mut lines: Vec<Utterance> =
        (1..=30).map(|n| line("one", n, &format!("We walk along the road, mile {n}."))).collect();
    lines.push(line("one", 31, "The blacksmith hid the silver key; the key is silver."));
    lines.push(line("one", 32, "A key, you say?"));
    lines.push(Utterance {
        speaker_id: None,
        speaker: "Bartok".to_owned(),
        character: None,
        ..line("two", 33, "Der Müller vergräbt seinen Schlüssel.")
    });
    store.append(&key(), lines).await.unwrap();
    store.append(&other(), vec![line("x", 1, "silver key")]).await.unwrap();

    let keys = found(store, about("where is the silver key"), Viewer::Dm).await;
    assert!(keys[0].contains("blacksmith"), "{keys:?}");
    assert!(keys.iter().any(|text| text.starts_with("A key")));
    assert_eq!(found(store, about("MULLER"), Viewer::Dm).await.len(), 1, "case and accents");
    for nonsense in ["", "?!", "\"", "NEAR(", "silver\" OR \"", "text:key*", "a AND NOT", "'; --"] {
        store.search(&key(), about(nonsense), Viewer::Dm).await.unwrap();
    }
    let scripts = [
        ("Старый король спит.", "СТАРЫЙ"),
        ("Ёжик ушёл в туман.", "ёжик"),
        ("Ο Άναξ γελά.", "άναξ"),
        ("우리는 마을에 갔다.", "마을에"),
        ("पुरानी किताब यहाँ है।", "किताब"),
        ("القَلعَة بعيدة", "القلعة"),
        ("Çınarın gölgesi İzmir'de.", "izmir"),
    ];
    for (n, (text, word)) in (40..).zip(scripts) {
        store.append(&key(), vec![line("three", n, text)]).await.unwrap();
        assert_eq!(found(store, about(word), Viewer::Dm).await, [text], "{word}");
        assert_eq!(found(store, about(&fold(word)), Viewer::Dm).await, [text], "{word}, folded");
    }
    let of = |change: fn(&mut LineQuery)| {
        let mut query = about("key schlüssel");
        change(&mut query);
        query
    };
    for (query, count) in [
        (of(|_| ()), 3),
        (of(|query| query.session = Some("two".to_owned())), 1),
        (of(|query| query.from = Some(1_032_000)), 2),
        (of(|query| query.to = Some(1_032_000)), 1),
        (of(|query| query.speaker = Some("RHEA".to_owned())), 2),
        (of(|query| query.speaker = Some("7".to_owned())), 2),
        (of(|query| query.speaker = Some("bartok".to_owned())), 1),
        (of(|query| query.speaker = Some("art".to_owned())), 0),
    ] {
        let shown = format!("{query:?}");
        assert_eq!(found(store, query, Viewer::Dm).await.len(), count, "{shown}");
    }
}

pub async fn common_words(store: &dyn MemoryStore) {
    let first = (1..=20).map(|n| Utterance {
        speaker: "Early".to_owned(),
        at: i64::try_from(n).unwrap(),
        ..line("first", n, "the road begins")
    });
    store.append(&key(), first.collect()).await.unwrap();
    let lines = (1..=3_000).map(|n| line("one", n, &format!("the road goes on, mile {n}")));
    store.append(&key(), lines.collect()).await.unwrap();
    let rare = line("one", 3_001, "a griffon on the road");
    store.append(&key(), vec![rare]).await.unwrap();
    let hits = found(store, about("is the griffon on the road"), Viewer::Dm).await;
    assert_eq!(hits, ["a griffon on the road"], "words of most lines do not count");
    assert_eq!(found(store, about("the road"), Viewer::Dm).await.len(), 10, "unless alone");
    for limit in [0, 5_000] {
        let query = LineQuery { limit, ..about("the road") };
        let hits = store.search(&key(), query, Viewer::Dm).await.unwrap();
        assert_eq!(hits.len(), 3_021, "all, when all are asked for");
    }
    for early in [
        LineQuery { session: Some("first".to_owned()), ..about("the road") },
        LineQuery { to: Some(1_000), ..about("the road") },
        LineQuery { speaker: Some("early".to_owned()), ..about("the road") },
    ] {
        let hits = found(store, early.clone(), Viewer::Dm).await;
        assert_eq!(hits, ["the road begins"; 10], "{early:?}");
    }
}

pub async fn witnesses(store: &dyn MemoryStore) {
    let alone = |n, text: &str, who: &str| Utterance {
        present: vec![heard(who), player("Anna", "7")],
        ..line("one", n, text)
    };
    let lines = vec![
        line("one", 1, "secret told to both"),
        alone(2, "secret told to Bartok", "Bartok"),
        alone(3, "secret told to Mira", "Mira"),
        Utterance { visibility: Visibility::Dm, ..line("one", 4, "secret of the game master") },
        Utterance {
            visibility: Visibility::Npcs(vec!["bartok".to_owned()]),
            ..alone(5, "secret passed on to Bartok", "Mira")
        },
    ];
    store.append(&key(), lines).await.unwrap();
    let told = |texts: &[&str]| texts.iter().map(|it| format!("secret {it}")).collect::<Vec<_>>();
    for (viewer, expected) in [
        (npc("Bartok"), told(&["told to both", "told to Bartok", "passed on to Bartok"])),
        (npc("MIRA"), told(&["told to both", "told to Mira"])),
        (npc("Nobody"), told(&[])),
        (Viewer::Everyone, told(&["told to both", "told to Bartok", "told to Mira"])),
    ] {
        assert_eq!(texts(&all(store, viewer.clone()).await), expected, "{viewer:?}");
        let mut hits = found(store, about("secret"), viewer.clone()).await;
        hits.sort_unstable();
        let mut expected = expected.clone();
        expected.sort_unstable();
        assert_eq!(hits, expected, "{viewer:?}");
    }
    assert_eq!(all(store, Viewer::Dm).await.len(), 5);
}

pub async fn withdrawing(store: &dyn MemoryStore) {
    let answer = Utterance {
        uid: Uid("answer".to_owned()),
        speaker_id: None,
        speaker: "Bartok".to_owned(),
        ..line("one", 2, "a gruesome answer")
    };
    let lines = vec![line("one", 1, "harmless"), line("one", 2, "a gruesome tale"), answer];
    store.append(&key(), lines).await.unwrap();
    let last = vec![line("one", 2, "").uid, Uid("answer".to_owned())];
    assert_eq!(store.withdraw(&key(), last.clone()).await.unwrap().lines, 2);
    assert_eq!(texts(&all(store, Viewer::Dm).await), ["harmless"]);
    assert!(found(store, about("gruesome"), Viewer::Dm).await.is_empty());
    let gaps = LineFilter { gaps: true, ..LineFilter::default() };
    let gaps = store.lines(&key(), gaps, Viewer::Dm).await.unwrap();
    assert_eq!(texts(&gaps), ["harmless", "", ""]);
    assert!(gaps[1].withdrawn && gaps[1].said.raw.is_none() && gaps[1].said.tools.is_null());
    // Written again it stays withdrawn.
    store.append(&key(), vec![line("one", 2, "a gruesome tale")]).await.unwrap();
    assert_eq!(all(store, Viewer::Dm).await.len(), 1);
    let one = vec![Uid("one-1".to_owned()), Uid("unknown".to_owned())];
    assert_eq!(store.withdraw(&other(), one.clone()).await.unwrap().lines, 0);
    assert_eq!(store.withdraw(&key(), one).await.unwrap().lines, 1);
    assert_eq!(store.withdraw(&key(), last).await.unwrap().lines, 0);
}

pub async fn forgetting(store: &dyn MemoryStore) {
    let bens = |n, text: &str| Utterance {
        speaker_id: Some("8".to_owned()),
        speaker: "Ben".to_owned(),
        character: Some("Thokk".to_owned()),
        ..line("one", n, text)
    };
    let lines = vec![line("one", 1, "mine"), bens(2, "his confession"), line("two", 3, "later")];
    store.append(&key(), lines).await.unwrap();
    let ben = Forget::Player { id: "8".to_owned(), before: i64::MAX };
    assert_eq!(store.forget(&other(), ben.clone()).await.unwrap().lines, 0);
    assert_eq!(store.forget(&key(), ben).await.unwrap().lines, 1);
    let gaps = LineFilter { gaps: true, ..LineFilter::default() };
    let left = store.lines(&key(), gaps, Viewer::Dm).await.unwrap();
    let written = serde_json::to_string(&left).unwrap();
    for word in ["confession", "Ben", "Thokk", "\"8\""] {
        assert!(!written.contains(word), "{word} in {written}");
    }
    assert_eq!(left.len(), 3, "places stay");
    assert!(found(store, about("confession"), Viewer::Dm).await.is_empty());
    let of_anna = LineFilter { player: Some("7".to_owned()), ..LineFilter::default() };
    assert_eq!(store.lines(&key(), of_anna, Viewer::Dm).await.unwrap().len(), 2);

    let gone = store.forget(&key(), Forget::Before(1_003_000)).await.unwrap();
    assert_eq!((gone.sessions, gone.lines), (1, 2));
    assert_eq!(texts(&all(store, Viewer::Dm).await), ["later"]);
    let gone = store.forget(&key(), Forget::Session("two".to_owned())).await.unwrap();
    assert_eq!((gone.sessions, gone.lines), (1, 1));
    assert!(found(store, about("later mine"), Viewer::Dm).await.is_empty());
    assert_eq!(store.counts(&key()).await.unwrap().lines, 0);
}

/// An answer is removed with the words it answers, whenever it was said.
pub async fn answers(store: &dyn MemoryStore) {
    let answer = |n: u64, by: &str, text: &str| Utterance {
        uid: Uid(format!("answer-{n}")),
        speaker_id: None,
        speaker: "Bartok".to_owned(),
        character: None,
        raw: None,
        asked: Some(Asked { by: by.to_owned(), at: line("one", n, "").at }),
        ..line("one", n, text)
    };
    let late =
        Utterance { uid: Uid("late".to_owned()), at: 2_000_000, ..answer(1, "7", "mule found") };
    let bens = Utterance { speaker_id: Some("8".to_owned()), ..line("one", 2, "and an owl?") };
    let lines = vec![
        line("one", 1, "my mule is lame"),
        answer(1, "7", "a lame mule, Anna"),
        bens,
        answer(2, "8", "no owl"),
        late,
        line("one", 3, "any wombat?"),
        answer(3, "7", "a wombat"),
    ];
    store.append(&key(), lines.clone()).await.unwrap();
    let stored = all(store, Viewer::Dm).await;
    assert_eq!(stored[1].said.asked, lines[1].asked);
    let anna = |before| Forget::Player { id: "7".to_owned(), before };
    let gone = store.forget(&key(), anna(line("one", 2, "").at)).await.unwrap();
    assert_eq!(gone.lines, 1, "answers do not count");
    let left = ["and an owl?", "no owl", "any wombat?", "a wombat"];
    assert_eq!(texts(&all(store, Viewer::Dm).await), left);
    assert!(found(store, about("mule"), Viewer::Dm).await.is_empty());
    let gaps = LineFilter { gaps: true, ..LineFilter::default() };
    let gaps = store.lines(&key(), gaps, Viewer::Dm).await.unwrap();
    assert!(gaps[1].withdrawn && gaps[1].said.asked.is_none(), "{:?}", gaps[1]);
    assert_eq!(store.forget(&key(), anna(i64::MAX)).await.unwrap().lines, 1);
    assert_eq!(texts(&all(store, Viewer::Dm).await), left[..2]);
}

pub async fn settings(store: &dyn MemoryStore) {
    assert!(store.scopes().await.unwrap().is_empty());
    store.append(&key(), vec![line("one", 1, "hi")]).await.unwrap();
    assert_eq!(store.scopes().await.unwrap(), [key()]);
    let health = store.health().await.unwrap();
    assert!(health.schema >= 1 && health.bytes > 0 && !health.engine.is_empty());
    assert_eq!(store.guild(7).await.unwrap(), None);
    let of = |revision, text: &str| GuildRecord { revision, text: text.to_owned() };
    store.put_guild(u64::MAX, of(9, "another's")).await.unwrap();
    // In any order, the latest stays.
    for record in [of(2, "second"), of(3, "third"), of(1, "first"), of(3, "twice")] {
        store.put_guild(7, record).await.unwrap();
    }
    assert_eq!(store.guild(7).await.unwrap(), Some(of(3, "third")));
    assert_eq!(store.scopes().await.unwrap(), [key()]);
}
