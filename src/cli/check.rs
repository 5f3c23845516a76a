//! `glyphoxa check`: reads all files and reports every problem. Entry function: [`run`].

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use serde_json::json;

use super::{Configured, Failure, counted, stderr, stdout};
use crate::{
    app::{self, DoubtfulVoice, VoiceLists},
    campaign::check_sound,
    config::{self, Config, FILE_NAME, Problem, Report, Use},
    domain::revealed_name,
    logic::{
        music::{Track, shipped_sound},
        workflow::Workflow,
    },
    tools::builtin,
    web::WebOptions,
    yaml::Position,
};

const FINE: u8 = 0;
const WRONG: u8 = 2;

pub struct Outputs<'a> {
    /// The summary, or the JSON object.
    pub out: &'a mut dyn Write,
    /// Problems and warnings for people.
    pub err: &'a mut dyn Write,
}

/// Checks the configuration at `path` (default: as the program would read it). Exit status 0, or 2
/// with any problem. `tools` are the identities NPCs may name.
pub fn run(path: Option<&Path>, as_json: bool, tools: &[&str], outputs: Outputs) -> io::Result<u8> {
    let result = load(path, tools);
    show(path, &result, as_json, outputs)
}

/// Like [`run`], and asks voice services whether they have the NPCs' voices. Asks for missing
/// agreements first.
pub fn run_online(configured: Configured<'_>, as_json: bool) -> Result<u8, Failure> {
    let path = configured.path;
    let mut result = load(path, builtin::IDENTITIES);
    if let Ok(config) = &result {
        configured.agreed(config, Use::Play)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let lists = VoiceLists::open(&config.data_dir);
        let found = runtime.block_on(app::doubtful_voices(&lists, config));
        result = result.and_then(|config| with_voices(config, found));
    }
    let outputs = Outputs { out: &mut stdout(), err: &mut stderr() };
    Ok(show(path, &result, as_json, outputs)?)
}

fn load(path: Option<&Path>, tools: &[&str]) -> Result<Config, Report> {
    config::load(path, &config::environment, tools).map(|mut config| {
        config.warnings.extend(no_sound(&config));
        config
    })
}

/// Adds the voices that services lack: as problems, or as warnings if a service may still have one.
fn with_voices(mut config: Config, found: Vec<DoubtfulVoice>) -> Result<Config, Report> {
    let file: Arc<str> = name(None, &config).into();
    let mut problems = Vec::new();
    for DoubtfulVoice { npc, message, way_out, is_certain, .. } in found {
        let message = format!("{}: {message}", revealed_name(&npc));
        let problem = Problem { file: Arc::clone(&file), at: Position::START, message, way_out };
        match is_certain {
            true => problems.push(problem),
            false => config.warnings.push(problem),
        }
    }
    if problems.is_empty() {
        return Ok(config);
    }
    let Config { warnings, files, folders, .. } = config;
    Err(Report { problems, warnings, files, folders })
}

fn show(
    path: Option<&Path>,
    result: &Result<Config, Report>,
    as_json: bool,
    outputs: Outputs,
) -> io::Result<u8> {
    let status = if result.is_ok() { FINE } else { WRONG };
    let Outputs { out, err } = outputs;
    if as_json {
        writeln!(out, "{}", as_object(result))?;
        return Ok(status);
    }
    match result {
        Ok(config) => {
            for warning in &config.warnings {
                writeln!(err, "warning: {warning}")?;
            }
            writeln!(out, "{}: fine: {}", name(path, config), summary(config))?;
        }
        Err(report) => {
            for warning in &report.warnings {
                writeln!(err, "warning: {warning}")?;
            }
            writeln!(err, "{report}")?;
        }
    }
    Ok(status)
}

/// Warnings about sound files whose beginning cannot be decoded.
fn no_sound(config: &Config) -> Vec<Problem> {
    let wrong = own_tracks(config).filter_map(|track| {
        let error = check_sound(&track.file).err()?;
        let (message, way_out) = match error.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
            Some((message, way_out)) => (message.to_owned(), way_out.to_owned()),
            None => (error, "replace it, or take it out of the folder".to_owned()),
        };
        let file = revealed_name(&track.file.display().to_string()).into();
        Some(Problem { file, at: Position::START, message, way_out })
    });
    wrong.collect()
}

