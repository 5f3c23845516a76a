//! Music: folders of sound files, with or without `music.yaml`, and the shipped ambience.
//!
//! Entry function: [`library`]. **Never**: opens a sound file.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    files::YAML,
    keys::music::{FILE, MUSIC, TRACK},
    reading::{Folder, Notes, Reading},
};
use crate::{
    logic::{
        music::{Layer, Library, Track},
        words::fold,
    },
    yaml::{Fields, Kind, Position, Problems, nearest, quoted},
};

/// Default folder of music.
const FOLDER: &str = "music";
/// Describes the sound files beside it.
const DESCRIPTION: &str = "music.yaml";
/// Extensions of decodable sound files.
pub const SOUNDS: &[&str] =
    &["aac", "flac", "m4a", "mka", "mp3", "mp4", "oga", "ogg", "opus", "wav", "webm"];
/// Levels of subfolders searched.
const DEPTH: usize = 4;
/// Most folders searched.
const FOLDERS_MAX: usize = 500;
const TRACKS_MAX: usize = 2_000;
/// Longest title and mood, in characters.
const TEXT_MAX: usize = 80;
/// Longest credits, in characters.
const CREDITS_MAX: usize = 200;
/// Title of a file whose name has no letter or digit.
const UNTITLED: &str = "Track";

/// Tracks of the folders in `app`, the configuration, followed by the shipped ones.
pub fn library(
    app: &Fields<'_>,
    folder: &Path,
    reading: &mut Reading,
    notes: &mut Notes,
) -> Library {
    let mut scan = Scan::default();
    let fields = app.map("music", &MUSIC);
    match fields.filter(|fields| fields.get("dirs").is_some() || fields.is_broken("dirs")) {
        Some(fields) => {
            for node in fields.items("dirs") {
                let Some(dir) = node.text() else { continue };
                let dir = folder.join(dir);
                scan.top(reading, Folder { path: &dir, named_at: Some(node.at) }, notes);
            }
        }
        None => {
            let dir = folder.join(FOLDER);
            if reading.has_dir(&dir) {
                scan.top(reading, Folder { path: &dir, named_at: None }, notes);
            }
        }
    }
    let mut tracks = scan.tracks;
    tracks.extend(Library::shipped().tracks.iter().map(|track| (**track).clone()));
    named_apart(&mut tracks);
    Library { tracks: tracks.into_iter().map(Arc::new).collect() }
}

#[derive(Default)]
struct Scan {
    tracks: Vec<Track>,
    n_folders: usize,
    /// Files and folders seen, so that those named or linked twice count once.
    known: BTreeSet<PathBuf>,
    /// A limit was reached.
    is_cut: bool,
}

/// A folder, and the settings of its files implied by its path.
#[derive(Clone)]
struct MusicFolder {
    dir: PathBuf,
    depth: usize,
    moods: Vec<String>,
    layer: Layer,
}

impl Scan {
    /// Searches a folder that is named or exists.
    fn top(&mut self, reading: &mut Reading, at: Folder<'_>, notes: &mut Notes) {
        let Folder { path: dir, named_at } = at;
        reading.music.push(dir.to_owned());
        if let Err(error) = reading.list(dir, SOUNDS) {
            let message = format!("music folder '{}': {}", dir.display(), error.message);
            let at = named_at.unwrap_or(Position::START);
            return notes.problems.add(at, message, error.way_out);
        }
        let top =
            MusicFolder { dir: dir.to_owned(), depth: 0, moods: Vec::new(), layer: Layer::Music };
        let was_cut = self.is_cut;
        self.folder(reading, &top);
        if self.is_cut && !was_cut {
            let message = format!(
                "music folder '{}' has more than {TRACKS_MAX} tracks, {FOLDERS_MAX} folders or \
                 {DEPTH} levels; the rest is not played",
                dir.display()
            );
            let at = named_at.unwrap_or(Position::START);
            notes.warnings.add(at, message, "name a smaller folder under music.dirs");
        }
    }

    /// Adds the files of a folder and its subfolders.
    fn folder(&mut self, reading: &mut Reading, place: &MusicFolder) {
        if place.depth > DEPTH {
            self.is_cut = true;
            return;
        }
        if !self.known.insert(reading.source.behind_links(&place.dir)) {
            return;
        }
        self.n_folders += 1;
        if self.n_folders > FOLDERS_MAX {
            self.is_cut = true;
            return;
        }
        let files = reading.list(&place.dir, SOUNDS).unwrap_or_default();
        let described = self.described(reading, place, &files);
        for file in files.into_iter().filter(|file| !described.contains(file)) {
            self.add(track(file, place));
        }
        for dir in reading.source.folders(&place.dir) {
            self.folder(reading, &place.inside(dir));
        }
    }

