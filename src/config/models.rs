//! The `models` part of `glyphoxa.yaml`. **Never**: prints an address with its password.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    keys::models::{FILE, PACKAGE, SET},
    reading::{Notes, Reading},
};
use crate::{
    provider::{PackageSources, Registries, RegistryAddress},
    weights::{Digest, Origin, Package, WeightFile, WeightSet, Weights, is_file_name, is_set_name},
    yaml::{Fields, nearest},
};

#[derive(Clone, Debug)]
pub struct ModelOptions {
    /// Sets of model files, and their folders.
    pub weights: Weights,
    pub sources: PackageSources,
}

/// Bases of relative paths.
pub struct Folders<'a> {
    /// Folder of the configuration file.
    pub file: &'a Path,
    /// Folder of stored data.
    pub data: &'a Path,
}

/// Reads `fields`; environment variables replace missing keys.
pub fn options(
    fields: Option<Fields<'_>>,
    folders: &Folders<'_>,
    reading: &Reading,
    notes: &mut Notes,
) -> ModelOptions {
    let path = |key| Some(folders.file.join(fields?.text(key)?));
    let variable = |name, key| {
        reading.variable(name, key).map(|text| text.trim().to_owned()).filter(|it| !it.is_empty())
    };
    let shared = path("shared_dir")
        .or_else(|| variable("GLYPHOXA_MODELS", "models.path").map(|path| folders.file.join(path)));
    let more = sets(fields, notes);
    let own = path("dir").unwrap_or_else(|| folders.data.join("models"));
    let weights = Weights::new(own, shared, more);
    let index = address(fields, "index", notes).or_else(|| {
        // An invalid address is not ours to report; pip does.
        RegistryAddress::parse(&variable("PIP_INDEX_URL", "models.index")?).ok()
    });
    let npm = address(fields, "npm", notes);
    let hugging_face = address(fields, "hugging_face", notes)
        .or_else(|| RegistryAddress::parse(&variable("HF_ENDPOINT", "models.hugging_face")?).ok());
    let replaced = replaced(fields, &weights, notes);
    let registries = Registries::or_public(index, npm, hugging_face);
    ModelOptions { weights, sources: PackageSources::new(registries, replaced) }
}

fn address(fields: Option<Fields<'_>>, key: &str, notes: &mut Notes) -> Option<RegistryAddress> {
    let fields = fields?;
    let read = RegistryAddress::parse(fields.text(key)?.trim());
    read.map_err(|wrong| {
        let message = format!("{key} is not a registry address: {wrong}");
        notes.problems.add(fields.place(key), message, "write it as https://HOST/PATH");
    })
    .ok()
}

