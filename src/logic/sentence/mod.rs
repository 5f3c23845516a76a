//! Splits a model's text deltas into sentences, each as early as it is certain.
//!
//! Entry type: [`SentenceSplitter`]. A sentence with clear final punctuation leaves with the delta
//! that brings it. Abbreviations, initials, numbers, ellipses and punctuation inside an open quote,
//! bracket or emphasis wait for the next delta. The sentences do not depend on how the text is cut
//! into deltas, unless a cut separates punctuation from a character directly after it.
//! **Never**: loses or changes a character other than white space around a sentence.

mod stop;

use stop::{Kind, Verdict, verdict};

/// How to split text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceOptions {
    /// ISO 639-1 code ("en"); German dates keep their ordinals.
    pub language: String,
    /// Length in characters from which the first chunk may end at a clause.
    pub long_chunk: usize,
}

impl Default for SentenceOptions {
    fn default() -> Self {
        Self { language: "en".to_owned(), long_chunk: 80 }
    }
}

/// Shortest first chunk that may end at a clause, in characters.
const SHORTEST_CLAUSE: usize = 25;

/// Longest piece of a delta processed at once, in bytes: each sentence moves the text after it.
const PIECE: usize = 1 << 10;
/// Bytes considered before and after punctuation; beyond them, undecided punctuation ends nothing.
const AROUND: usize = 512;

/// True if `chunk` is only the beginning of a sentence.
pub fn is_clause(chunk: &str) -> bool {
    chunk.trim_end().ends_with(is_clause_mark)
}

/// Most sentences that `text` can have, which is found out faster than how many it has.
pub fn sentences_at_most(text: &str) -> usize {
    let ends = |c: &char| stop::is_terminator(*c) || matches!(c, '\n' | '\r');
    text.chars().filter(ends).count() + 1
}

/// Collects deltas and returns sentences.
#[derive(Clone, Debug)]
pub struct SentenceSplitter {
    german: bool,
    long_chunk: usize,
    text: String,
    /// Bytes of `text` already decided.
    scan: usize,
    /// Characters already decided, without leading white space.
    count: usize,
    /// The decided part has a letter or digit.
    voiced: bool,
    open: Open,
    /// The last place where a long first chunk may end, and what is open there.
    clause: Option<(usize, Open)>,
    started: bool,
    #[cfg(test)]
    work: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Open {
    quote: Option<char>,
    brackets: usize,
    stars: usize,
}

impl Open {
    fn any(self) -> bool {
        self != Self::default()
    }

    fn note(&mut self, c: char) {
        match c {
            '(' | '[' => self.brackets += 1,
            ')' | ']' => self.brackets = self.brackets.saturating_sub(1),
            '"' | '“' | '”' | '„' | '«' | '»' => {
                let closes = self.quote.is_some() && c != '„';
                self.quote = (!closes && c != '”').then_some(c);
            }
            _ => {}
        }
    }
}

enum Step {
    /// A sentence ends before this byte.
    End(usize),
    /// No sentence ends before this byte; continue there.
    Go(usize),
    Wait,
}

impl SentenceSplitter {
    /// An empty splitter.
    pub fn new(options: &SentenceOptions) -> Self {
        Self {
            german: options.language.starts_with("de"),
            long_chunk: options.long_chunk,
            text: String::new(),
            scan: 0,
            count: 0,
            voiced: false,
            open: Open::default(),
            clause: None,
            started: false,
            #[cfg(test)]
            work: 0,
        }
    }

    /// Takes a delta; returns the sentences it completes, trimmed.
    pub fn push(&mut self, delta: &str) -> Vec<String> {
        let (mut sentences, mut rest) = (Vec::new(), delta);
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(piece_end(rest));
            self.text.push_str(piece);
            while let Some(end) = self.next_end() {
                sentences.push(self.cut(end));
            }
            rest = behind;
        }
        sentences
    }

    /// Text of the unfinished sentence.
    pub fn left(&self) -> &str {
        &self.text
    }

    /// Returns the rest and restarts.
    pub fn finish(&mut self) -> Option<String> {
        let rest = self.text.trim().to_owned();
        self.text.clear();
        self.restart(Open::default());
        self.started = false;
        (!rest.is_empty()).then_some(rest)
    }

    fn cut(&mut self, end: usize) -> String {
        let rest = self.text.split_off(end);
        #[cfg(test)]
        {
            self.work += rest.len();
        }
        let sentence = std::mem::replace(&mut self.text, rest);
        self.started = true;
        self.restart(self.open);
        sentence.trim().to_owned()
    }

    fn restart(&mut self, open: Open) {
        (self.scan, self.count, self.voiced) = (0, 0, false);
        (self.open, self.clause) = (open, None);
    }

    fn next_end(&mut self) -> Option<usize> {
        loop {
            let c = self.text.get(self.scan..)?.chars().next()?;
            let next = self.scan + c.len_utf8();
            let step = match c {
                '\n' | '\r' => self.line_end(),
                '*' => self.star(next),
                c if stop::is_terminator(c) => self.terminator(),
                c if is_clause_mark(c) => self.clause_mark(c, next),
                c => {
                    self.open.note(c);
                    self.voiced |= c.is_alphanumeric();
                    Step::Go(next)
                }
            };
            match step {
                Step::End(end) if self.voiced => return Some(end),
                Step::End(to) | Step::Go(to) => {
                    if let Some(end) = self.go_on(to.max(next), c) {
                        return Some(end);
                    }
                }
                Step::Wait => return None,
            }
        }
    }

