//! Tests of spoken wishes about music.

use super::{
    MusicWish::{Change, Louder, Missing, Name, Next, Softer, Stop},
    *,
};
use crate::domain::Npc;

/// Calls `hear` with a tavern of two NPCs in which `playing` is playing.
fn with<T>(playing: &[&str], hear: impl FnOnce(WishContext<'_>) -> T) -> T {
    let npcs = [Npc::plain("Bartok"), Npc::plain("Mira")];
    let library = Library {
        tracks: vec![Arc::new(Track::plain("Iron March")), Arc::new(Track::plain("Das Tor"))],
    };
    let names = NpcNames::of(&npcs);
    let playing: Vec<String> = playing.iter().map(|&title| title.to_owned()).collect();
    hear(WishContext { names: &names, library: &library, playing: &playing })
}

fn wishes_of(text: &str, sounds: bool) -> Vec<MusicWish> {
    let playing: &[&str] = if sounds { &["Iron March"] } else { &[] };
    with(playing, |context| wishes(text, context))
}

#[test]
fn sounds_are_named_by_their_title() {
    for text in ["turn the drums down", "Mach die Trommeln leiser", "the drums are too loud"] {
        let wishes_of = |playing: &[&str]| with(playing, |context| wishes(text, context));
        assert_eq!(wishes_of(&["Battle drums"]), [Softer], "{text}");
        assert_eq!(wishes_of(&["Rain"]), [], "{text}");
    }
    let fight = with(&["Battle drums"], |context| wishes("stop the fight", context));
    assert_eq!(fight, [], "only the last word of a title is what sounds");
}

#[test]
fn wish_beside_another_request_leaves_the_rest() {
    for (text, wish, rest) in [
        ("turn the drums down and pour me an ale", Softer, "pour me an ale"),
        ("Bartok, turn the drums down and pour me an ale", Softer, "Bartok, pour me an ale"),
        ("Turn the music down. What does the stew cost?", Softer, "What does the stew cost?"),
        ("Pour me an ale, and turn the music up", Louder, "Pour me an ale"),
        ("next song please and then tell me about the ring", Next, "tell me about the ring"),
        ("The music is too loud, who are you", Softer, "who are you"),
        ("mach die Musik leiser und gib mir ein Bier", Softer, "gib mir ein Bier"),
        ("Gib mir ein Bier und mach die Musik aus!", Stop, "Gib mir ein Bier"),
        ("Die Trommeln sind zu laut. Was kostet ein Zimmer?", Softer, "Was kostet ein Zimmer?"),
    ] {
        let heard = with(&["Battle drums"], |context| wishes_within(text, context));
        assert_eq!(heard, Some((vec![wish], rest.to_owned())), "{text}");
    }
    for text in [
        "louder, I can't hear you",
        "don't stop the music and pour me an ale",
        "the song was loud and the beer was good",
        "Do you like the music and the ale?",
        "mach die Tür auf und gib mir ein Bier",
        "I go down and drink",
        "Bartok, hello",
        "Bartok, stop playing music",
        "Please, stop the music, Bartok.",
        "",
    ] {
        let heard = with(&["Battle drums"], |context| wishes_within(text, context));
        assert_eq!(heard, None, "{text}");
    }
}

#[test]
fn whole_utterances_are_wishes_about_music() {
    for (text, wanted) in [
        ("Turn the music down", Softer),
        ("bartok could you please turn the music down a bit", Softer),
        ("Make the music softer, please.", Softer),
        ("The music is too loud", Softer),
        ("The music not so loud, please", Softer),
        ("Mach die Musik leiser", Softer),
        ("Bartok kannst du die Musik bitte etwas leiser machen", Softer),
        ("Die Musik ist zu laut", Softer),
        ("Bitte die Musik nicht so laut", Softer),
        ("Music louder", Louder),
        ("I'd like the music a little louder", Louder),
        ("The music is too quiet", Louder),
        ("Dreh die Musik auf", Louder),
        ("Die Musik ist zu leise", Louder),
        ("Next song, Bartok", Next),
        ("Can we have some other music?", Next),
        ("change the music", Next),
        ("Spiel das nächste Lied", Next),
        ("Könnten wir bitte andere Musik hören", Next),
        ("Stop the music", Stop),
        ("no more music please", Stop),
        ("Mach die Musik aus", Stop),
        ("Schluss mit der Musik!", Stop),
        ("Bitte keine Musik", Stop),
        ("What song is this?", Name),
        ("Which track is that, Mira", Name),
        ("Welches Lied ist das", Name),
        ("Wie heißt das Stück?", Name),
    ] {
        assert_eq!(wishes_of(text, false), [wanted], "{text}");
    }
    assert_eq!(wishes_of("next song and a bit louder", false), [Next, Louder]);
}

#[test]
fn short_wishes_count_while_music_sounds() {
    for (text, wanted) in [
        ("Leiser bitte", Softer),
        ("louder!", Louder),
        ("turn it down", Softer),
        ("what is playing?", Name),
        ("Was läuft da gerade", Name),
    ] {
        assert_eq!(wishes_of(text, true), [wanted], "{text}");
        assert_eq!(wishes_of(text, false), [], "{text}");
    }
}

#[test]
fn weary_listeners_want_another_track_or_none() {
    for (text, wanted) in [
        ("I've had enough of this song, play another one", Next),
        ("Bartok, I'm bored with this, please play something different", Next),
        ("play something else", Next),
        ("could you play us another one", Next),
        ("we're sick of this tune, something else please", Next),
        ("we have had enough music, thanks", Stop),
        ("well I think that is enough of the music", Stop),
        ("Bartok, kannst du was anderes spielen", Next),
        ("Ich bin das Lied leid, spiel ein anderes", Next),
        ("Das langweilt mich, spiel doch mal etwas Neues", Next),
        ("spielt uns bitte was Neues", Next),
        ("Das ist jetzt genug Musik", Stop),
        ("okay, genug von der Musik für heute", Stop),
    ] {
        assert_eq!(wishes_of(text, true), [wanted], "{text}");
    }
    for text in
        ["play another game", "another one please", "Ich bin es leid", "was anderes", "I'm tired"]
    {
        assert_eq!(wishes_of(text, true), [], "{text}");
    }
    assert_eq!(wishes_of("play something else", false), []);
}

#[test]
fn complaints_mean_the_music_that_sounds() {
    for (text, wanted) in [
        ("Bartok, das ist mir zu laut.", Softer),
        ("that's way too loud for me", Softer),
        ("It is too loud in here, Bartok", Softer),
        ("Das ist ein bisschen zu laut hier", Softer),
        ("die Musik kann jetzt weg", Stop),
        ("get rid of the music please", Stop),
        ("we don't need the music any more", Stop),
        ("Bartok, wir brauchen die Musik nicht mehr", Stop),
    ] {
        assert_eq!(wishes_of(text, true), [wanted], "{text}");
    }
    for text in ["das ist mir zu laut", "that is too loud"] {
        assert_eq!(wishes_of(text, false), [], "{text}");
    }
    for text in [
        "you are too loud",
        "Du bist mir zu laut",
        "I am too loud",
        "das ist mir nicht zu laut",
        "it is too loud when the guards come in",
        "that is too expensive",
        "don't you want music?",
        "I don't want the music to change",
        "the dog can go away now",
        "der Wirt kann jetzt weg",
    ] {
        assert_eq!(wishes_of(text, true), [], "{text}");
    }
    let drums = |text: &str| with(&["Battle drums"], |context| wishes(text, context));
    for text in ["Genug getrommelt, Bartok, Ruhe jetzt.", "that's enough drumming"] {
        assert_eq!(drums(text), [Stop], "{text}");
    }
    for text in ["Genug geredet, Bartok, Ruhe jetzt.", "that's enough talking", "Ruhe jetzt"] {
        assert_eq!(drums(text), [], "{text}");
    }
}

/// The wishes where the shipped sounds may be played, and this one plays.
fn shipped(playing: &str, text: &str) -> Vec<MusicWish> {
    let (npcs, library) = ([Npc::plain("Bartok")], Library::shipped());
    let (names, playing) = (NpcNames::of(&npcs), [playing.to_owned()]);
    wishes(text, WishContext { names: &names, library: &library, playing: &playing })
}

#[test]
fn change_of_track_may_say_which() {
    for text in [
        "Bartok, wechsel mal bitte die Musik, irgendwas Ruhiges am Lagerfeuer",
        "change the music to something calm by the campfire",
        "switch to the campfire please",
        "play something else, the fire",
        "Bartok, spiel lieber was anderes, Lagerfeuer bitte",
    ] {
        let heard = shipped("Tavern murmur", text);
        let [Change(track)] = &heard[..] else { panic!("{text}: {heard:?}") };
        assert_eq!(track.title, "Campfire", "{text}");
    }
    for (text, wanted) in [
        ("change the music", vec![Next]),
        ("next song and a bit quieter", vec![Next, Softer]),
        ("I'm tired of the tavern music, play another", vec![]),
        ("let's change taverns", vec![]),
        ("another fire please", vec![]),
        ("change the music and tell me about the dragon", vec![]),
        ("switch the fire off", vec![]),
        ("wechsel das Geld am Feuer", vec![]),
    ] {
        assert_eq!(shipped("Tavern murmur", text), wanted, "{text}");
    }
}

#[test]
fn title_of_no_track_is_missing() {
    for (text, title) in [
        ("Bartok, spiel doch mal 'Nachtigall im Moor'.", "Nachtigall im Moor"),
        ("Spiel bitte „Der alte König“", "Der alte König"),
        ("play \"Greensleeves\" for us", "Greensleeves"),
        ("Play the song Maiden of Lorn, Bartok", "Maiden of Lorn"),
        ("Spiel das Lied Nachtigall im Moor!", "Nachtigall im Moor"),
    ] {
        assert_eq!(shipped("Rain", text), [Missing(title.to_owned())], "{text}");
    }
    for text in [
        "play 'Battle drums'",
        "spiel was 'Ruhiges'",
        "Let's play 'Liar's Dice'",
        "don't play 'Greensleeves'",
        "What did you play, 'Greensleeves'?",
        "play the song I like",
        "Play a song Bartok likes",
        "Spiel ein Lied, Freund",
        "Spiel uns ein Lied Meister",
        "Play us a song Captain",
        "play the song again",
        "play fair, 'friend' of mine? no",
        "He called it 'Greensleeves'",
    ] {
        let heard = shipped("Rain", text);
        assert!(!heard.iter().any(|it| matches!(it, Missing(_))), "{text}: {heard:?}");
    }
}

#[test]
fn title_is_found_without_quotes_or_before_verb() {
    for (text, title) in [
        ("play Stairway to Heaven", "Stairway to Heaven"),
        ("Bartok, can you play Smoke on the Water please?", "Smoke on the Water"),
        ("Spiel mal Stairway to Heaven, Bartok", "Stairway to Heaven"),
        ("kannst du 'Das Lied vom traurigen Drachen' spielen?", "Das Lied vom traurigen Drachen"),
        ("Bartok, kannst du bitte „Nachtigall im Moor“ spielen", "Nachtigall im Moor"),
    ] {
        assert_eq!(shipped("Rain", text), [Missing(title.to_owned())], "{text}");
    }
    for text in [
        "I play Sir Roland of Ashdown",
        "let's play Hide and Seek",
        "We play Romeo and Juliet tonight",
        "Spiel Laute und Flöte",
        "Spiel Karten mit Korbin",
        "play Cards with Korbin",
        "Play Bartok and Mira",
        "Play Captain",
        "PLAY IT LOUD AGAIN",
        "play Battle Drums",
        "die Kinder, die 'Fangen' riefen, wollten draußen am Fluss spielen und lachen",
    ] {
        let heard = shipped("Rain", text);
        assert!(!heard.iter().any(|it| matches!(it, Missing(_))), "{text}: {heard:?}");
    }
}

#[test]
fn reason_behind_a_wish_is_left_out() {
    for (playing, text, wanted) in [
        ("Rain", "mach mal leiser man versteht ja sein eigenes wort nicht", Softer),
        ("Rain", "Leiser bitte, wir hören uns ja kaum", Softer),
        ("Rain", "quieter please, I can't hear myself think", Softer),
        ("Rain", "turn it down we can barely hear Bartok", Softer),
        ("Campfire", "bit louder pls, I can barely hear the crackling", Louder),
        ("Rain", "etwas lauter bitte, man hört den Regen kaum", Louder),
    ] {
        assert_eq!(shipped(playing, text), [wanted], "{text}");
    }
    for text in [
        "louder, I can't hear you",
        "louder please I can't hear",
        "leiser, ich verstehe dich nicht",
        "man versteht ja sein eigenes Wort nicht",
        "I can barely hear the rain",
        "I went down and I could barely hear the rain in the cellar",
    ] {
        assert_eq!(shipped("Rain", text), [], "{text}");
    }
}

#[test]
fn headache_from_music_wants_it_softer() {
    for text in [
        "ugh those drums are giving me a headache",
        "the drums hurt my ears",
        "that drumming is getting on my nerves",
        "Boah, die Trommeln gehen mir auf die Nerven",
        "von der Musik krieg ich Kopfweh",
        "die Trommeln tun mir in den Ohren weh",
    ] {
        assert_eq!(shipped("Battle drums", text), [Softer], "{text}");
    }
    for text in [
        "the drums of war were loud that night",
        "the drums gave the orcs a headache",
        "that is music to my ears",
        "do the drums give you a headache?",
        "die Musik macht mir keine Kopfschmerzen",
        "I have a headache",
        "mir tut der Kopf weh",
    ] {
        assert_eq!(shipped("Battle drums", text), [], "{text}");
    }
}

#[test]
fn track_that_plays_is_skipped() {
    for text in
        ["skip this one please", "Bartok, can we skip this one", "überspring das hier bitte"]
    {
        assert_eq!(wishes_of(text, true), [Next], "{text}");
        assert_eq!(wishes_of(text, false), [], "{text}");
    }
    for text in [
        "skip the speech, captain",
        "don't skip this one",
        "skip that",
        "überspring den Teil mit dem Drachen",
        "we skip this one guard and go on",
    ] {
        assert_eq!(wishes_of(text, true), [], "{text}");
    }
}

#[test]
fn own_titles_are_played() {
    for text in ["Play Iron March", "Bartok, put on iron march please", "Spiel bitte Das Tor"] {
        assert!(matches!(wishes_of(text, false)[..], [MusicWish::Play(_)]), "{text}");
    }
    for text in ["Iron March is a song", "don't play Iron March", "play the iron lute"] {
        assert_eq!(wishes_of(text, false), [], "{text}");
    }
}

#[test]
fn other_talk_is_no_wish() {
    for text in [
        "",
        "Bartok",
        "Play some music",
        "play tavern music",
        "The music was louder at the duke's",
        "Don't stop the music",
        "Who wrote this song?",
        "Bartok, stop",
        "What do you want?",
        "Next!",
        "I go down to the cellar",
        "Spiel Musik für die Taverne",
        "Nicht die Musik leiser",
        "Was ist das?",
        "Ich stehe auf",
    ] {
        assert_eq!(wishes_of(text, true), [], "{text}");
    }
}
