//! An evening at the shipped table, played as one session by the real program and judged line by line by
//! what was written down beforehand: `tests/data/evening.txt`.
//!
//! Run with `--nocapture` to read the figures and what was missed.

mod judging;
mod language;

use std::time::Duration;

use crate::support::program::{Place, Ran, shipped};
use judging::{Answer, Evening, Judgement};

/// Least lines of 60 that are right.
const LEAST_RIGHT: usize = 57;
/// Least answers whose first words are timed; 39 lines have an answer.
const LEAST_ANSWERS: usize = 36;
/// Most answers whose first words come after [`IN_TIME`].
const MOST_LATE: usize = 3;
/// Longest wait for the first words of an answer. The voice comes on top, which on a busy machine says
/// more about the machine.
const IN_TIME: Duration = Duration::from_secs(2);
/// The game master of the evening.
const GAME_MASTER: &str = "Max";

/// A run of the program in the session.
struct Stretch<'t> {
    /// Speaker who types; `None`: each line has its speaker.
    typist: Option<&'t str>,
    rows: Vec<Row<'t>>,
}

/// A line of the evening.
struct Row<'t> {
    speaker: &'t str,
    said: &'t str,
    judgement: Judgement<'t>,
}

fn read(text: &str) -> Vec<Stretch<'_>> {
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(who) = line.strip_prefix("==") {
            let typist = Some(who.trim()).filter(|who| *who != "table");
            stretches.push(Stretch { typist, rows: Vec::new() });
            continue;
        }
        let mut cells = line.splitn(4, '|').map(str::trim);
        let mut cell = || cells.next().unwrap_or_else(|| panic!("a cell is missing: {line}"));
        let judgement = Judgement::read(cell(), cell(), cell());
        let said = cell();
        let stretch = stretches.last_mut().expect("a stretch begins with ==");
        let (speaker, said) = match stretch.typist {
            Some(typist) => (typist, said),
            None => said.split_once(": ").expect("a speaker"),
        };
        stretch.rows.push(Row { speaker, said, judgement });
    }
    stretches
}

impl Stretch<'_> {
    fn play(&self, place: &Place) -> Ran {
        let mut arguments = vec!["ask", "--json", "--session", "evening"];
        if let Some(typist) = self.typist {
            arguments.extend(["--speaker", typist]);
            arguments.extend((typist == GAME_MASTER).then_some("--as-dm"));
            let typed: Vec<&str> = self.rows.iter().map(|row| row.said).collect();
            return place.run_typing(&arguments, &typed.join("\n"));
        }
        for row in &self.rows {
            arguments.extend(["--speaker", row.speaker]);
            arguments.extend((row.speaker == GAME_MASTER).then_some("--as-dm"));
            arguments.extend(["--text", row.said]);
        }
        place.run(&arguments)
    }
}

/// Plays the whole evening; how it went, the number of its lines, and those that were missed.
fn play() -> (Evening, usize, Vec<String>) {
    let place = Place::new().brief();
    let text = shipped("tests/data/evening.txt");
    let (mut evening, mut count, mut missed) = (Evening::default(), 0, Vec::new());
    for stretch in read(&text) {
        let ran = stretch.play(&place);
        assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
        let mut answers = Answer::all(&ran);
        for row in &stretch.rows {
            count += 1;
            let answer = answers.of(row.said, &row.judgement);
            let faults = evening.judge(row.speaker, &row.judgement, &answer);
            if !faults.is_empty() {
                missed.push(format!(
                    "{count}: {} said {:?}; {answer}: {}",
                    row.speaker,
                    row.said,
                    faults.join(", ")
                ));
            }
        }
    }
    (evening, count, missed)
}

#[test]
fn evening_at_shipped_table_is_answered_right() {
    let (evening, count, missed) = play();
    let right = count - missed.len();
    println!("{right} of {count} right; missed:\n{}", missed.join("\n"));
    let [first_words, first_sound] = [&evening.first_words, &evening.first_sound].map(|all| {
        let longest = all.iter().max().copied().unwrap_or(Duration::ZERO);
        format!("{} answers, the longest {:.0} ms", all.len(), longest.as_secs_f64() * 1e3)
    });
    println!("until the first words: {first_words}; until the first sound: {first_sound}");
    assert!(count == 60 && right >= LEAST_RIGHT, "{right} of {count}:\n{}", missed.join("\n"));
}

#[test]
fn evening_at_shipped_table_is_in_time() {
    let (evening, ..) = play();
    let all = &evening.first_words;
    let late = all.iter().filter(|it| **it > IN_TIME).count();
    assert!(all.len() >= LEAST_ANSWERS && late <= MOST_LATE, "{late} late: {all:?}");
}
