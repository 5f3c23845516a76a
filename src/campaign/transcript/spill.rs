//! Entries not yet in the store, in a file. Entry type: [`Spill`].
//!
//! The file outlasts the program and keeps its order. Writing an entry to the store twice is
//! harmless, as utterances have ids. **Never**: grows beyond [`SPILL_MAX`], lets other users read
//! it, or keeps words that were withdrawn.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::{ASKED, Asked, Scope, Session, Uid, Utterance};

/// Programs of one folder that may have a spill at once.
const FILES: u32 = 16;
/// Limit of a file: weeks of talk.
const SPILL_MAX: u64 = 64 * 1024 * 1024;

/// An entry for the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A session's start, change or end.
    Session(Scope, Session),
    Lines(Scope, Vec<Utterance>),
    /// Withdrawn utterances.
    Withdraw(Scope, Vec<Uid>),
}

impl Entry {
    /// Number of lines; open words count once their line settles them.
    pub fn lines(&self) -> u64 {
        match self {
            Self::Session(..) | Self::Withdraw(..) => 0,
            Self::Lines(_, lines) => {
                let count = lines.iter().filter(|line| line.outcome != ASKED).count();
                u64::try_from(count).unwrap_or(u64::MAX)
            }
        }
    }

    /// Empties these lines. They keep their places: a write that was given up may still succeed,
    /// and what withdraws them must come after it.
    fn empty(&mut self, gone: &[Uid]) {
        if let Self::Lines(_, lines) = self {
            for line in lines.iter_mut().filter(|line| gone.contains(&line.uid)) {
                line.text.clear();
                (line.raw, line.tools) = (None, Value::Null);
            }
        }
    }
}

/// The spill file; each program of a folder has its own. Everything blocks.
#[derive(Debug)]
pub struct Spill {
    /// Base name; a number follows.
    base: PathBuf,
    held: Option<OpenFile>,
}

/// A file locked against other programs.
#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    file: fs::File,
    /// Offset of the next entry.
    read: u64,
    end: u64,
}

/// True if a spill file named after `base` has content.
pub fn waits(base: &Path) -> bool {
    let name = |number| base.with_extension(format!("{number}.jsonl"));
    (0..FILES).any(|number| fs::metadata(name(number)).is_ok_and(|file| file.len() > 0))
}

impl Spill {
    /// Takes over one file left by earlier runs under `base`, with its number of lines.
    pub fn open(base: PathBuf) -> io::Result<(Self, u64)> {
        let mut spill = Self { base, held: None };
        let lines = spill.adopt()?;
        Ok((spill, lines))
    }

    pub const fn is_empty(&self) -> bool {
        self.held.is_none()
    }

    /// Appends an entry durably. If the file or the disk is full, nothing is written. Words that it
    /// withdraws leave the file at once: the store may be away for long.
    pub fn push(&mut self, entry: &Entry) -> io::Result<()> {
        let mut text = serde_json::to_vec(entry)?;
        text.push(b'\n');
        let held = match self.held.take() {
            Some(held) => held,
            None => self.made()?,
        };
        let held = self.held.insert(held);
        let pushed = held.push(&text);
        if held.end == 0 {
            self.held = None;
        }
        pushed?;
        if let Entry::Withdraw(_, gone) = entry
            && let Err(error) = self.erase(|entry| {
                entry.empty(gone);
                0
            })
        {
            // The store still withdraws them.
            tracing::error!(%error, "withdrawn words are still in the spill file");
        }
        Ok(())
    }

    /// The first valid entry, and the offset to [`Self::pass`] when done; `None`: no entry.
    pub fn first(&mut self) -> io::Result<Option<(Entry, u64)>> {
        while let Some(held) = &mut self.held {
            let text = held.line(held.read)?;
            let next = held.read + u64::try_from(text.len()).unwrap_or_default();
            if let Some(entry) = parsed(&text) {
                return Ok(Some((entry, next)));
            }
            self.pass(next)?;
        }
        Ok(None)
    }

