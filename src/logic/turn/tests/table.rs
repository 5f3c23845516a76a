//! Quality of turn ends by words: how long finished speakers wait, and how many are cut off in a
//! pause, compared with a fixed patience at the same pauses.
//!
//! The utterances are `tests/data/turns_*.txt`. Pause lengths are drawn, seeded, from a log-normal
//! distribution, as pauses of spontaneous speech are distributed (Campione and Véronis 2002). It is
//! fitted to the two figures that eot-bench, recorded conversations in 14 languages, published for
//! silence alone: 10 % of pauses are longer than 1.0 s, 5 % longer than 1.6 s. The length does not
//! depend on the words, although people pause longer after an "um"; that favours the fixed
//! patience. Run with `--nocapture` to read the table.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::super::*;
use crate::logic::command::{NpcNames, tests_npc};

const SETS: [(&str, &str); 2] = [
    ("tuning", include_str!("../../../../tests/data/turns_tuning.txt")),
    ("held out", include_str!("../../../../tests/data/turns_held_out.txt")),
];
/// Mean and deviation of the logarithm of a pause in seconds.
const PAUSES: (f64, f64) = (-1.658, 1.294);
/// Pauses drawn for each pause of the set and each phase.
const DRAWS: usize = 50;

/// Milliseconds Whisper needs for the words of a pause, measured by the bench `hearing` on two busy
/// cores (`benches/README.md`, less 200 ms of silence): 148 at p50 and 186 at p95 for one speaker,
/// 181 to 193 and 270 to 280 for three or five at once.
const TAKES: [u64; 3] = [148, 230, 280];
/// Milliseconds of silence after which Whisper is asked, in a quiet pause.
const NOTICED: u64 = 150;
/// Fewest milliseconds between two partials.
const EVERY: u64 = 400;
/// Phases of the last partial relative to the end, evenly spaced.
const PHASES: u64 = 8;

/// How a recogniser writes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Writing {
    /// Lower case without punctuation.
    Plain,
    /// A full stop at the end of every text: the worst of those that punctuate.
    Stops,
}

impl Writing {
    fn gives(self, said: &str) -> String {
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        match self {
            Self::Plain => said.to_lowercase().replace(['.', ',', '!', '?'], ""),
            Self::Stops if said.is_empty() || said.ends_with(['?', '!', '.']) => said,
            Self::Stops => format!("{}.", said.trim_end_matches(',')),
        }
    }
}

/// Words until a pause or the end. Each text is written and read once for all phases, which takes
/// longest.
struct Utterance {
    /// End of each word, in milliseconds relative to the last word's end; none above zero.
    ends: Vec<i64>,
    /// Text of the first n words and its reading, by n.
    texts: Vec<(String, Reading)>,
}

impl Utterance {
    fn of(said: &str, writing: Writing, names: &[NpcNames]) -> Self {
        let words: Vec<&str> = said.split_whitespace().collect();
        // A word takes 100 ms plus 50 ms a letter: 180 to 200 words a minute.
        let end = |at: usize| -> i64 {
            let later = words.iter().skip(at + 1);
            -later.map(|word| 100 + 50 * signed(word.chars().count() as u64)).sum::<i64>()
        };
        let first = |count: usize| {
            let text = writing.gives(&words[..count].join(" "));
            let reading = reads(&text, names);
            (text, reading)
        };
        let ends = (0..words.len()).map(end).collect();
        Self { ends, texts: (0..=words.len()).map(first).collect() }
    }
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap()
}

/// A recogniser's timing.
#[derive(Clone, Copy)]
struct Hearing {
    /// Milliseconds per recognition.
    takes: u64,
    phase: u64,
}

impl Hearing {
    /// The recogniser's texts of `said`, by word count, each with its arrival in milliseconds after
    /// the last word's end. Each partial has the words that were over when it was asked for; the
    /// whole text comes last.
    fn says(self, said: &Utterance) -> Vec<(i64, usize)> {
        let takes = signed(self.takes);
        let every = signed(EVERY.max(2 * self.takes));
        let begins = said.ends.first().copied().unwrap_or_default() - 300;
        // A partial asked for in the pause is dropped for the whole text, unless it arrives first.
        let mut asked = signed(NOTICED) - takes - every * signed(self.phase) / signed(PHASES);
        let mut all = vec![(signed(NOTICED) + takes, said.ends.len())];
        while asked > begins {
            let over = said.ends.iter().take_while(|end| **end <= asked).count();
            if !said.texts[over].0.is_empty() {
                all.push((asked + takes, over));
            }
            asked -= every;
        }
        all.reverse();
        all
    }
}

