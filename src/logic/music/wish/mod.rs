//! Spoken wishes about the table's music, English and German: [`wishes`], [`wishes_within`].
//!
//! Like a spoken command, a wish is a whole utterance, or a whole clause that names music: every
//! word is a command, names music, or is a filler of requests. "The music was louder at the duke's"
//! is no wish. The last word of a playing title ("drums"), or a synonym, names music too. A reason
//! behind the wish ("I can barely hear the drums") is left out.

use std::{ops::Range, sync::Arc};

use super::{
    Library, Track, moods, shipped_sound,
    title::{title_behind, title_in},
};
use crate::logic::{
    command::{NpcNames, name_at},
    language::{List, MusicTalk, is_any, is_negation, is_turning},
    words::Words,
};

/// Longest wish, in words.
const WORDS_MAX: usize = 20;
/// Shortest word that tells one title from another, in bytes.
const TITLE_WORD_MIN: usize = 4;
/// Longest title, in words, that describes a track if one of its words is a mood.
const DESCRIPTION_MAX: usize = 2;
/// Words of games, which are played too.
const GAMES: [&str; 12] = [
    "dice",
    "cards",
    "game",
    "chess",
    "poker",
    "wurfel",
    "karten",
    "schach",
    "skat",
    "spiel",
    "fangen",
    "verstecken",
];

#[derive(Clone, Debug, PartialEq)]
pub enum MusicWish {
    Softer,
    Louder,
    /// Another track of the same layer.
    Next,
    Stop,
    /// Say what is playing.
    Name,
    /// Play this track, named by its title.
    Play(Arc<Track>),
    /// Play this track, whose mood was said, instead of what plays.
    Change(Arc<Track>),
    /// Play a track of this title, which the library lacks.
    Missing(String),
}

#[derive(Clone, Copy)]
pub struct WishContext<'c> {
    /// Names of the NPCs, which a wish may address.
    pub names: &'c [NpcNames],
    pub library: &'c Library,
    /// Titles of the playing tracks. While any plays, "louder" alone means it.
    pub playing: &'c [String],
}

/// The wishes that make up the whole of `text`, in order; empty if it is anything else.
pub fn wishes(text: &str, context: WishContext<'_>) -> Vec<MusicWish> {
    wishes_of(text, context, false)
}

/// The wishes among the parts of `text` (sentences, or clauses after a comma or an "and"), and the
/// other parts. `None`: no wish, or nothing else but names and fillers.
pub fn wishes_within(text: &str, context: WishContext<'_>) -> Option<(Vec<MusicWish>, String)> {
    let (mut wishes, mut rest, mut is_behind_wish) = (Vec::new(), String::new(), false);
    for part in parts(text) {
        let part = text.get(part).unwrap_or_default();
        let found = wishes_of(part, context, true);
        if found.is_empty() {
            let part = if is_behind_wish { without_joining(part) } else { part };
            if !rest.is_empty() && !part.is_empty() {
                rest.push(' ');
            }
            rest.push_str(part.trim());
        }
        is_behind_wish = !found.is_empty();
        wishes.extend(found);
    }
    let rest = rest.trim_end_matches([',', ' ']).to_owned();
    let words = Words::of(&rest);
    let says_more = Said::of(&words, context)
        .is_some_and(|said| !said.words.iter().all(|word| is(|it| it.beside, word)));
    (!wishes.is_empty() && says_more).then_some((wishes, rest))
}

/// The wishes that make up the whole of `text`; `must_name`: only if it names music.
fn wishes_of(text: &str, context: WishContext<'_>, must_name: bool) -> Vec<MusicWish> {
    let words = Words::of(text);
    if words.len() > WORDS_MAX {
        return Vec::new();
    }
    let Some(said) = Said::of(&words, context).map(Said::without_reason) else {
        return Vec::new();
    };
    if let Some(track) = said.titled() {
        return vec![MusicWish::Play(track)];
    }
    if let Some(track) = said.changed_to() {
        return vec![MusicWish::Change(track)];
    }
    let title = title_in(text, &words).or_else(|| said.title_in_capitals(text, &words));
    if let Some(title) = title.filter(|title| said.is_missing(title)) {
        return vec![MusicWish::Missing(title.to_owned())];
    }
    if said.is_painful() {
        return vec![MusicWish::Softer];
    }
    let is_whole = said.words.iter().all(|word| said.is_known(word));
    let is_named = !must_name || said.names_music();
    if is_whole && is_named { said.wishes() } else { Vec::new() }
}