    /// Drops everything before `next`. If nothing is left, removes the file and takes over another
    /// program's leftover, if any. Returns the number of lines in that one.
    pub fn pass(&mut self, next: u64) -> io::Result<u64> {
        let Some(held) = &mut self.held else { return Ok(0) };
        held.read = next;
        if held.read < held.end {
            return Ok(0);
        }
        let path = held.path.clone();
        // A program that has just opened it finds it empty.
        held.file.set_len(0)?;
        fs::remove_file(path)?;
        self.held = None;
        self.adopt()
    }

    /// Applies `take_out` to the file's entries; deleted lines are then on no disk. Returns their
    /// number.
    pub fn erase(&mut self, take_out: impl Fn(&mut Entry) -> u64) -> io::Result<u64> {
        self.held.as_mut().map_or(Ok(0), |held| held.erase(take_out))
    }

    /// Takes over the first leftover file and returns its number of lines.
    fn adopt(&mut self) -> io::Result<u64> {
        for number in 0..FILES {
            let path = self.name(number);
            let file = match fs::OpenOptions::new().read(true).write(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // Another program is using it.
            if file.try_lock().is_err() {
                continue;
            }
            let mut held = OpenFile { path, file, read: 0, end: 0 };
            let lines = held.measure()?;
            if held.end > 0 {
                self.held = Some(held);
                return Ok(lines);
            }
        }
        Ok(0)
    }

    /// Creates a file, and its folder, for its owner alone.
    fn made(&self) -> io::Result<OpenFile> {
        if let Some(folder) = self.base.parent() {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder)?;
        }
        for number in 0..FILES {
            let path = self.name(number);
            let mut options = fs::OpenOptions::new();
            options.create(true).truncate(false).read(true).write(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path)?;
            // It is ours if it is empty and still exists once locked.
            if file.try_lock().is_ok() && file.metadata()?.len() == 0 && path.exists() {
                return Ok(OpenFile { path, file, read: 0, end: 0 });
            }
        }
        Err(io::Error::new(io::ErrorKind::StorageFull, "too many spill files"))
    }

    fn name(&self, number: u32) -> PathBuf {
        self.base.with_extension(format!("{number}.jsonl"))
    }
}

impl OpenFile {
    fn push(&mut self, text: &[u8]) -> io::Result<()> {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        if self.end.saturating_add(length) > SPILL_MAX {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the spill file is full"));
        }
        // Cuts off bytes of a crash or a full disk.
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(text)?;
        self.file.sync_data()?;
        self.end += length;
        Ok(())
    }

    fn line(&mut self, at: u64) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut text = Vec::new();
        BufReader::new(&self.file).take(self.end - at).read_until(b'\n', &mut text)?;
        Ok(text)
    }

    /// See [`Spill::erase`]. Overwrites an entry in place and blanks the rest of its line; a crash
    /// meanwhile leaves a broken line, which is skipped.
    fn erase(&mut self, take_out: impl Fn(&mut Entry) -> u64) -> io::Result<u64> {
        let (mut at, mut waited, mut is_changed) = (0, 0, false);
        while at < self.end {
            let text = self.line(at)?;
            let Some(room) = text.len().checked_sub(1) else { break };
            if let Some(mut entry) = parsed(&text) {
                let whole = entry.clone();
                let lines = take_out(&mut entry);
                let mut left = serde_json::to_vec(&entry)?;
                // An entry of another version may be longer in this one's form; it is left.
                if entry != whole && left.len() <= room {
                    left.resize(room, b' ');
                    self.file.seek(SeekFrom::Start(at))?;
                    self.file.write_all(&left)?;
                    is_changed = true;
                    waited += if at < self.read { 0 } else { lines };
                }
            }
            at += u64::try_from(text.len()).unwrap_or_default();
        }
        if is_changed {
            self.file.sync_data()?;
        }
        Ok(waited)
    }

    /// Finds the end of the last whole line; returns the number of lines of talk.
    fn measure(&mut self) -> io::Result<u64> {
        let (mut lines, mut text) = (0, Vec::new());
        let mut file = BufReader::new(&self.file);
        while file.read_until(b'\n', &mut text)? > 0 && text.ends_with(b"\n") {
            self.end += u64::try_from(text.len()).unwrap_or_default();
            lines += parsed(&text).map_or(0, |entry| entry.lines());
            text.clear();
        }
        Ok(lines)
    }
}

