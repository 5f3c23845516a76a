//! The files of Piper voices.
//!
//! Entry function: [`Name::files`] of a [`Name`]. **Never**: a name that leaves the folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::provider::{
    Error,
    voices::neural::files::{bounded, missing, shown},
};

/// Prefix of these voices in `glyphoxa models`.
const PREFIX: &str = "piper-";
/// Largest network that is read; Piper's largest has 115 MB.
const MOST_NETWORK: u64 = 256 * 1024 * 1024;
/// Largest description that is read; one of 900 speakers has 25 kB.
const MOST_SETTINGS: u64 = 1024 * 1024;

/// Name of a voice: "joe", or with a speaker "libritts#p3922" or "libritts#3".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    pub voice: &'a str,
    pub speaker: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Files {
    pub network: PathBuf,
    pub settings: PathBuf,
}

impl<'a> Name<'a> {
    pub fn of(id: &'a str) -> Option<Self> {
        let (voice, speaker) = match id.split_once('#') {
            Some((voice, speaker)) => (voice, Some(speaker)),
            None => (id, None),
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_name = |text: &str| {
            (1..=80).contains(&text.len())
                && !text.starts_with(['.', '-'])
                && text.chars().all(fits)
        };
        let named = Self { voice, speaker };
        (is_name(voice) && speaker.is_none_or(|it| !it.is_empty() && it.len() <= 80))
            .then_some(named)
    }

    /// Its files below the first of `folders` that has them.
    pub fn files(&self, folders: &[PathBuf]) -> Result<Files, Error> {
        let voice = self.voice;
        let names = [voice.to_owned(), format!("{PREFIX}{voice}")];
        let mut places = folders.iter().flat_map(|it| names.iter().map(move |name| it.join(name)));
        let found = places.find(|place| place.is_dir()).map(|place| in_folder(&place));
        match found {
            Some(Ok(Some(files))) => Ok(files),
            Some(Err(error)) => Err(missing(format!("cannot read the voice '{voice}': {error}"))),
            Some(Ok(None)) => Err(missing(format!(
                "the Piper voice '{voice}' in '{}' has no .onnx file with an .onnx.json beside it \
                 (glyphoxa models get {PREFIX}{voice}, or copy both there)",
                shown(folders)
            ))),
            None => Err(missing(format!(
                "no Piper voice '{voice}' in '{}' (glyphoxa models get {PREFIX}{voice}, or \
                 put its .onnx and .onnx.json into a folder of that name there)",
                shown(folders)
            ))),
        }
    }
}

pub fn voices(folders: &[PathBuf]) -> Vec<String> {
    let below = |folder: &PathBuf| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| matches!(in_folder(&folder.join(name)), Ok(Some(_)))).collect()
    };
    let mut voices: Vec<String> = folders
        .iter()
        .flat_map(below)
        .map(|name| name.strip_prefix(PREFIX).map_or_else(|| name.clone(), str::to_owned))
        .filter(|name| Name::of(name).is_some())
        .collect();
    voices.sort();
    voices.dedup();
    voices
}

/// The first network in `folder` that has a description, by name.
fn in_folder(folder: &Path) -> io::Result<Option<Files>> {
    let mut networks = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "onnx") {
            networks.push(path);
        }
    }
    networks.sort();
    let with_settings = networks.into_iter().map(|network| {
        let settings = network.with_extension("onnx.json");
        Files { network, settings }
    });
    Ok(with_settings.into_iter().find(|files| files.settings.is_file()))
}

impl Files {
    pub fn read(&self) -> Result<(Vec<u8>, Vec<u8>), Error> {
        Ok((self.settings()?, bounded(&self.network, MOST_NETWORK)?))
    }

    /// Only the description.
    pub fn settings(&self) -> Result<Vec<u8>, Error> {
        bounded(&self.settings, MOST_SETTINGS)
    }
}
