//! Accuracy and speed of a model: `error_rate COMMAND FOLDER [options]`;
//! lists its commands if none is given.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints its figures")]

mod args;
mod sounds;
mod wav;
mod words;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use whisper_thin::{Model, Options, Scratch, Transcript};

use crate::args::{Args, USAGE};

/// CPU time of this process.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A line of this process's status on Linux, such as `VmRSS:`.
fn memory(key: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.unwrap_or("?").trim().to_owned()
}

/// A model with the options of the command line.
struct Ear<'a> {
    model: Model,
    scratch: Scratch,
    options: Options<'a>,
}

impl<'a> Ear<'a> {
    fn new(args: &'a Args) -> Result<Self, Box<dyn Error>> {
        let begin = Instant::now();
        let model = Model::load(&args.model)?;
        println!("loaded in {:.2} s, resident {}", begin.elapsed().as_secs_f64(), memory("VmRSS:"));
        println!("prompt of {} tokens", model.prompt_length(&args.prompt));
        let options = Options {
            prompt: &args.prompt,
            language: args.language.as_deref(),
            threads: args.threads,
            window: args.window,
            fall_back_below: args.fallback,
            ..Options::default()
        };
        Ok(Self { model, scratch: Scratch::new(), options })
    }

    fn hear(&mut self, samples: &[f32]) -> Result<Transcript, Box<dyn Error>> {
        Ok(self.model.transcribe(&mut self.scratch, samples, &self.options, &|| false)?)
    }
}