/// Replacement addresses of packages.
fn replaced(
    fields: Option<Fields<'_>>,
    weights: &Weights,
    notes: &mut Notes,
) -> BTreeMap<String, Vec<RegistryAddress>> {
    let mut replaced = BTreeMap::new();
    let entries = fields.and_then(|fields| fields.get("sources")).map(|node| node.entries());
    for entry in entries.unwrap_or_default() {
        let Some(set) = weights.set(&entry.key) else {
            let known = weights.sets().iter().map(|set| set.name.as_str());
            let way_out = nearest(&entry.key, known).map_or_else(
                || "list them with: glyphoxa models list".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            let message = format!("unknown model files '{}'", entry.key);
            notes.problems.add(entry.at, message, way_out);
            continue;
        };
        let texts = match entry.node.text() {
            Some(text) => vec![text],
            None => entry.node.items().iter().filter_map(|node| node.text()).collect(),
        };
        let read: Result<Vec<_>, _> = texts.iter().map(|it| RegistryAddress::parse(it)).collect();
        match read {
            Ok(read) if read.len() == set.packages.len() => {
                replaced.insert(entry.key.clone(), read);
            }
            Ok(read) => {
                let (are, wanted) = (read.len(), set.packages.len());
                let message = format!("{} has {wanted} packages, not {are}", entry.key);
                notes.problems.add(entry.node.at, message, "write an address for each, as a list");
            }
            Err(wrong) => {
                let message = format!("this is not a package address: {wrong}");
                notes.problems.add(entry.node.at, message, "write it as https://HOST/PATH");
            }
        }
    }
    replaced
}

/// The user's own sets.
fn sets(fields: Option<Fields<'_>>, notes: &mut Notes) -> Vec<WeightSet> {
    let mut names: BTreeSet<String> = Weights::new("".into(), None, Vec::new())
        .sets()
        .iter()
        .map(|set| set.name.clone())
        .collect();
    let mut sets = Vec::new();
    for node in fields.map(|fields| fields.items("more")).unwrap_or_default() {
        let fields = Fields::new(node, &SET);
        let Some(set) = set(fields, notes) else { continue };
        if names.insert(set.name.clone()) {
            sets.push(set);
        } else {
            let message = format!("two sets of model files are called '{}'", set.name);
            notes.problems.add(fields.place("name"), message, "give one of them another name");
        }
    }
    sets
}

fn set(fields: Fields<'_>, notes: &mut Notes) -> Option<WeightSet> {
    let name = fields.text("name")?.to_owned();
    if !is_set_name(&name) {
        let way_out =
            "use small letters, digits, '.', '-' and '_', and begin with a letter or a digit";
        let message = format!("invalid name of a set of model files '{name}'");
        notes.problems.add(fields.place("name"), message, way_out);
    }
    let packages = fields.items("packages").iter();
    let packages =
        packages.filter_map(|node| package(Fields::new(node, &PACKAGE), notes)).collect();
    let files = fields.items("files").iter();
    let files: Vec<WeightFile> =
        files.filter_map(|node| file(Fields::new(node, &FILE), notes)).collect();
    let mut seen = BTreeSet::from(["manifest.json", "NOTICE.txt"]);
    if let Some(twice) = files.iter().find(|file| !seen.insert(&file.name)) {
        let message = format!("the file name '{}' is taken", twice.name);
        notes.problems.add(fields.place("files"), message, "give it another name");
    }
    Some(WeightSet {
        purpose: fields.text("purpose").unwrap_or("of your configuration").to_owned(),
        licence: fields.text("licence").unwrap_or("unknown").to_owned(),
        caveat: None,
        notice: String::new(),
        is_default: false,
        name,
        packages,
        files,
        published: Vec::new(),
    })
}

fn package(fields: Fields<'_>, notes: &mut Notes) -> Option<Package> {
    let from = fields.text("from")?;
    let (origin, usual) = match origin(from) {
        Ok(read) => read,
        Err(wrong) => {
            let way_out = "write pypi:NAME==VERSION, npm:NAME@VERSION or https://HOST/PATH/FILE";
            notes.problems.add(fields.place("from"), wrong, way_out);
            return None;
        }
    };
    let file = fields.text("file").map_or(usual, str::to_owned);
    if !is_file_name(&file) {
        let message = format!("invalid file name of a package '{file}'");
        notes.problems.add(fields.place("file"), message, "set `file` to a name without a path");
    }
    let (bytes, sha256) = (fields.whole("bytes")?, digest(fields, notes)?);
    Some(Package { origin, file, bytes, sha256 })
}

/// Source of the package, and its usual file name.
fn origin(from: &str) -> Result<(Origin, String), &'static str> {
    let named = |name: &str, version: &str| (name.to_owned(), version.to_owned());
    let is_one = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+@/".contains(c))
    };
    if let Some(project) = from.strip_prefix("pypi:") {
        let (name, version) = project.split_once("==").ok_or("the version is missing")?;
        if !is_one(name) || !is_one(version) {
            return Err("this is not a project name of PyPI");
        }
        let file = format!("{}-{version}-py3-none-any.whl", name.replace(['-', '.'], "_"));
        let (name, version) = named(name, version);
        return Ok((Origin::PyPi { name, version }, file));
    }
    if let Some(package) = from.strip_prefix("npm:") {
        let (name, version) = package.rsplit_once('@').ok_or("the version is missing")?;
        if !is_one(name) || !is_one(version) {
            return Err("this is not a package name of npm");
        }
        let last = name.rsplit('/').next().unwrap_or_default();
        let file = format!("{last}-{version}.tgz");
        let (name, version) = named(name, version);
        return Ok((Origin::Npm { name, version }, file));
    }
    if RegistryAddress::parse(from)?.has_login() {
        return Err(
            "the address contains a login, which belongs in the address under models.sources",
        );
    }
    let path = from.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    Ok((Origin::Address(from.to_owned()), last.to_owned()))
}

fn file(fields: Fields<'_>, notes: &mut Notes) -> Option<WeightFile> {
    let name = fields.text("name")?.to_owned();
    if !is_file_name(&name) {
        let message = format!("invalid file name '{name}'");
        let way_out = "use letters, digits, '.', '-' and '_', and begin with a letter or a digit";
        notes.problems.add(fields.place("name"), message, way_out);
    }
    let mut parts = fields.texts("parts");
    if parts.is_empty() {
        parts.push(name.clone());
    }
    let (bytes, sha256) = (fields.whole("bytes")?, digest(fields, notes)?);
    Some(WeightFile { name, bytes, sha256, parts })
}

fn digest(fields: Fields<'_>, notes: &mut Notes) -> Option<Digest> {
    let text = fields.text("sha256")?;
    let read = Digest::parse(text);
    if read.is_none() {
        let message = format!("'{text}' is not a sha256");
        notes.problems.add(fields.place("sha256"), message, "write 64 hexadecimal digits");
    }
    read
}
