//! Inputs with their speakers and times, in the order of the options. Entry function: [`inputs`].

use std::{path::PathBuf, time::Duration};

use clap::{ArgMatches, parser::ValueSource};

use super::super::Failure;
use crate::session::LONGEST_UTTERANCE;

#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub speaker: String,
    pub as_dm: bool,
    /// Start time; `None`: after the previous one.
    pub at: Option<Duration>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A recording; [`STDIN`] means standard input.
    File(PathBuf),
    Text(String),
}

/// Default name of a speaker.
pub const PLAYER: &str = "Player";

/// Argument that names standard input instead of a file.
pub const STDIN: &str = "-";
/// Latest time of an input: a day.
const LATEST: Duration = Duration::from_secs(24 * 3600);

/// Options whose order matters.
enum Piece {
    Speaker(String),
    AsDm,
    At(f64),
    What(What),
}

/// The inputs in order. `--speaker` applies to all that follow, `--at` to the next one; `--as-dm`
/// before any `--speaker` makes everyone the game master, after one only that speaker. Fails on a
/// `--at` with an invalid time or nothing after it.
pub fn inputs(matches: &ArgMatches) -> Result<Vec<Input>, Failure> {
    let mut speaker = PLAYER.to_owned();
    let mut game_masters: Vec<String> = Vec::new();
    let mut all_game_masters = false;
    let mut named = false;
    let mut at = None;
    let mut inputs = Vec::new();
    for piece in in_order(matches) {
        match piece {
            Piece::Speaker(name) => {
                named = true;
                speaker = name;
            }
            Piece::AsDm if named => game_masters.push(speaker.clone()),
            Piece::AsDm => all_game_masters = true,
            Piece::At(seconds) => {
                let time = Duration::try_from_secs_f64(seconds).ok();
                let time = time.filter(|time| *time <= LATEST).ok_or_else(|| {
                    let latest = LATEST.as_secs();
                    Failure::Usage(format!("invalid --at '{seconds}' (use seconds, 0 to {latest})"))
                })?;
                at = Some(time);
            }
            Piece::What(What::Text(text)) if text.len() > LONGEST_UTTERANCE => {
                let (length, most) = (text.len(), LONGEST_UTTERANCE >> 10);
                let why = format!("--text has {length} bytes (use at most {most} KiB)");
                return Err(Failure::Usage(why));
            }
            Piece::What(what) => {
                inputs.push(Input { as_dm: false, speaker: speaker.clone(), at: at.take(), what })
            }
        }
    }
    if at.is_some() {
        return Err(Failure::Usage("--at has no --in or --text (give one after it)".into()));
    }
    for input in &mut inputs {
        input.as_dm = all_game_masters || game_masters.contains(&input.speaker);
    }
    Ok(inputs)
}

fn in_order(matches: &ArgMatches) -> Vec<Piece> {
    let mut pieces: Vec<(usize, Piece)> = Vec::new();
    fn each<T: Clone + Send + Sync + 'static>(
        matches: &ArgMatches,
        id: &str,
        pieces: &mut Vec<(usize, Piece)>,
        piece: impl Fn(T) -> Piece,
    ) {
        let (Some(indices), Some(values)) = (matches.indices_of(id), matches.get_many::<T>(id))
        else {
            return;
        };
        pieces.extend(indices.zip(values.cloned().map(piece)));
    }
    each(matches, "speaker", &mut pieces, Piece::Speaker);
    each(matches, "at", &mut pieces, Piece::At);
    each(matches, "files", &mut pieces, |path| Piece::What(What::File(path)));
    each(matches, "texts", &mut pieces, |text| Piece::What(What::Text(text)));
    if matches.value_source("as_dm") == Some(ValueSource::CommandLine) {
        pieces
            .extend(matches.indices_of("as_dm").into_iter().flatten().map(|at| (at, Piece::AsDm)));
    }
    pieces.sort_by_key(|(index, _)| *index);
    pieces.into_iter().map(|(_, piece)| piece).collect()
}
