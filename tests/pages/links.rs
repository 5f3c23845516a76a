//! Targets of links in the pages: the file is there, and the heading in it.

use std::path::{Component, Path, PathBuf};

use super::{Page, markdown, pages};
use crate::house::rust_files;
use crate::support::program::{repository, shipped};

/// Everything in Markdown that leads somewhere.
fn all() -> Vec<Page> {
    let mut names: Vec<String> = markdown(".").iter().map(|name| name[2..].to_owned()).collect();
    names.extend(markdown("docs"));
    names.extend(markdown("benches"));
    names.into_iter().map(|name| Page { text: shipped(&name), name }).collect()
}

/// Targets of links, except those on the web.
fn targets(page: &Page) -> Vec<String> {
    let prose = page.prose();
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// The names of a page's headings in addresses, as GitHub makes them.
fn headings(page: &Page) -> Vec<String> {
    let prose = page.prose();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    headings.map(|text| text.chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

/// A path from the top of the repository, of what `page` calls `path`.
fn from_the_top(page: &Page, path: &str) -> PathBuf {
    let folder = Path::new(&page.name).parent().unwrap_or(Path::new(""));
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => assert!(whole.pop(), "{}: {path}", page.name),
            part => whole.push(part),
        }
    }
    whole
}

#[test]
fn links_lead_somewhere() {
    let (all, mut followed, mut broken) = (all(), 0, Vec::new());
    for page in &all {
        for target in targets(page) {
            followed += 1;
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            let file = match path {
                "" => PathBuf::from(&page.name),
                path => from_the_top(page, path),
            };
            let other = all.iter().find(|other| Path::new(&other.name) == file);
            let there = heading.is_empty()
                || other.is_some_and(|other| headings(other).iter().any(|it| it == heading));
            if !repository(&file.display().to_string()).exists() || !there {
                broken.push(format!("{}: {target}", page.name));
            }
        }
    }
    assert!(followed >= 25, "{followed}");
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The README leads to the index, and the index to every page.
#[test]
fn index_leads_to_every_page() {
    let (pages, index) = (pages(), "docs/README.md");
    assert!(targets(&pages[0]).iter().any(|target| target == index), "README.md lacks {index}");
    let index = pages.iter().find(|page| page.name == index).expect("the index");
    let listed = targets(index);
    for page in pages[1..].iter().filter(|page| page.name != index.name) {
        let name = page.name.trim_start_matches("docs/");
        assert!(listed.iter().any(|target| target == name), "{} lacks {name}", index.name);
    }
}

/// Settings, messages and comments name pages that are there.
#[test]
fn pages_are_named_as_they_are() {
    let mut files: Vec<PathBuf> =
        ["src", "tests"].map(PathBuf::from).iter().flat_map(|it| rust_files(it)).collect();
    files.extend(["glyphoxa.yaml", "dev", "compose.yaml", "Containerfile"].map(PathBuf::from));
    let pages = pages();
    let mut named = 0;
    for file in files {
        let text = shipped(&file.display().to_string());
        for rest in text.split("docs/").skip(1) {
            let name: String =
                rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            if !name.is_empty() && rest[name.len()..].starts_with(".md") {
                let name = format!("docs/{name}.md");
                assert!(pages.iter().any(|page| page.name == name), "{}: {name}", file.display());
                named += 1;
            }
        }
    }
    assert!(named >= 4, "{named}");
}
