//! English words of wishes about music.

use super::super::lists::MusicTalk;

#[rustfmt::skip]
pub(super) static MUSIC: MusicTalk = MusicTalk {
    nouns: &["music", "song", "songs", "track", "tracks", "tune", "tunes", "melody", "ambience"],
    softer: &["softer", "quieter", "down", "lower", "softly", "quietly"],
    louder: &["louder", "up"],
    alone: &["softer", "quieter", "louder"],
    turning: &["turn"],
    loud: &["loud"],
    soft: &["quiet", "soft", "low"],
    next: &["next", "another", "different", "change", "skip", "switch", "other", "else"],
    stop: &["stop", "off", "silence", "enough", "end", "no", "away", "kill", "cut", "pause", "rid"],
    play: &["play", "start", "put"],
    performing: &["play"],
    weary: &["tired", "sick", "bored", "fed", "had"],
    asking: &["what", "which", "whats"],
    running: &["playing"],
    excess: &["too"],
    meant: &["it", "its", "that", "thats", "this"],
    changing: &["change", "switch"],
    choosing: &[
        "something", "anything", "sounds", "sound", "by", "at", "from", "around", "near", "fit", "fits", "fitting",
        "like", "mood", "more",
    ],
    needing: &["need", "want"],
    apart: &["and", "then", "also", "but"],
    beside: &[
        "turn", "make", "set", "bring", "put", "keep", "play", "the", "a", "bit", "little", "please", "can",
        "could", "would", "will", "you", "it", "its", "that", "this", "to", "us", "me", "we", "i", "want", "id",
        "like", "have", "for", "lets", "let", "go", "now", "again", "some", "of", "just", "hey", "ok", "okay",
        "and", "then", "volume", "on", "more", "much", "so", "is", "are", "may", "need", "do", "here", "one",
        "background", "our", "called", "name", "right", "thanks", "be", "slightly", "hear", "im", "ive", "were",
        "weve", "getting", "got", "something", "with", "all", "really", "well", "think", "sorry", "about",
        "way", "far", "in", "get", "take", "must", "should", "any", "anymore",
    ],
};
