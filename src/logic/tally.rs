//! Scores tables of utterances in tests.
//!
//! Entry type: [`Figures`].

use std::collections::BTreeSet;

/// The set that nothing was tuned for: its figures are printed but not checked.
pub const UNSEEN: &str = "unseen";
/// Smaller sets count only toward their language: one row would be more than 1 %.
const LEAST_ROWS: usize = 50;
/// Least percentage right, and most percentage unwanted.
const LEAST_RIGHT: f64 = 95.0;
const MOST_UNWANTED: f64 = 2.0;

#[derive(Clone, Copy)]
pub struct Judged {
    pub is_right: bool,
    pub is_unwanted: bool,
    pub is_for_nobody: bool,
}

pub struct Figures {
    unwanted: &'static str,
    for_nobody: &'static str,
    rows: Vec<(&'static str, &'static str, Judged)>,
}

type Counted = fn(&Judged) -> bool;

impl Figures {
    pub const fn new(unwanted: &'static str, for_nobody: &'static str) -> Self {
        Self { unwanted, for_nobody, rows: Vec::new() }
    }

    pub fn add(&mut self, set: &'static str, language: &'static str, judged: Judged) {
        self.rows.push((set, language, judged));
    }

    /// Prints the figures by set, language, both, and in total.
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

    /// Asserts at least `least` rows for each language. Of each set and each language, at least 95
    /// % must be right and less than 2 % unwanted; the latter also of a language's rows without an
    /// expected action.
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

fn percent(rows: &[Judged], counted: Counted) -> f64 {
    100.0 * count(rows, counted) as f64 / rows.len().max(1) as f64
}