fn own_tracks(config: &Config) -> impl Iterator<Item = &Arc<Track>> {
    config.music.tracks.iter().filter(|track| shipped_sound(&track.file).is_none())
}

/// The file as shown to the user.
fn name(path: Option<&Path>, config: &Config) -> String {
    let first = config.files.first().map(AsRef::as_ref);
    path.or(first).unwrap_or(Path::new(FILE_NAME)).display().to_string()
}

/// One line.
fn summary(config: &Config) -> String {
    let names: Vec<_> = config.npcs.iter().map(|npc| revealed_name(&npc.name)).collect();
    let campaign = match config.campaign.name.as_str() {
        "" => "no campaign".to_owned(),
        name => format!(
            "campaign '{}' with {} entities",
            revealed_name(name),
            config.campaign.entities.len()
        ),
    };
    let npcs = counted(names.len(), "NPC");
    let music = match own_tracks(config).count() {
        0 => String::new(),
        own => format!(", {} of music", counted(own, "track")),
    };
    let workflows = match config.workflows.iter().count() {
        0 => String::new(),
        count => format!(", {}", counted(count, "workflow")),
    };
    let changed: Vec<String> = config
        .changed
        .iter()
        .map(|npc| format!("; npcs: changes {} ({})", revealed_name(&npc.name), npc.file))
        .collect();
    let changed = changed.concat();
    let names = names.join(", ");
    let listener = config.web.as_ref().map(listener).unwrap_or_default();
    format!("{npcs} ({names}), {campaign}{music}{workflows}{listener}{changed}")
}

/// Where programs outside get in, and whether they may listen.
fn listener(web: &WebOptions) -> String {
    let far = if web.listen.ip().is_loopback() { "" } else { ", from other machines too" };
    let listening = if web.mcp.listen { " (voice.listen is on)" } else { "" };
    format!("; programs with a token get in at {}{far}{listening}", web.listen)
}

fn as_object(result: &Result<Config, Report>) -> serde_json::Value {
    match result {
        Ok(config) => json!({
            "ok": true,
            "problems": [],
            "warnings": config.warnings,
            "npcs": config.npcs.iter().map(|npc| npc.name.as_str()).collect::<Vec<_>>(),
            "changed": config.changed.iter().map(|npc| &*npc.file).collect::<Vec<_>>(),
            "campaign": config.campaign.name,
            "tracks": config.music.tracks.len(),
            "workflows": config.workflows.iter().map(|it| as_entry(it)).collect::<Vec<_>>(),
            "web": config.web.as_ref().map(as_listener),
            "files": config.files,
        }),
        Err(report) => json!({
            "ok": false,
            "problems": report.problems,
            "warnings": report.warnings,
            "npcs": [],
        }),
    }
}

fn as_entry(workflow: &Workflow) -> serde_json::Value {
    let Workflow { name, description, offer, .. } = workflow;
    json!({ "name": name, "description": description, "offer": offer })
}