/// The sentences and clauses of `text`, in order.
fn parts(text: &str) -> Vec<Range<usize>> {
    let words = Words::of(text);
    let is_apart = |at: usize| words.get(at).is_some_and(|word| is(|it| it.apart, word));
    let begins = |at: &usize| {
        let between = text.get(words.source(at - 1).end..words.source(*at).start);
        let is_marked = between.is_some_and(|it| it.contains(['.', '!', '?', ';', ':', ',']));
        is_marked || is_apart(*at) && !is_apart(at - 1)
    };
    let starts = (1..words.len()).filter(begins).map(|at| words.source(at).start);
    let bounds: Vec<usize> = [0].into_iter().chain(starts).chain([text.len()]).collect();
    bounds.iter().zip(bounds.iter().skip(1)).map(|(start, end)| *start..*end).collect()
}

/// A part without an initial "and".
fn without_joining(part: &str) -> &str {
    let words = Words::of(part);
    let first = words.iter().position(|word| !is(|it| it.apart, word));
    first.and_then(|at| part.get(words.source(at).start..)).unwrap_or_default()
}

struct Said<'w> {
    words: Vec<&'w str>,
    context: WishContext<'w>,
}

impl<'w> Said<'w> {
    /// Removes the names; `None` if nothing else was said.
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

