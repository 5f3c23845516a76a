//! The command line.

use std::error::Error;
use std::path::PathBuf;

use whisper_thin::Window;

pub const USAGE: &str = "\
error_rate speak  WAVS                 says the sentences in flite's voices, into a folder
error_rate hear   WAVS  --model DIR    hears every NAME.wav that has a NAME.txt
error_rate quiet        --model DIR    hears sounds without speech
error_rate time   WAV   --model DIR    2, 5 and 10 s of a recording, 15 times each
  --prompt TEXT  --language CODE  --threads N  --window full|thin:MARGIN:STEP
  --fallback LOGPROB  --noise DECIBELS  --pieces SECONDS  --show";

#[derive(Default)]
pub struct Args {
    pub command: String,
    pub folder: PathBuf,
    pub model: PathBuf,
    pub prompt: String,
    pub language: Option<String>,
    pub threads: usize,
    pub window: Window,
    pub fallback: Option<f32>,
    pub noise: Option<f32>,
    pub pieces: Option<usize>,
    pub show: bool,
}

pub fn read() -> Result<Args, Box<dyn Error>> {
    let mut args = Args { threads: 1, ..Args::default() };
    let mut given = std::env::args().skip(1);
    let mut plain = Vec::new();
    while let Some(word) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text:?} is no number"));
        match word.as_str() {
            "--model" => args.model = value()?.into(),
            "--prompt" => args.prompt = value()?,
            "--language" => args.language = Some(value()?),
            "--threads" => args.threads = value()?.parse().map_err(|_| "threads are a number")?,
            "--window" => args.window = window(&value()?)?,
            "--fallback" => args.fallback = Some(number(value()?)?),
            "--noise" => args.noise = Some(number(value()?)?),
            "--pieces" => args.pieces = Some(value()?.parse().map_err(|_| "seconds are a number")?),
            "--show" => args.show = true,
            _ => plain.push(word),
        }
    }
    let mut plain = plain.into_iter();
    args.command = plain.next().ok_or(USAGE)?;
    args.folder = plain.next().unwrap_or_default().into();
    Ok(args)
}

/// `full` or `thin:MARGIN:STEP`.
fn window(text: &str) -> Result<Window, Box<dyn Error>> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is no number"));
    match parts[..] {
        ["full"] => Ok(Window::Full),
        ["thin", margin, step] => Ok(Window::Thin { margin: number(margin)?, step: number(step)? }),
        _ => Err(format!("no window {text:?}: full or thin:MARGIN:STEP").into()),
    }
}