fn as_listener(web: &WebOptions) -> serde_json::Value {
    json!({ "listen": web.listen, "behind_tls": web.behind_tls, "voice_listen": web.mcp.listen })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str, as_json: bool) -> (u8, String, String) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.yaml");
        std::fs::write(&path, text).unwrap();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let outputs = Outputs { out: &mut out, err: &mut err };
        let status = run(Some(&path), as_json, &["dice-roller.roll"], outputs).unwrap();
        let folder = format!("{}/", dir.path().display());
        let plain = |bytes| String::from_utf8(bytes).unwrap().replace(&folder, "");
        (status, plain(out), plain(err))
    }

    #[test]
    fn says_what_is_there() {
        let (status, out, err) = checked("npcs: [{ name: Bart, lines: [{ say: hi }] }]\n", false);
        assert_eq!((status, err.as_str()), (0, ""));
        assert_eq!(out, "x.yaml: fine: 1 NPC (Bart), no campaign\n");
    }

    #[test]
    fn listener_is_named() {
        let npcs = "npcs: [{ name: Bart, lines: [{ say: hi }] }]\n";
        let at = |web: &str, as_json| checked(&format!("{npcs}web: {web}\n"), as_json);
        let (status, out, err) = at("{ listen: '127.0.0.1:4100' }", false);
        assert_eq!((status, err.as_str()), (0, ""));
        let named = "no campaign; programs with a token get in at 127.0.0.1:4100\n";
        assert!(out.ends_with(named), "{out}");
        let listens = "{ listen: '0.0.0.0:4100', behind_tls: true, mcp: { listen: true } }";
        let (_, out, _) = at(listens, false);
        let named = "get in at 0.0.0.0:4100, from other machines too (voice.listen is on)\n";
        assert!(out.ends_with(named), "{out}");
        let (_, out, _) = at(listens, true);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        let wanted = json!({ "listen": "0.0.0.0:4100", "behind_tls": true, "voice_listen": true });
        assert_eq!(report["web"], wanted);
        let (_, out, _) = checked(npcs, true);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["web"], json!(null));
    }

    #[test]
    fn changed_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("npcs")).unwrap();
        let bart = "name: Bart the Bold\naliases: [Bart]\nlines: [{ say: hi }, { say: ho }]\n\
                    voice: { voice_id: rms, speed_factor: 0.9 }\n";
        std::fs::write(dir.path().join("npcs/bart.yaml"), bart).unwrap();
        let path = dir.path().join("x.yaml");
        let checked = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let outputs = Outputs { out: &mut out, err: &mut err };
            let status = run(Some(&path), false, &["dice-roller.roll"], outputs).unwrap();
            let plain = |bytes| String::from_utf8(bytes).unwrap();
            (status, plain(out), plain(err))
        };
        let (status, out, err) = checked("npcs: [{ name: bart the bold, max_sentences: 2 }]\n");
        assert_eq!(status, 0, "{err}");
        assert!(out.contains("1 NPC (Bart the Bold)"), "{out}");
        assert!(
            out.contains("; npcs: changes Bart the Bold (") && out.contains("bart.yaml)"),
            "{out}"
        );
        for misspelt in ["Bart the Blod", "Bart"] {
            let text = format!("npcs: [{{ name: {misspelt}, max_sentences: 2 }}]\n");
            let (status, _, err) = checked(&text);
            assert_eq!(status, 2, "{err}");
            assert!(err.contains("did you mean 'Bart the Bold'?"), "{err}");
        }
        let twice = "npcs: [{ name: Bart the Bold, max_sentences: 2 }, { name: bart the bold, \
                     max_sentences: 3 }]\n";
        let (status, _, err) = checked(twice);
        assert!(status == 2 && err.contains("'npcs' changes 'bart the bold' twice"), "{err}");
        let (status, _, err) =
            checked("npcs: [{ name: Bart the Bold, tools: [dice-roller.rol] }]\n");
        assert!(status == 2 && err.contains("x.yaml:1:"), "{err}");
    }

    #[test]
    fn sound_files_without_sound_are_warned_about() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("music")).unwrap();
        std::fs::write(dir.path().join("music/a.mp3"), "").unwrap();
        let path = dir.path().join("x.yaml");
        std::fs::write(&path, "npcs: [{ name: Bart, lines: [{ say: hi }] }]\n").unwrap();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let outputs = Outputs { out: &mut out, err: &mut err };
        assert_eq!(run(Some(&path), false, &[], outputs).unwrap(), 0);
        let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
        assert!(out.ends_with("no campaign, 1 track of music\n"), "{out}");
        assert!(err.contains("a.mp3:1:1: the sound file is empty (record or export"), "{err}");
    }

    #[test]
    fn says_everything_that_is_wrong() {
        let (status, out, err) = checked("npcs: [{ name: Bart }, { naem: x }]\n", false);
        assert_eq!((status, out.as_str()), (2, ""));
        assert_eq!(err.lines().filter(|line| line.starts_with("x.yaml:1:")).count(), 2, "{err}");
        assert!(err.contains("warning: x.yaml:1:8: 'Bart' has no lines"), "{err}");
    }

    #[test]
    fn programs_get_one_object() {
        let (status, out, err) = checked("budget: 3\n", true);
        assert_eq!((status, err.as_str()), (2, ""));
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["ok"], false);
        assert_eq!(
            report["problems"][1],
            json!({
                "file": "x.yaml", "line": 1, "column": 9, "message": "'budget' is '3'",
                "way_out": "expected a mapping of keys and values",
            })
        );
        let (status, out, _) = checked("npcs: [{ name: Bart }]\n", true);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((status, &report["ok"], &report["npcs"][0]), (0, &json!(true), &json!("Bart")));
    }
}