fn parsed(text: &[u8]) -> Option<Entry> {
    let mut entry = serde_json::from_slice(text)
        .inspect_err(|error| tracing::warn!(%error, "cannot read an entry of the spill file"))
        .ok()?;
    if let Entry::Lines(_, lines) = &mut entry {
        tell_askers(lines);
    }
    Some(entry)
}

/// Sets `asked` in answers of earlier versions: an answer belongs to the words right before it in
/// its turn. The stores' migrations do so too.
fn tell_askers(lines: &mut [Utterance]) {
    let mut before = None;
    for line in lines {
        let turn = (line.session.clone(), line.turn);
        if let Some(by) = line.speaker_id.clone() {
            before = Some((turn, Asked { by, at: line.at }));
        } else {
            let said = before.take().filter(|(of, _)| *of == turn);
            line.asked = line.asked.take().or(said.map(|(_, asked)| asked));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{CampaignKey, Uid};

    fn entry(n: u64) -> Entry {
        let uid = Uid(format!("u{n}"));
        let line = Utterance { uid, text: "a\nb".to_owned(), ..Utterance::default() };
        Entry::Lines(Scope::local(CampaignKey("c".to_owned())), vec![line.clone(), line])
    }

    fn drained(spill: &mut Spill) -> Vec<Entry> {
        let mut all = Vec::new();
        while let Some((entry, next)) = spill.first().unwrap() {
            all.push(entry);
            spill.pass(next).unwrap();
        }
        all
    }

    fn opened(folder: &tempfile::TempDir) -> (Spill, u64) {
        Spill::open(folder.path().join("data/waiting")).unwrap()
    }

    #[test]
    fn entries_survive_restart_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/waiting.0.jsonl");
        let (mut spill, lines) = opened(&folder);
        assert!(spill.is_empty() && lines == 0 && spill.first().unwrap().is_none());
        let session = Entry::Session(Scope::local(CampaignKey("c".to_owned())), Session::default());
        let all = vec![session, entry(1), entry(2)];
        all.iter().for_each(|entry| spill.push(entry).unwrap());
        let permissions = fs::metadata(&path).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777, 0o600);
        drop(spill);

        let (mut again, lines) = opened(&folder);
        assert_eq!(lines, 4);
        assert_eq!(drained(&mut again), all);
        assert!(!path.exists(), "done with, it goes");
        again.push(&entry(3)).unwrap();
        assert_eq!(drained(&mut again), [entry(3)]);
    }

    #[test]
    fn programs_sharing_folder_keep_spills_apart() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (opened(&folder).0, opened(&folder).0);
        one.push(&entry(1)).unwrap();
        two.push(&entry(2)).unwrap();
        assert!(opened(&folder).0.is_empty(), "both are in use");
        drop((one, two));
        let (mut left, _) = opened(&folder);
        assert_eq!(drained(&mut left), [entry(1), entry(2)]);
        assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 0);
    }

    #[test]
    fn entries_cut_off_by_crash_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/waiting.0.jsonl");
        opened(&folder).0.push(&entry(1)).unwrap();
        let mut text = fs::read(&path).unwrap();
        text.extend(b"nonsense\n{\"lines\":[\"c\",[{\"uid\":\"u2\"");
        fs::write(&path, text).unwrap();
        let (mut spill, _) = opened(&folder);
        spill.push(&entry(3)).unwrap();
        assert_eq!(drained(&mut spill), [entry(1), entry(3)]);
    }

    #[test]
    fn erased_lines_leave_others_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/waiting.0.jsonl");
        let (mut spill, _) = opened(&folder);
        for n in 1..=3 {
            spill.push(&entry(n)).unwrap();
        }
        let (_, next) = spill.first().unwrap().unwrap();
        spill.pass(next).unwrap();
        let length = fs::metadata(&path).unwrap().len();
        let gone = spill.erase(|entry| {
            let Entry::Lines(_, lines) = entry else { return 0 };
            let there = lines.len();
            lines.retain(|line| line.uid.0 == "u3");
            u64::try_from(there - lines.len()).unwrap()
        });
        assert_eq!(gone.unwrap(), 2, "of those that wait");
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("u1") && !text.contains("u2"), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().len(), length);
        let nothing = Entry::Lines(Scope::local(CampaignKey("c".to_owned())), Vec::new());
        assert_eq!(drained(&mut spill), [nothing, entry(3)]);
    }

    #[test]
    fn withdrawn_words_leave_the_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/waiting.0.jsonl");
        let (mut spill, _) = opened(&folder);
        let scope = Scope::local(CampaignKey("c".to_owned()));
        let said = |uid: &str, text: &str, outcome: &str| Utterance {
            uid: Uid(uid.to_owned()),
            text: text.to_owned(),
            raw: Some("s".to_owned()),
            outcome: outcome.to_owned(),
            ..Utterance::default()
        };
        for line in [said("u1", "spiders", ASKED), said("u2", "bread", "spoken")] {
            spill.push(&Entry::Lines(scope.clone(), vec![line])).unwrap();
        }
        spill.push(&Entry::Withdraw(scope.clone(), vec![Uid("u1".to_owned())])).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("spiders") && text.contains("bread"), "{text}");
        let all = drained(&mut spill);
        let [Entry::Lines(_, gone), Entry::Lines(_, stays), Entry::Withdraw(_, uids)] =
            all.as_slice()
        else {
            panic!("{all:?}")
        };
        assert_eq!((&*gone[0].text, &gone[0].raw, &gone[0].uid), ("", &None, &uids[0]));
        assert_eq!(stays[0].text, "bread");
    }

    #[test]
    fn answers_of_earlier_versions_get_their_asker() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/waiting.0.jsonl");
        fs::create_dir(folder.path().join("data")).unwrap();
        let said = |uid: &str, turn: u64, by: &str| {
            format!(r#"{{"uid":"{uid}","session":"s","turn":{turn},"at":{turn}000{by}}}"#)
        };
        let anna = r#","speaker_id":"7""#;
        let lines = [
            said("a", 1, anna),
            said("b", 1, ""),
            said("c", 1, ""),
            said("d", 2, anna),
            said("e", 3, ""),
        ];
        let scope = serde_json::to_string(&Scope::local(CampaignKey("c".to_owned()))).unwrap();
        fs::write(&path, format!("{{\"lines\":[{scope},[{}]]}}\n", lines.join(","))).unwrap();
        let (mut spill, count) = opened(&folder);
        assert_eq!(count, 5);
        let Some((Entry::Lines(_, lines), _)) = spill.first().unwrap() else { panic!("no lines") };
        let asked: Vec<_> = lines.iter().map(|line| line.asked.clone()).collect();
        let by_anna = Some(Asked { by: "7".to_owned(), at: 1_000 });
        assert_eq!(asked, [None, by_anna, None, None, None]);
    }

    #[test]
    fn it_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let (mut spill, _) = opened(&folder);
        spill.push(&entry(1)).unwrap();
        spill.held.as_mut().unwrap().end = SPILL_MAX - 1;
        assert_eq!(spill.push(&entry(2)).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