/// Silence after which the machine ends `said`.
fn wait(ends: EndOfTurn, said: &Utterance, hearing: Hearing) -> Duration {
    let texts = hearing.says(said);
    // Voice from a second before the first text on: more changes nothing.
    let frames = u32::try_from((1_000 - texts[0].0.min(0)) / 20).unwrap();
    let (mut machine, mut now) = (Endpointer::new(ends), Instant::now());
    let last_voiced = now + FRAME * frames;
    let at = |ms: i64| match u64::try_from(ms) {
        Ok(ms) => last_voiced + Duration::from_millis(ms),
        Err(_) => last_voiced - Duration::from_millis(ms.unsigned_abs()),
    };
    let mut texts = texts.into_iter().peekable();
    let mut known = "";
    loop {
        let speaks = now <= last_voiced;
        let due = if speaks { now } else { machine.wake_at().expect("silence ends it") };
        let (then, input) = match texts.next_if(|(ms, _)| at(*ms) < due) {
            Some((ms, count)) => {
                let (text, reading) = (said.texts[count].0.as_str(), said.texts[count].1);
                let (is_new, is_whole) = (text != known, texts.peek().is_none());
                known = text;
                match (is_whole, is_new) {
                    (true, _) => (at(ms), Input::Pause { reading }),
                    (false, true) => (at(ms), Input::Partial { reading, stable_since: at(ms) }),
                    // An unchanged text adds nothing.
                    (false, false) => continue,
                }
            }
            None => (due, if speaks { Input::Frame { voiced: true } } else { Input::Tick }),
        };
        if matches!(input, Input::Frame { .. }) {
            now += FRAME;
        }
        if let Some(Output::Close { .. }) = machine.handle(then, input) {
            return then - last_voiced;
        }
    }
}

/// Results of one way to end turns.
#[derive(Default)]
struct Figures {
    waits: Vec<Duration>,
    pauses: usize,
    cut: usize,
    /// Cut off, and still silent when 250 ms of an immediate answer had been audible.
    answered: usize,
}

impl Figures {
    fn mean(&self) -> f64 {
        let sum: Duration = self.waits.iter().sum();
        sum.as_secs_f64() * 1_000.0 / self.waits.len() as f64
    }

    fn cut(&self) -> f64 {
        100.0 * self.cut as f64 / self.pauses as f64
    }

    fn answered(&self) -> f64 {
        100.0 * self.answered as f64 / self.pauses as f64
    }
}

fn pause(rng: &mut StdRng) -> Duration {
    let (middle, spread) = PAUSES;
    let (u, v): (f64, f64) = (rng.random_range(f64::EPSILON..1.0), rng.random());
    let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    Duration::from_secs_f64((middle + spread * normal).exp())
}

struct Row {
    /// Words until each pause.
    pauses: Vec<Utterance>,
    whole: Utterance,
}

/// Lines of a set in one language.
fn rows(set: &str, language: &str, writing: Writing) -> Vec<Row> {
    let npc = |name: &str| {
        let mut npc = tests_npc();
        npc.name = name.to_owned();
        npc
    };
    let npcs = ["Bartok", "Greymantle", "Mira the Wise"].map(npc);
    let names = NpcNames::of(&npcs);
    let said = |text: &str| Utterance::of(&text.replace('|', ""), writing, &names);
    let row = |row: &str| Row {
        pauses: row.match_indices('|').map(|(at, _)| said(&row[..at])).collect(),
        whole: said(row),
    };
    set.lines().filter_map(|line| line.strip_prefix(language)).map(row).collect()
}

fn figures(rows: &[Row], ends: EndOfTurn, takes: u64) -> Figures {
    let mut rng = StdRng::seed_from_u64(15);
    let mut figures = Figures::default();
    for row in rows {
        for phase in 0..PHASES {
            let hearing = Hearing { takes, phase };
            for said in &row.pauses {
                let wait = wait(ends, said, hearing);
                for _ in 0..DRAWS {
                    let pause = pause(&mut rng);
                    figures.pauses += 1;
                    figures.cut += usize::from(pause > wait);
                    figures.answered += usize::from(pause > wait + Duration::from_millis(250));
                }
            }
            figures.waits.push(wait(ends, &row.whole, hearing));
        }
    }
    figures
}

fn fixed(patience: Patience) -> EndOfTurn {
    EndOfTurn { patience, detector: Detector::Off }
}

fn print(rows: &str, way: &str, it: &Figures) {
    let (mean, cut, answered) = (it.mean(), it.cut(), it.answered());
    println!("{rows:12} {way:18} {mean:7.0} ms  {cut:4.1} %  {answered:4.1} %");
}

#[test]
fn text_beats_500_ms_patience_in_wait_and_cuts() {
    println!("set, language  way             mean wait  cut in  answered over");
    let mut missed = Vec::new();
    for (name, set) in SETS {
        for language in ["en", "de"] {
            let of = format!("{name}, {language}");
            let [plain, stops] = [Writing::Plain, Writing::Stops].map(|it| rows(set, language, it));
            let [_, fixed, _] = [Patience::Snappy, Patience::Normal, Patience::Patient].map(|it| {
                let figures = figures(&plain, fixed(it), 148);
                print(&of, &format!("fixed {}", it.silence().as_millis()), &figures);
                figures
            });
            for (writing, rows, takes) in TAKES
                .into_iter()
                .flat_map(|at| [(Writing::Plain, &plain, at), (Writing::Stops, &stops, at)])
            {
                let text = figures(rows, EndOfTurn::default(), takes);
                let way = format!("text {writing:?} {}", NOTICED + takes);
                print(&of, &way, &text);
                // With three or five speakers at once on two cores, or a recogniser without
                // punctuation, the wait is longer, but still shorter than with silence alone.
                let goal = match (takes, writing) {
                    (148, Writing::Stops) => 400.0,
                    (148 | 230, _) => 420.0,
                    _ => 450.0,
                };
                if text.mean() > goal || text.cut() > fixed.cut() {
                    missed.push(format!("{of} {way}: {:.0} ms, {:.1} %", text.mean(), text.cut()));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}
