//! Spoken wishes about the music of a table, English and German: [`wishes`].
//!
//! Like a spoken command, a wish is a whole utterance: each of its words says what is to be done, names
//! music, or stands beside such words in every request. "The music was louder at the duke's" is none.
//! **Never**: changes the music.

use std::sync::Arc;

use super::{Library, Track, shipped_sound};
use crate::logic::{
    command::{NpcNames, name_at},
    language::{List, MusicTalk, is_any},
    words::Words,
};

/// Longest wish, in words; nobody needs more.
const WORDS_MAX: usize = 20;

/// One wish about music.
#[derive(Clone, Debug, PartialEq)]
pub enum MusicWish {
    /// Lower the volume.
    Softer,
    /// Raise it.
    Louder,
    /// Play another track of the same layer.
    Next,
    /// Fade everything out.
    Stop,
    /// Say what sounds.
    Name,
    /// Play this track, whose title was said.
    Play(Arc<Track>),
}

/// State in which a wish is to be understood.
#[derive(Clone, Copy)]
pub struct WishContext<'c> {
    /// Names of the NPCs, one of whom may be asked.
    pub names: &'c [NpcNames],
    /// The tracks that may be named.
    pub library: &'c Library,
    /// True while music sounds: "louder" alone means it then.
    pub sounds: bool,
}

/// The wishes that the whole of `text` consists of, in the order spoken; empty: it is something else.
pub fn wishes(text: &str, context: WishContext<'_>) -> Vec<MusicWish> {
    let words = Words::of(text);
    if words.len() > WORDS_MAX {
        return Vec::new();
    }
    let Some(said) = Said::of(&words, context) else { return Vec::new() };
    if let Some(track) = said.titled() {
        return vec![MusicWish::Play(track)];
    }
    let rest_is_known = said.words.iter().all(|word| said.is_known(word));
    if rest_is_known { said.wishes() } else { Vec::new() }
}

/// An utterance without the names of NPCs.
struct Said<'w> {
    words: Vec<&'w str>,
    context: WishContext<'w>,
}

impl<'w> Said<'w> {
    /// `None`: it is nothing but names.
    fn of(words: &'w Words, context: WishContext<'w>) -> Option<Self> {
        let (mut rest, mut at) = (Vec::new(), 0);
        while at < words.len() {
            match name_at(context.names, words, at) {
                Some((_, end)) => at = end,
                None => {
                    rest.extend(words.get(at));
                    at += 1;
                }
            }
        }
        (!rest.is_empty()).then_some(Self { words: rest, context })
    }

    /// The track of the game master's own whose title follows a word for playing.
    fn titled(&self) -> Option<Arc<Track>> {
        let at = self.words.iter().position(|word| is(|it| it.play, word))?;
        if self.words.iter().take(at).any(|word| is_negation(word) || is(|it| it.asking, word)) {
            return None;
        }
        let behind = &self.words[at + 1..];
        let own = self.context.library.tracks.iter().filter(|it| shipped_sound(&it.file).is_none());
        let titled = own.filter(|track| {
            let title = Words::of(&track.title);
            let title: Vec<&str> = title.iter().collect();
            !title.is_empty() && behind.windows(title.len()).any(|said| said == title)
        });
        titled.max_by_key(|track| track.title.len()).cloned()
    }

    /// True if a word may stand in a wish.
    fn is_known(&self, word: &str) -> bool {
        let lists: [fn(&'static MusicTalk) -> List; 12] = [
            |it| it.nouns,
            |it| it.softer,
            |it| it.louder,
            |it| it.loud,
            |it| it.soft,
            |it| it.next,
            |it| it.stop,
            |it| it.play,
            |it| it.asking,
            |it| it.running,
            |it| it.turning,
            |it| it.beside,
        ];
        is_negation(word) || lists.iter().any(|list| is(list, word))
    }

    fn has(&self, list: fn(&'static MusicTalk) -> List) -> bool {
        self.words.iter().any(|word| is(list, word))
    }

    fn wishes(&self) -> Vec<MusicWish> {
        let (names_music, sounds) = (self.has(|it| it.nouns), self.context.sounds);
        if self.words.first().is_some_and(|word| is(|it| it.asking, word)) {
            let asks = names_music || sounds && self.has(|it| it.running);
            return if asks { vec![MusicWish::Name] } else { Vec::new() };
        }
        let is_meant = self.has(|it| it.alone) || self.has(|it| it.turning);
        if !(names_music || sounds && is_meant) {
            return Vec::new();
        }
        let negated = self.words.iter().any(|word| is_negation(word) && !is(|it| it.stop, word));
        let is_excess = |word: &&str| matches!(*word, "too" | "zu");
        match (negated || self.words.iter().any(is_excess), self.has(|it| it.loud)) {
            (true, true) => return vec![MusicWish::Softer],
            (true, false) if self.has(|it| it.soft) => return vec![MusicWish::Louder],
            _ if negated && names_music && self.has(|it| it.play) => return vec![MusicWish::Stop],
            _ if negated => return Vec::new(),
            _ => {}
        }
        let mut wishes = Vec::new();
        for wish in self.words.iter().filter_map(|word| wish_of(word, names_music)) {
            if !wishes.contains(&wish) {
                wishes.push(wish);
            }
        }
        wishes
    }
}

/// The wish that a word stands for.
fn wish_of(word: &str, names_music: bool) -> Option<MusicWish> {
    match () {
        () if is(|it| it.softer, word) => Some(MusicWish::Softer),
        () if is(|it| it.louder, word) => Some(MusicWish::Louder),
        () if names_music && is(|it| it.next, word) => Some(MusicWish::Next),
        () if names_music && is(|it| it.stop, word) => Some(MusicWish::Stop),
        () => None,
    }
}

/// True if a list of any language's words about music has `word`.
fn is(list: impl Fn(&'static MusicTalk) -> List, word: &str) -> bool {
    is_any(|language| list(language.music), word)
}

fn is_negation(word: &str) -> bool {
    is_any(|language| language.wording.negations, word)
}

#[cfg(test)]
mod tests {
    use super::{
        MusicWish::{Louder, Name, Next, Softer, Stop},
        *,
    };
    use crate::domain::Npc;

    fn heard(text: &str, sounds: bool) -> Vec<MusicWish> {
        let npcs = [Npc::plain("Bartok"), Npc::plain("Mira")];
        let library = Library {
            tracks: vec![Arc::new(Track::plain("Iron March")), Arc::new(Track::plain("Das Tor"))],
        };
        let names = NpcNames::of(&npcs);
        wishes(text, WishContext { names: &names, library: &library, sounds })
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
            assert_eq!(heard(text, false), [wanted], "{text}");
        }
        assert_eq!(heard("next song and a bit louder", false), [Next, Louder]);
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
            assert_eq!(heard(text, true), [wanted], "{text}");
            assert_eq!(heard(text, false), [], "{text}");
        }
    }

    #[test]
    fn own_titles_are_played() {
        for text in ["Play Iron March", "Bartok, put on iron march please", "Spiel bitte Das Tor"] {
            assert!(matches!(heard(text, false)[..], [MusicWish::Play(_)]), "{text}");
        }
        for text in ["Iron March is a song", "don't play Iron March", "play the iron lute"] {
            assert_eq!(heard(text, false), [], "{text}");
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
            assert_eq!(heard(text, true), [], "{text}");
        }
    }
}
