//! Recognition scores of one voice.

use std::time::Duration;

use glyphoxa::measure::{Glossary, dice_in};

use crate::{
    mistakes::mistakes,
    said::said,
    sets::{NAMES, Sentence},
};

/// Some of all.
#[derive(Default)]
pub struct Share {
    right: usize,
    all: usize,
}

/// Counts of how well the speech of one voice was understood.
#[derive(Default)]
pub struct Score {
    words: usize,
    wrong: usize,
    /// Of the text with names put right.
    still_wrong: usize,
    names: Share,
    put_right: Share,
    dice: Share,
    made_up: usize,
    utterances: u32,
    cpu: Duration,
}

impl Share {
    fn add(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.all += 1;
    }

    fn figure(&self) -> String {
        format!("\"{}/{}\"", self.right, self.all)
    }
}

impl Score {
    /// Counts what was said and what was `heard`; `names` are those a table knows.
    pub fn add(&mut self, sentence: Sentence, heard: &str, names: &Glossary) {
        let right = names.correct(heard).text;
        let [said_words, heard_words, right_words] = [sentence.said, heard, &right].map(said);
        let wrong = mistakes(&said_words, &heard_words);
        let still_wrong = mistakes(&said_words, &right_words);
        self.words += said_words.len();
        self.wrong += wrong;
        self.still_wrong += still_wrong;
        let has = |words: &[String], name: &str| {
            words.iter().any(|it| it.strip_suffix('s').unwrap_or(it) == name || it == name)
        };
        for name in NAMES.iter().map(|name| said(name).concat()) {
            if has(&said_words, &name) {
                self.names.add(has(&heard_words, &name));
                self.put_right.add(has(&right_words, &name));
            }
        }
        let wanted = sentence.dice.map(str::to_owned).or_else(|| dice_in(sentence.said));
        let found = dice_in(&right);
        let is_roll_right = found == wanted;
        match (wanted, found) {
            (Some(_), _) => self.dice.add(is_roll_right),
            (None, Some(_)) => self.made_up += 1,
            (None, None) => {}
        }
        if wrong > 0 || !is_roll_right {
            let dice = if is_roll_right { "" } else { " | dice" };
            eprintln!("{wrong} {still_wrong} {} | {heard}{dice}", sentence.said);
        }
    }

    /// Adds the time that hearing `utterances` took.
    pub fn took(&mut self, cpu: Duration, utterances: usize) {
        self.cpu += cpu;
        self.utterances += u32::try_from(utterances).unwrap_or(u32::MAX);
    }

    /// Adds up.
    pub fn and(mut self, other: &Self) -> Self {
        let sum = |a: &mut Share, b: &Share| (a.right, a.all) = (a.right + b.right, a.all + b.all);
        self.words += other.words;
        self.wrong += other.wrong;
        self.still_wrong += other.still_wrong;
        self.made_up += other.made_up;
        self.utterances += other.utterances;
        self.cpu += other.cpu;
        sum(&mut self.names, &other.names);
        sum(&mut self.put_right, &other.put_right);
        sum(&mut self.dice, &other.dice);
        self
    }

    /// The figures as fields of JSON.
    pub fn figures(&self) -> String {
        let percent = |wrong: usize| 100.0 * wrong as f32 / self.words.max(1) as f32;
        format!(
            "\"words\":{},\"wrong_percent\":{:.1},\"wrong_put_right_percent\":{:.1},\"names\":{},\
             \"names_put_right\":{},\"dice\":{},\"dice_made_up\":{},\"cpu_s_mean\":{:.2}",
            self.words,
            percent(self.wrong),
            percent(self.still_wrong),
            self.names.figure(),
            self.put_right.figure(),
            self.dice.figure(),
            self.made_up,
            (self.cpu / self.utterances.max(1)).as_secs_f32()
        )
    }
}
