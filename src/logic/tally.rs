//! Judges tables of utterances by what should come of them, in tests.
//!
//! Entry type: [`Figures`]. **Never**: part of the program.

use std::collections::BTreeSet;

/// The set that nothing was changed for: its figures are printed, and hold for nothing else.
pub const UNSEEN: &str = "unseen";
/// A set of fewer rows is only counted with its language: one of them would be too much of 100.
const LEAST_ROWS: usize = 50;
/// Least that is right, and most that nobody wanted, in 100.
const LEAST_RIGHT: f64 = 95.0;
const MOST_UNWANTED: f64 = 2.0;

/// Judgement of a row.
#[derive(Clone, Copy)]
pub struct Judged {
    /// It came out as it should.
    pub is_right: bool,
    /// Something was done that nobody wanted.
    pub is_unwanted: bool,
    /// Nothing was to be done.
    pub is_for_nobody: bool,
}

/// Judgements of the rows of several sets in several languages.
pub struct Figures {
    /// Name of the case in which something was done that nobody wanted.
    unwanted: &'static str,
    /// Name of the case in which something was done where nothing was to be.
    for_nobody: &'static str,
    rows: Vec<(&'static str, &'static str, Judged)>,
}

/// Condition of the rows that a figure counts.
type Counted = fn(&Judged) -> bool;

impl Figures {
    /// Nothing is judged yet. `unwanted` says what was done that nobody wanted, `for_nobody` in which
    /// rows anything would be.
    pub const fn new(unwanted: &'static str, for_nobody: &'static str) -> Self {
        Self { unwanted, for_nobody, rows: Vec::new() }
    }

    /// One more row of a set.
    pub fn add(&mut self, set: &'static str, language: &'static str, judged: Judged) {
        self.rows.push((set, language, judged));
    }

    /// Prints the figures of each set, each language, each language of a set, and all.
    pub fn print(&self) {
        for set in self.sets() {
            self.print_one(set, &self.of(|it| it.0 == set));
            for language in self.languages() {
                let rows = self.of(|it| (it.0, it.1) == (set, language));
                self.print_one(&format!("{set}, {language}"), &rows);
            }
        }
        for language in self.languages() {
            self.print_one(language, &self.of(|it| it.1 == language));
        }
        self.print_one("all", &self.of(|_| true));
    }

    /// Each language has at least so many rows. Of 100 of each set and of each language at least 95 are
    /// right and less than 2 did what nobody wanted; so it is with a language's rows in which anything
    /// would have been wrong.
    #[track_caller]
    pub fn hold(&self, least: usize) {
        for set in self.sets().into_iter().filter(|set| *set != UNSEEN) {
            let rows = self.of(|it| it.0 == set);
            if rows.len() >= LEAST_ROWS {
                self.holds_for(set, &rows);
            }
        }
        for language in self.languages() {
            let rows = self.of(|it| it.1 == language && it.0 != UNSEEN);
            assert!(rows.len() >= least, "{language}: {} rows", rows.len());
            self.holds_for(language, &rows);
            let idle: Vec<Judged> = rows.into_iter().filter(|it| it.is_for_nobody).collect();
            let roused = percent(&idle, |it| it.is_unwanted);
            assert!(roused < MOST_UNWANTED, "{language}, {}: {roused:.1} %", self.for_nobody);
        }
    }

    #[track_caller]
    fn holds_for(&self, name: &str, rows: &[Judged]) {
        let right = percent(rows, |it| it.is_right);
        assert!(right >= LEAST_RIGHT, "{name}: {right:.1} % right");
        let unwanted = percent(rows, |it| it.is_unwanted);
        assert!(unwanted < MOST_UNWANTED, "{name}: {unwanted:.1} % {}", self.unwanted);
    }

    fn print_one(&self, name: &str, rows: &[Judged]) {
        let idle: Vec<Judged> = rows.iter().filter(|it| it.is_for_nobody).copied().collect();
        let says = |rows: &[Judged], counted: Counted| {
            format!("{} ({:.1} %)", count(rows, counted), percent(rows, counted))
        };
        if rows.is_empty() {
            return;
        }
        println!(
            "{name}: {} utterances, {} right, {} {}; {} of the {} {}",
            rows.len(),
            says(rows, |it| it.is_right),
            says(rows, |it| it.is_unwanted),
            self.unwanted,
            says(&idle, |it| it.is_unwanted),
            idle.len(),
            self.for_nobody,
        );
    }

    fn of(&self, is_of: impl Fn(&(&str, &str, Judged)) -> bool) -> Vec<Judged> {
        self.rows.iter().filter(|row| is_of(row)).map(|row| row.2).collect()
    }

    fn sets(&self) -> Vec<&'static str> {
        let mut sets: Vec<&str> = self.rows.iter().map(|row| row.0).collect();
        sets.dedup();
        sets
    }

    fn languages(&self) -> BTreeSet<&'static str> {
        self.rows.iter().map(|row| row.1).collect()
    }
}

fn count(rows: &[Judged], counted: Counted) -> usize {
    rows.iter().filter(|row| counted(row)).count()
}

/// Percentage of the rows that are counted.
fn percent(rows: &[Judged], counted: Counted) -> f64 {
    100.0 * count(rows, counted) as f64 / rows.len().max(1) as f64
}
