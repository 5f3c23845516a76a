use std::fs;

use super::*;
use crate::{
    config::{Config, load},
    logic::music::shipped_sound,
};

/// The configuration of a folder with these files, sound files among them; or its problems.
fn read(files: &[(&str, &str)]) -> Result<Config, String> {
    let dir = tempfile::tempdir().unwrap();
    let npc = ("npcs/bart.yaml", "name: Bart\nlines: [{ say: hi }]\n");
    for (name, text) in files.iter().chain([&npc]) {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let path = dir.path().join("glyphoxa.yaml");
    if !path.exists() {
        fs::write(&path, "").unwrap();
    }
    let root = format!("{}/", dir.path().display());
    load(Some(&path), &|_| None, &[]).map_err(|report| report.to_string().replace(&root, ""))
}

/// Title, moods and layer of the tracks of these files, without the shipped ones.
fn tracks(files: &[(&str, &str)]) -> Vec<(String, Vec<String>, Layer)> {
    let all = read(files).unwrap().music.tracks.clone();
    let own = all.iter().filter(|track| shipped_sound(&track.file).is_none());
    own.map(|it| (it.title.clone(), it.moods.clone(), it.layer)).collect()
}

#[test]
fn without_a_folder_the_shipped_ambience_plays() {
    assert_eq!(*read(&[]).unwrap().music, Library::shipped());
}

#[test]
fn folders_are_moods_and_layers() {
    let found = tracks(&[
        ("music/01 - Old_Road.mp3", ""),
        ("music/tavern/loud-night/brawl.OGG", ""),
        ("music/ambience/swamp/frogs.flac", ""),
        ("music/effects/wolf.wav", ""),
        ("music/notes.txt", ""),
        ("music/.hidden.mp3", ""),
    ]);
    let track = |title: &str, moods: &[&str], layer| {
        (title.to_owned(), moods.iter().map(|&it| it.to_owned()).collect::<Vec<_>>(), layer)
    };
    assert_eq!(
        found,
        [
            track("Old Road", &[], Layer::Music),
            track("frogs", &["swamp"], Layer::Ambience),
            track("wolf", &[], Layer::Effect),
            track("brawl", &["tavern", "loud night"], Layer::Music),
        ]
    );
}

#[test]
fn description_says_all_there_is_to_say() {
    let text = "tracks:\n  - { file: a.mp3, moods: [camp, Rast], title: At Rest, volume: 50,\n      \
                loop: false, layer: ambience, credits: 'Jo, CC BY 4.0' }\n";
    let config = read(&[
        ("sounds/x/music.yaml", text),
        ("sounds/x/a.mp3", ""),
        ("sounds/x/b.mp3", ""),
        ("glyphoxa.yaml", "music: { dirs: sounds }\n"),
    ])
    .unwrap();
    let track = &config.music.tracks[0];
    assert_eq!((track.title.as_str(), track.layer), ("At Rest", Layer::Ambience));
    assert_eq!(
        (track.moods.as_slice(), track.is_looped),
        (["camp".into(), "Rast".into()].as_slice(), false)
    );
    assert!((track.gain_db + 6.02).abs() < 0.01);
    assert_eq!(track.credits.as_deref(), Some("Jo, CC BY 4.0"));
    assert_eq!(config.music.tracks[1].moods, ["x"]);
    assert!(config.files.iter().any(|file| file.ends_with("music.yaml")), "it is watched");
}

#[test]
fn wrong_descriptions_are_shown_with_their_place() {
    let text = "tracks:\n  - { file: lute.mp4 }\n  - { file: lute.mp3, volume: 900 }\n  \
                - { file: ../x.mp3 }\n  - { file: lute.mp3 }\n";
    let problems =
        read(&[("music/music.yaml", text), ("music/lute.mp3", ""), ("x.mp3", "")]).unwrap_err();
    let lines: Vec<&str> = problems.lines().collect();
    assert!(lines[0].starts_with("music/music.yaml:2:"), "{problems}");
    assert!(lines[0].contains("did you mean 'lute.mp3'?"), "{problems}");
    assert!(lines[1].starts_with("music/music.yaml:3:"), "{problems}");
    assert!(lines[2].contains("'../x.mp3'"), "{problems}");
    assert!(lines[3].contains("described twice"), "{problems}");
    let problems = read(&[("glyphoxa.yaml", "music: { dirs: [nowhere] }\n")]).unwrap_err();
    assert!(problems.starts_with("glyphoxa.yaml:1:"), "{problems}");
}

#[test]
fn duplicate_titles_get_folder_and_number() {
    let found =
        tracks(&[("music/a/Rain.mp3", ""), ("music/b/rain.mp3", ""), ("music/b/rain.ogg", "")]);
    let titles: Vec<&str> = found.iter().map(|track| track.0.as_str()).collect();
    assert_eq!(titles, ["Rain", "rain (b)", "rain (b) 2"]);
}

#[test]
fn names_without_letters_get_others() {
    let text = "tracks:\n  - { file: b.mp3, title: '--', moods: ['--', fair] }\n";
    let found = tracks(&[
        ("music/---.mp3", ""),
        ("music/_/-/a.mp3", ""),
        ("music/x/07.mp3", ""),
        ("music/y/music.yaml", text),
        ("music/y/b.mp3", ""),
    ]);
    let shown: Vec<_> = found.iter().map(|(title, moods, _)| (&**title, moods.join(","))).collect();
    let of = |title, moods: &str| (title, moods.to_owned());
    assert_eq!(shown, [of("Track", ""), of("a", ""), of("07", "x"), of("b", "fair")]);
}

#[test]
fn credits_are_one_line_of_200_characters() {
    let text =
        format!("tracks:\n  - {{ file: a.mp3, credits: \"Jo,\\n CC {}\" }}\n", "y".repeat(300));
    let config = read(&[("music/music.yaml", &text), ("music/a.mp3", "")]).unwrap();
    let credits = config.music.tracks[0].credits.clone().unwrap();
    assert!(credits.starts_with("Jo, CC y"), "{credits}");
    assert_eq!(credits.chars().count(), 200);
}

#[test]
fn folders_that_links_lead_to_are_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let tavern = dir.path().join("music/tavern");
    fs::create_dir_all(&tavern).unwrap();
    fs::write(tavern.join("tone.mp3"), "").unwrap();
    std::os::unix::fs::symlink("..", tavern.join("loop")).unwrap();
    let path = dir.path().join("glyphoxa.yaml");
    fs::write(&path, "npcs: [{ name: Bart, lines: [{ say: hi }] }]\n").unwrap();
    let config = load(Some(&path), &|_| None, &[]).unwrap();
    let own = config.music.tracks.len() - Library::shipped().tracks.len();
    assert_eq!((own, config.music.tracks[0].title.as_str()), (1, "tone"));
    assert!(config.warnings.iter().all(|it| !it.message.contains("levels")));
}

#[test]
fn deep_and_many_files_are_cut_with_a_warning() {
    let config = read(&[("music/1/2/3/4/5/deep.mp3", ""), ("music/1/2/3/4/fine.mp3", "")]).unwrap();
    assert_eq!(config.music.tracks[0].title, "fine");
    assert_eq!(config.music.tracks.len(), 1 + Library::shipped().tracks.len());
    assert!(config.warnings.iter().any(|it| it.message.contains("levels")));
}

#[test]
fn scenes_with_missing_music_are_warned_about() {
    let campaign =
        "scenes:\n  - { name: Inn, music: taverne }\n  - { name: Void, music: xylophone }\n";
    let config = read(&[("glyphoxa.yaml", "campaign: c.yaml\n"), ("c.yaml", campaign)]).unwrap();
    let scenes = &config.campaign.scenes;
    assert_eq!(scenes[0].music.as_deref(), Some("taverne"));
    let warned: Vec<_> = config.warnings.iter().filter(|it| it.message.contains("music")).collect();
    assert_eq!(warned.len(), 1);
    assert!(warned[0].message.contains("'xylophone'"), "{}", warned[0].message);
}