    /// Without a reason for a wish: "quieter, one can't hear oneself think".
    fn without_reason(mut self) -> Self {
        let is_reason = |at: &usize| {
            let (wish, reason) = self.words.split_at(*at);
            let has = |list: fn(&'static MusicTalk) -> List| reason.iter().any(|it| is(list, it));
            let may_stand = |word: &&str| {
                let lists: [fn(&'static MusicTalk) -> List; 4] = [
                    |it| it.listener.reasons,
                    |it| it.listener.hearing,
                    |it| it.listener.little,
                    |it| it.listener.beside_reason,
                ];
                is_negation(word) || self.names(word) || lists.iter().any(|list| is(list, word))
            };
            let hears_little =
                has(|it| it.listener.little) || reason.iter().any(|it| is_negation(it));
            // "louder, I can't hear" may be said to an NPC.
            let is_about_music = wish.iter().any(|it| is(|list| list.softer, it))
                || reason.iter().any(|it| self.names(it));
            reason.first().is_some_and(|it| is(|list| list.listener.reasons, it))
                && has(|it| it.listener.hearing)
                && hears_little
                && is_about_music
                && reason.iter().all(may_stand)
        };
        let end = (1..self.words.len()).find(is_reason);
        self.words.truncate(end.unwrap_or(self.words.len()));
        self
    }

    /// "those drums are giving me a headache"
    fn is_painful(&self) -> bool {
        let may_stand = |word: &&str| {
            let lists: [fn(&'static MusicTalk) -> List; 4] = [
                |it| it.listener.pains,
                |it| it.listener.hurting,
                |it| it.listener.beside_pain,
                |it| it.beside,
            ];
            self.names(word) || lists.iter().any(|list| is(list, word))
        };
        let hurts = self.has(|it| it.listener.hurting) && self.has(|it| it.listener.hurt);
        let is_other = |word: &&str| is_turning(|it| it.listeners, word);
        self.sounds()
            && self.names_music()
            && (hurts || self.has(|it| it.listener.pains))
            && !self.words.first().is_some_and(|word| is(|it| it.asking, word))
            && !self.words.iter().any(is_other)
            && self.words.iter().all(may_stand)
    }

    /// The words in capitals behind a verb of playing that asks: "can you play Stairway to Heaven".
    fn title_in_capitals<'t>(&self, text: &'t str, words: &Words) -> Option<&'t str> {
        let is_verb = |word: &str| is(|it| it.performing, word);
        let asks = |word: &&str| is(|it| it.beside, word) && !is_turning(|it| it.doers, word);
        let before = self.words.iter().position(|word| is_verb(word))?;
        let mut asking = self.words.iter().take(before);
        if !asking.all(|word| asks(word) && !matches!(*word, "let" | "lets")) {
            return None;
        }
        let verb = words.iter().position(is_verb)?;
        title_behind(text, words, verb)
    }

    /// The game master's own track whose title follows a word for playing.
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

    /// The track that fits the mood said with a change of track: "change the music, something calm by the fire".
    fn changed_to(&self) -> Option<Arc<Track>> {
        let spoiling: [fn(&'static MusicTalk) -> List; 3] =
            [|it| it.stop, |it| it.weary, |it| it.excess];
        let is_spoilt = self.words.first().is_some_and(|word| is(|it| it.asking, word))
            || self.words.iter().any(|word| is_negation(word))
            || spoiling.into_iter().any(|list| self.has(list));
        let is_towards = || self.has(|it| it.choosing) || self.words.contains(&"to");
        let is_change = match () {
            () if is_spoilt || !self.has(|it| it.next) => false,
            () if self.names_music() => self.sounds() || self.has(|it| it.changing),
            () if !self.sounds() => false,
            () => self.has(|it| it.performing) || self.has(|it| it.changing) && is_towards(),
        };
        let may_stand =
            |word: &&str| self.is_known(word) || is(|it| it.choosing, word) || is_mood(word);
        if !is_change || !self.words.iter().all(may_stand) {
            return None;
        }
        let moods: Vec<&str> = self.words.iter().copied().filter(|word| is_mood(word)).collect();
        let found = self.context.library.find(&moods.join(" "));
        found.into_iter().find(|track| !self.context.playing.contains(&track.title))
    }

    /// True if a track called `title` is requested and no track has a similar title.
    fn is_missing(&self, title: &str) -> bool {
        let title = Words::of(title);
        let is_titled = |track: &Arc<Track>| {
            let own = Words::of(&track.title);
            let mut own = own.iter().filter(|own| own.len() >= TITLE_WORD_MIN);
            own.any(|own| title.iter().any(|word| moods::stem(word) == moods::stem(own)))
        };
        // "a song Bartok likes", "the song I like"
        let is_own = title
            .get(0)
            .is_some_and(|first| self.words.contains(&first) && !is_turning(|it| it.doers, first));
        let is_denied = |word: &&str| is_negation(word) && !title.iter().any(|it| it == *word);
        is_own
            && !title.iter().all(|word| self.is_known(word))
            && !self.words.first().is_some_and(|word| is(|it| it.asking, word))
            && !self.words.iter().any(is_denied)
            && (title.len() > DESCRIPTION_MAX || !title.iter().any(is_mood))
            && !title.iter().any(|word| GAMES.contains(&word))
            && !self.context.library.tracks.iter().any(is_titled)
    }

    /// True if something plays.
    fn sounds(&self) -> bool {
        !self.context.playing.is_empty()
    }

    /// True if a word may stand in a wish.
    fn is_known(&self, word: &str) -> bool {
        let lists: [fn(&'static MusicTalk) -> List; 13] = [
            |it| it.excess,
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
            |it| it.weary,
            |it| it.beside,
        ];
        is_negation(word) || self.names(word) || lists.iter().any(|list| is(list, word))
    }

    /// True if a word names music, or a sound that is playing.
    fn names(&self, word: &str) -> bool {
        is(|it| it.nouns, word) || self.context.playing.iter().any(|title| is_head(word, title))
    }

    fn names_music(&self) -> bool {
        self.words.iter().any(|word| self.names(word))
    }

    fn has(&self, list: fn(&'static MusicTalk) -> List) -> bool {
        self.words.iter().any(|word| is(list, word))
    }

    /// "that is too loud for me", not "you are too loud"
    fn complains_of_sound(&self) -> bool {
        let is_other = |word: &&str| {
            is_negation(word)
                || matches!(*word, "am" | "im" | "bin")
                || is_turning(|it| it.listeners, word)
        };
        let excess = self.words.iter().position(|word| is(|it| it.excess, word));
        let loud = self.words.iter().position(|word| is(|it| it.loud, word));
        excess.is_some_and(|excess| loud.is_some_and(|loud| excess < loud))
            && self.has(|it| it.meant)
            && !self.words.iter().any(is_other)
    }

    /// "we don't need the music any more"
    fn is_unneeded(&self) -> bool {
        let changes: [fn(&'static MusicTalk) -> List; 4] =
            [|it| it.softer, |it| it.louder, |it| it.next, |it| it.stop];
        let asks = self.words.iter().any(|word| is_turning(|it| it.listeners, word));
        self.has(|it| it.needing) && !asks && !changes.into_iter().any(|list| self.has(list))
    }

    fn wishes(&self) -> Vec<MusicWish> {
        let (names_music, sounds) = (self.names_music(), !self.context.playing.is_empty());
        if self.words.first().is_some_and(|word| is(|it| it.asking, word)) {
            let asks = names_music || sounds && self.has(|it| it.running);
            return if asks { vec![MusicWish::Name] } else { Vec::new() };
        }
        // "play something else"
        let is_other = sounds && self.has(|it| it.performing) && self.has(|it| it.next);
        // "skip this one"
        let is_skipped =
            sounds && self.has(|it| it.listener.skipping) && self.has(|it| it.listener.pointing);
        let is_meant = self.has(|it| it.alone)
            || self.has(|it| it.turning)
            || is_other
            || is_skipped
            || self.complains_of_sound();
        if !(names_music || sounds && is_meant) {
            return Vec::new();
        }
        let negated = self.words.iter().any(|word| is_negation(word) && !is(|it| it.stop, word));
        match (negated || self.has(|it| it.excess), self.has(|it| it.loud)) {
            (true, true) => return vec![MusicWish::Softer],
            (true, false) if self.has(|it| it.soft) => return vec![MusicWish::Louder],
            _ if negated && names_music && self.has(|it| it.play) => return vec![MusicWish::Stop],
            _ if negated && names_music && self.is_unneeded() => return vec![MusicWish::Stop],
            _ if negated => return Vec::new(),
            _ => {}
        }
        if is_skipped {
            return vec![MusicWish::Next];
        }
        let mut wishes = Vec::new();
        let found = self.words.iter().filter_map(|word| wish_of(word, names_music || is_other));
        for wish in found {
            if !wishes.contains(&wish) {
                wishes.push(wish);
            }
        }
        // "Enough of this song, play another."
        if wishes.contains(&MusicWish::Next) {
            wishes.retain(|wish| *wish != MusicWish::Stop);
        }
        wishes
    }
}

fn wish_of(word: &str, names_music: bool) -> Option<MusicWish> {
    match () {
        () if is(|it| it.softer, word) => Some(MusicWish::Softer),
        () if is(|it| it.louder, word) => Some(MusicWish::Louder),
        () if names_music && is(|it| it.next, word) => Some(MusicWish::Next),
        () if names_music && is(|it| it.stop, word) => Some(MusicWish::Stop),
        () => None,
    }
}

/// True if `word` means a mood, and is not about how loud it is.
fn is_mood(word: &str) -> bool {
    let is_level = is(|it| it.softer, word) || is(|it| it.soft, word) || is(|it| it.stop, word);
    moods::mask(word) != 0 && !is_level
}

/// True if `word` means what the last word of a title names: "drums" and "Trommeln" of "Battle drums".
fn is_head(word: &str, title: &str) -> bool {
    let title = Words::of(title);
    let Some(head) = title.iter().last() else { return false };
    let (first, second) = moods::parts(word);
    let meant = if second == 0 { first } else { second };
    // "getrommelt"
    let participle = word.strip_prefix("ge").and_then(|it| it.strip_suffix('t'));
    let meant = meant | participle.map_or(0, moods::mask);
    word == head || moods::stem(word) == moods::stem(head) || meant & moods::mask(head) != 0
}

/// True if a list of any language's words about music has `word`.
fn is(list: impl Fn(&'static MusicTalk) -> List, word: &str) -> bool {
    is_any(|language| list(language.music), word)
}

#[cfg(test)]
mod tests;