    /// Moves to `to`; returns the end of a first chunk that has become too long, if there is one.
    fn go_on(&mut self, to: usize, c: char) -> Option<usize> {
        if self.count > 0 || !c.is_whitespace() {
            self.count += self.text.get(self.scan..to).map_or(0, |s| s.chars().count());
        }
        self.scan = to;
        if self.started || self.count <= self.long_chunk || !self.voiced {
            return None;
        }
        let (end, open) = self.clause.take()?;
        self.open = open;
        Some(end)
    }

    /// At the end of a line the sentence ends, and everything open is closed.
    fn line_end(&mut self) -> Step {
        self.open = Open::default();
        Step::End(self.scan)
    }

    fn star(&mut self, next: usize) -> Step {
        let Some(follows) = self.text.get(next..).and_then(|rest| rest.chars().next()) else {
            return Step::Wait;
        };
        let before = self.text.get(..self.scan).and_then(|text| text.chars().next_back());
        let after_space = before.is_none_or(|c| !c.is_alphanumeric() && !stop::is_terminator(c));
        if self.open.stars > 0 && (before == Some('*') || !after_space || follows.is_whitespace()) {
            // A run of opening asterisks continues; any other run closes.
            let opening = before == Some('*') && !follows.is_whitespace() && self.count_run() > 0;
            self.open.stars =
                if opening { self.open.stars + 1 } else { self.open.stars.saturating_sub(1) };
        } else if after_space && !follows.is_whitespace() {
            self.open.stars += 1;
        }
        Step::Go(next)
    }

    fn count_run(&self) -> usize {
        let before = self.before();
        let word = before.trim_end_matches('*');
        let opens = word.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        if opens && !word.ends_with(stop::is_terminator) { before.len() - word.len() } else { 0 }
    }

    /// The considered text before the current position.
    fn before(&self) -> &str {
        let start = self.text.ceil_char_boundary(self.scan.saturating_sub(AROUND));
        self.text.get(start..self.scan).unwrap_or_default()
    }

    fn terminator(&mut self) -> Step {
        let rest = self.text.get(self.scan..).unwrap_or_default();
        let is_long = rest.len() > AROUND;
        let rest = &rest[..rest.floor_char_boundary(AROUND)];
        #[cfg(test)]
        {
            self.work += rest.len() + AROUND;
        }
        let run_len = rest.find(|c| !stop::is_terminator(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at_checked(run_len).unwrap_or((rest, ""));
        let mut open = self.open;
        let closed = close(after, &mut open);
        let end = self.scan + run_len + closed.len();
        let before = self.before();
        let mut kind = Kind::of(before, run, self.german);
        if kind == Kind::Clear && closed.ends_with([')', ']']) {
            kind = Kind::Bracketed;
        }
        let follows = rest.get(end - self.scan..).unwrap_or_default();
        match verdict(kind, before, follows, open.any()) {
            Verdict::Wait if !is_long => Step::Wait,
            Verdict::End => {
                self.open = if self.voiced { open } else { self.open };
                Step::End(end)
            }
            Verdict::Go | Verdict::Wait => {
                self.open = open;
                Step::Go(end)
            }
        }
    }

    /// A long first chunk may end after a comma or the like.
    fn clause_mark(&mut self, c: char, next: usize) -> Step {
        if self.started {
            return Step::Go(next);
        }
        let Some(follows) = self.text.get(next..).and_then(|rest| rest.chars().next()) else {
            return Step::Wait;
        };
        if c != '—' && !follows.is_whitespace() {
            return Step::Go(next);
        }
        let count = self.count + 1;
        if count > self.long_chunk {
            return Step::End(next);
        }
        if count >= SHORTEST_CLAUSE {
            self.clause = Some((next, self.open));
        }
        Step::Go(next)
    }
}

/// End of the first piece of a delta, in bytes; before white space if possible, so that punctuation
/// keeps what follows it.
fn piece_end(delta: &str) -> usize {
    if delta.len() <= PIECE {
        return delta.len();
    }
    let most = delta.floor_char_boundary(PIECE);
    let space = delta[..most].rfind(char::is_whitespace).filter(|at| *at > 0);
    space.unwrap_or(most)
}

fn is_clause_mark(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '—' | '–')
}

/// Removes the closing quotes, brackets and asterisks that `after` begins with.
fn close<'t>(after: &'t str, open: &mut Open) -> &'t str {
    let mut end = 0;
    for (at, c) in after.char_indices() {
        let follows = after.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        let closes = match c {
            '"' | '”' | '“' | '«' | '»' | ')' | ']' | '}' => true,
            '’' | '\'' | '_' | '`' => follows.is_none_or(|next| !next.is_alphanumeric()),
            '*' => open.stars > 0,
            _ => false,
        };
        if !closes {
            break;
        }
        match c {
            '*' => open.stars = open.stars.saturating_sub(1),
            '"' | '”' | '“' | '«' | '»' => open.quote = None,
            _ => open.note(c),
        }
        end = at + c.len_utf8();
    }
    after.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests;