    /// Adds the tracks that `music.yaml` describes, if it exists, and returns their files.
    fn described(
        &mut self,
        reading: &mut Reading,
        place: &MusicFolder,
        files: &[PathBuf],
    ) -> Vec<PathBuf> {
        let path = place.dir.join(DESCRIPTION);
        let is_there = reading.list(&place.dir, YAML).is_ok_and(|files| files.contains(&path));
        if !is_there {
            return Vec::new();
        }
        let kind = Kind::Shape(&FILE);
        let Some((node, mut notes)) = reading.file_or_problem(&path, &kind) else {
            return Vec::new();
        };
        let mut described = Vec::new();
        for node in Fields::new(&node, &FILE).items("tracks") {
            let fields = Fields::new(node, &TRACK);
            let Some(name) = fields.text("file") else { continue };
            let file = place.dir.join(name);
            if !files.contains(&file) {
                not_there(&fields, name, files, &mut notes.problems);
            } else if described.contains(&file) {
                let message = format!("'{name}' is described twice");
                notes.problems.add(fields.place("file"), message, "remove one of the two");
            } else {
                self.add(described_track(&fields, track(file.clone(), place)));
                described.push(file);
            }
        }
        reading.take(notes);
        described
    }

    fn add(&mut self, track: Track) {
        if self.tracks.len() >= TRACKS_MAX {
            self.is_cut = true;
        } else if self.known.insert(track.file.clone()) {
            self.tracks.push(track);
        }
    }
}

impl MusicFolder {
    /// The subfolder `dir`: its name is a mood or a layer.
    fn inside(&self, dir: PathBuf) -> Self {
        let mut inside = Self { dir, depth: self.depth + 1, ..self.clone() };
        let name = inside.dir.file_name().unwrap_or_default().to_string_lossy();
        match fold(&name).as_str() {
            "ambience" => inside.layer = Layer::Ambience,
            "effects" => inside.layer = Layer::Effect,
            "music" => inside.layer = Layer::Music,
            "" => {}
            _ => inside.moods.push(readable(&name)),
        }
        inside
    }
}

/// Reports a file named in `music.yaml` that is not among the sound `files` beside it.
fn not_there(fields: &Fields<'_>, name: &str, files: &[PathBuf], problems: &mut Problems) {
    let names: Vec<&str> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let way_out = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("name a file of this folder that ends in one of: {}", SOUNDS.join(", ")),
    };
    let message = format!("no sound file {} beside this file", quoted(name));
    problems.add(fields.place("file"), message, way_out);
}

/// The track of a file with its folder's settings.
fn track(file: PathBuf, place: &MusicFolder) -> Track {
    Track {
        title: title(&file),
        file,
        moods: place.moods.clone(),
        layer: place.layer,
        is_looped: place.layer != Layer::Effect,
        gain_db: 0.0,
        credits: None,
    }
}

/// `track` with the settings of `fields`.
fn described_track(fields: &Fields<'_>, track: Track) -> Track {
    let layer = match fields.text("layer") {
        Some("music") => Layer::Music,
        Some("ambience") => Layer::Ambience,
        Some("effect") => Layer::Effect,
        _ => track.layer,
    };
    let moods: Vec<String> =
        fields.texts("moods").iter().filter_map(|mood| filled(short(mood))).collect();
    Track {
        title: fields.text("title").and_then(|title| filled(short(title))).unwrap_or(track.title),
        moods: if moods.is_empty() { track.moods } else { moods },
        layer,
        is_looped: fields.flag("loop").unwrap_or(layer != Layer::Effect),
        gain_db: fields
            .whole::<u16>("volume")
            .map_or(0.0, |percent| 20.0 * (f32::from(percent) / 100.0).log10()),
        credits: fields
            .text("credits")
            .map(|credits| line(credits, CREDITS_MAX))
            .filter(|it| !it.is_empty()),
        file: track.file,
    }
}

/// Title from the file's name, without a leading number.
fn title(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let bare = stem.trim_start_matches(|c: char| c.is_ascii_digit() || " ._-".contains(c));
    filled(readable(bare))
        .or_else(|| filled(readable(&stem)))
        .unwrap_or_else(|| UNTITLED.to_owned())
}

/// `None` if `text` has no word to find it by.
fn filled(text: String) -> Option<String> {
    (!fold(&text).is_empty()).then_some(text)
}

/// A file's or folder's name for people.
fn readable(name: &str) -> String {
    short(&name.replace(['_', '-'], " "))
}

/// `text` on one line, at most [`TEXT_MAX`] characters.
fn short(text: &str) -> String {
    line(text, TEXT_MAX)
}

/// `text` trimmed, on one line with single spaces, at most `most` characters.
fn line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(most).collect()
}

/// Makes equal titles unique: adds the first mood, then a number.
fn named_apart(tracks: &mut [Track]) {
    let mut taken = BTreeSet::new();
    for track in tracks {
        if taken.contains(&fold(&track.title))
            && let Some(mood) = track.moods.first()
        {
            track.title = format!("{} ({mood})", track.title);
        }
        let title = track.title.clone();
        let mut number = 2;
        while !taken.insert(fold(&track.title)) {
            track.title = format!("{title} {number}");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests;