/// Speaks each sentence in each voice: `NN-VOICE.wav` and `NN-VOICE.txt`.
fn speak(folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {folder:?}: {error}"))?;
    for (number, sentence) in include_str!("sentences.txt").lines().enumerate() {
        for voice in ["slt", "rms", "awb", "kal16"] {
            let path = folder.join(format!("{:02}-{voice}.wav", number + 1));
            let text = words::plain(sentence);
            let said = Command::new("flite")
                .args(["-voice", voice, "-t", &text, "-o"])
                .arg(&path)
                .status();
            if !said.is_ok_and(|status| status.success()) {
                return Err("cannot run flite; install the package of this name".into());
            }
            let text = path.with_extension("txt");
            std::fs::write(&text, sentence)
                .map_err(|error| format!("cannot write {text:?}: {error}"))?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Counts {
    clips: usize,
    words: usize,
    errors: usize,
    names: (usize, usize),
    dice: (usize, usize),
    guarded: usize,
    fell_back: usize,
    doubtful: usize,
    cpu: Duration,
}

impl Counts {
    fn add(&mut self, text: &str, heard: &[String]) -> usize {
        let expected = words::words(&words::plain(text));
        let errors = words::errors(&expected, heard);
        self.words += expected.len();
        self.errors += errors;
        for name in words::marked(text, '{', '}') {
            self.names.0 += usize::from(words::has(heard, name));
            self.names.1 += 1;
        }
        for dice in words::marked(text, '[', ']') {
            self.dice.0 += usize::from(words::has(heard, dice));
            self.dice.1 += 1;
        }
        errors
    }

    fn print(&self, voice: &str) {
        println!(
            "{voice:12} {:3} clips {:4} words  errors {:5.1} %  names {}/{}  dice {}/{}  cut {}  fell back {}  left out {}  cpu {:.3} s a clip",
            self.clips,
            self.words,
            100.0 * self.errors as f64 / self.words.max(1) as f64,
            self.names.0,
            self.names.1,
            self.dice.0,
            self.dice.1,
            self.guarded,
            self.fell_back,
            self.doubtful,
            self.cpu.as_secs_f64() / self.clips.max(1) as f64,
        );
    }
}

fn hear(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut ear = Ear::new(args)?;
    let listed = std::fs::read_dir(&args.folder)
        .map_err(|error| format!("cannot list {:?}: {error}", args.folder))?;
    let mut texts: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
    texts.retain(|path| path.extension().is_some_and(|end| end == "txt"));
    texts.sort();
    let mut voices = std::collections::BTreeMap::<String, Counts>::new();
    let mut quiet = 0.0f32;
    for path in texts {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {path:?}: {error}"))?;
        let mut samples = wav::read(&path.with_extension("wav"))?;
        if let Some(decibels) = args.noise {
            samples = noisy(&samples, decibels);
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let voice = name.split_once('-').map_or(&*name, |(_, voice)| voice);
        let counts = voices.entry(voice.to_owned()).or_default();
        let mut all = String::new();
        for piece in wav::pieces(&samples, args.pieces.unwrap_or(28) * wav::RATE) {
            let begin = cpu();
            let heard = ear.hear(piece)?;
            counts.cpu += cpu() - begin;
            counts.clips += 1;
            counts.guarded += usize::from(heard.cut_by_guard.is_some());
            counts.fell_back += usize::from(heard.fell_back);
            quiet = quiet.max(heard.no_speech);
            if heard.is_doubtful() {
                counts.doubtful += 1;
            } else {
                all = all + " " + &heard.text;
            }
        }
        if counts.add(&text, &words::words(&all)) > 0 && args.show {
            println!("  {name}: {} |{all}", text.trim());
        }
    }
    voices.iter().for_each(|(voice, counts)| counts.print(voice));
    println!(
        "no-speech at most {quiet:.2}; resident {}, most {}",
        memory("VmRSS:"),
        memory("VmHWM:")
    );
    Ok(())
}

fn quiet(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut ear = Ear::new(args)?;
    for (name, samples) in sounds::all() {
        let heard = ear.hear(&samples)?;
        println!(
            "{name:20} no-speech {:.2}  mean log-probability {:5.2}  {:8} {:?}",
            heard.no_speech,
            heard.mean_log_probability,
            if heard.is_doubtful() { "doubtful" } else { "" },
            heard.text
        );
    }
    Ok(())
}

fn time(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut ear = Ear::new(args)?;
    let samples = wav::read(&args.folder)?;
    for seconds in [2, 5, 10] {
        let piece = &samples[..samples.len().min(seconds * wav::RATE)];
        let mut rounds: Vec<(Duration, Duration)> = Vec::new();
        let mut tokens = 0;
        for _ in 0..15 {
            let (wall, begin) = (Instant::now(), cpu());
            tokens = ear.hear(piece)?.tokens.len();
            rounds.push((wall.elapsed(), cpu() - begin));
        }
        let mut middle = |by: fn(&(Duration, Duration)) -> Duration| {
            rounds.sort_by_key(by);
            by(&rounds[rounds.len() / 2]).as_secs_f64() * 1e3
        };
        let (wall, cpu) = (middle(|round| round.0), middle(|round| round.1));
        println!("{seconds:2} s, {tokens:2} tokens: p50 {wall:.0} ms, cpu {cpu:.0} ms");
    }
    println!("resident {}, most {}", memory("VmRSS:"), memory("VmHWM:"));
    Ok(())
}

fn main() -> ExitCode {
    let done = args::read().and_then(|args| match args.command.as_str() {
        "speak" => speak(&args.folder),
        "hear" => hear(&args),
        "quiet" => quiet(&args),
        "time" => time(&args),
        _ => Err(USAGE.into()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Adds white noise this many decibels below the sound.
fn noisy(samples: &[f32], decibels: f32) -> Vec<f32> {
    let power = samples.iter().map(|x| x * x).sum::<f32>() / samples.len().max(1) as f32;
    // uniform noise between -a and a has a power of a^2 / 3
    let size = (3.0 * power / 10f32.powf(decibels / 10.0)).sqrt();
    let mut seed = 7u32;
    let random = samples.iter().map(|x| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x + size * ((seed >> 8) as f32 / (1 << 23) as f32 - 1.0)
    });
    random.collect()
}
