//! A note's text parted into what everyone may read and what is the game master's: callouts with the lines
//! that lazily go on with them, sections below headings, and labelled lines with what belongs to them. In
//! doubt a line is the game master's.
//!
//! Entry function: [`split`]. Linear in the length of the text.

use super::{
    inline::{Label, Plain, cut, label, plain, tags, without_emphasis},
    lines::{NoteLine, lines, quote},
    words::{is_secret, is_secret_title},
};

/// Most blocks of a note; the rest is added to the last.
const BLOCKS_MAX: usize = 200;
/// Longest line that can be a heading without a mark, in bytes.
const BARE_MAX: usize = 40;
/// Longest heading, in bytes.
const HEADING_MAX: usize = 200;

#[derive(Debug, Default)]
pub struct Parts {
    pub open: Vec<Block>,
    pub secrets: Vec<Block>,
    /// Its first heading, if nothing is above it.
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub links: Vec<Link>,
    /// Embedded pictures, recordings and notes.
    pub embeds: usize,
    pub addresses: usize,
    pub blocks: usize,
}

/// Lines below a heading, or of a secret.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Headings above it, the outermost first; or the mark of the secret.
    pub headings: Vec<String>,
    /// Lines by `\n`.
    pub text: String,
}

/// A link to another note.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    pub to: String,
    pub kind: Option<String>,
}

/// Parts of `body`, whose lines end with `\n`.
pub fn split(body: &str) -> Parts {
    let read = lines(body);
    let mut splitter = Splitter::default();
    splitter.parts.blocks = read.blocks;
    for (at, line) in read.lines.iter().enumerate() {
        match line {
            NoteLine::Text(text) => {
                let below = match read.lines.get(at + 1) {
                    Some(NoteLine::Text(text)) => text.as_str(),
                    _ => "",
                };
                splitter.text(text, below);
            }
            NoteLine::Code(text) => splitter.code(text),
            NoteLine::Secret(kind, text) => splitter.secret(kind, &plain(text).text),
        }
    }
    splitter.parts
}

#[derive(Default)]
struct Splitter {
    parts: Parts,
    /// Open headings with their levels.
    headings: Vec<(usize, String)>,
    section: Option<Section>,
    /// Labels above that are, the outermost first.
    labelled: Vec<Labelled>,
    /// Quotes that are open; the mark of those that are the game master's.
    quotes: Vec<Option<String>>,
    /// This line ends a paragraph, and the line before did.
    is_blank: bool,
    was_blank: bool,
}

struct Section {
    level: usize,
    name: String,
    /// Written with a line below it instead of `#`.
    is_underlined: bool,
}

struct Labelled {
    name: String,
    indent: usize,
    until: Until,
    /// Written in bold, and with a colon.
    style: (bool, bool),
}

/// The end of the lines below a label.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    /// An empty line.
    Blank,
    Outdent,
    Label,
}

impl Splitter {
    /// A line of Markdown, and the one below it.
    fn text(&mut self, line: &str, below: &str) {
        let (depth, inside) = quote(line, usize::MAX);
        let heading = heading(inside);
        self.requote(depth, inside, heading.is_some());
        if self.is_blank {
            self.blank();
            return;
        }
        if let Some((kind, title)) = callout(inside) {
            let marked = [kind, title].into_iter().find(|it| is_secret(it));
            self.mark_quote(depth, marked);
            if !title.is_empty() {
                self.content(title);
            }
            return;
        }
        if is_rule(inside) {
            self.labelled.clear();
            return;
        }
        match heading {
            Some((level, name)) if depth == 0 => self.heading(level, name, false),
            Some((_, name)) => {
                self.mark_quote(depth, is_secret(name).then_some(name));
                self.content(name);
            }
            None if depth == 0 && is_secret(inside) && underlined(below).is_some() => {
                self.heading(underlined(below).unwrap_or(2), inside.trim(), true);
            }
            None => self.line(inside, below),
        }
    }

    /// Opens and closes quotes. A line that is not quoted deep enough goes on with the paragraph above.
    fn requote(&mut self, depth: usize, inside: &str, is_heading: bool) {
        (self.was_blank, self.is_blank) = (self.is_blank, inside.trim().is_empty());
        let is_lazy = !self.was_blank && !self.is_blank && !is_heading && !is_rule(inside);
        let goes_on = is_lazy && self.quotes.iter().any(Option::is_some);
        if depth < self.quotes.len() && !goes_on {
            self.quotes.truncate(depth);
        }
        // Bounds the cost of a line of marks alone; no real note is deeper.
        self.quotes.resize_with(self.quotes.len().max(depth.min(32)), || None);
    }

    /// Marks the innermost quote until it ends.
    fn mark_quote(&mut self, depth: usize, mark: Option<&str>) {
        let depth = depth.clamp(1, 32);
        self.quotes.resize_with(self.quotes.len().max(depth), || None);
        if let (Some(mark), Some(quote)) = (mark, self.quotes.get_mut(depth - 1)) {
            quote.get_or_insert_with(|| format!("callout '{}'", cut(mark, BARE_MAX).trim()));
        }
    }

    fn blank(&mut self) {
        self.labelled.retain(|it| it.until != Until::Blank);
        if self.mark().is_none()
            && let Some(block) = self.parts.open.last_mut()
            && !block.text.is_empty()
            && !block.text.ends_with("\n\n")
        {
            block.text.push('\n');
        }
    }

    fn heading(&mut self, level: usize, name: &str, is_underlined: bool) {
        let found = plain(name);
        let words = cut(&found.text, HEADING_MAX).split_whitespace().collect::<Vec<_>>().join(" ");
        self.labelled.clear();
        self.parts.embeds += found.embeds;
        // A line of '-' below text may make a heading by mistake, so it ends only sections that began with
        // one.
        let is_meant = !is_underlined || level == 1;
        _ = self.section.take_if(|it| level <= it.level && (is_meant || it.is_underlined));
        let is_first = level == 1 && self.parts.title.is_none() && self.parts.open.is_empty();
        let is_marked = if is_first { is_secret_title(&words) } else { is_secret(&words) };
        self.headings.retain(|(above, _)| *above < level);
        if is_marked && self.section.is_none() {
            self.section = Some(Section { level, name: words.clone(), is_underlined });
        }
        if is_first && self.section.is_none() && !words.is_empty() {
            self.parts.title = Some(words);
        } else {
            self.headings.push((level, words));
        }
    }

    /// A line that is neither heading nor rule.
    fn line(&mut self, inside: &str, below: &str) {
        let (item, text) = item(inside);
        let indent = indent(inside);
        let was_blank = self.was_blank;
        self.labelled
            .retain(|it| it.until != Until::Outdent || indent > it.indent || !(item || was_blank));
        let label = label(text);
        // A tag marks its own line, or the note.
        let is_bare = text.len() <= BARE_MAX && is_secret_title(text) && !tags(text).any(is_secret);
        let name = label.as_ref().map(|it| it.name.as_str()).filter(|name| is_secret(name));
        let is_alone = label.as_ref().is_none_or(|it| it.value.is_empty());
        if name.is_some() || is_bare {
            let until = match (item, is_alone) {
                (true, _) => Until::Outdent,
                (false, true) => Until::Label,
                (false, false) => Until::Blank,
            };
            let is_new =
                until == Until::Outdent || self.labelled.iter().all(|it| it.until != until);
            let name = name.unwrap_or(text).to_owned();
            let style = label.as_ref().map_or((false, false), style);
            self.labelled.extend(is_new.then_some(Labelled { name, indent, until, style }));
        } else if let Some(label) = label.as_ref().filter(|_| is_alone && !item) {
            self.labelled.retain(|it| it.until != Until::Label || it.style != style(label));
        }
        let is_underlined = self.section.as_ref().map(|it| it.is_underlined);
        let may_end = |level: &usize| {
            let is_meant = is_underlined.is_some_and(|it| it || *level == 1);
            is_meant && self.was_blank && !item
        };
        if let Some(level) = underlined(below).filter(may_end) {
            self.heading(level, text, true);
            return;
        }
        let kind = label.filter(|it| it.has_colon).map(|it| it.name);
        self.tagged(inside, text, kind);
    }

    /// A line with its tags; those of a secret do not count.
    fn tagged(&mut self, inside: &str, text: &str, kind: Option<String>) {
        let is_own = tags(text).any(is_secret) || has_secret_field(text);
        let only_tags = text.split_whitespace().all(|it| it.starts_with('#'));
        if only_tags && self.mark().is_none() {
            self.parts.tags.extend(tags(text).map(str::to_owned));
        } else if is_own && self.mark().is_none() {
            self.secret("marked line", text);
        } else {
            self.content_of(inside, kind);
        }
    }

    fn code(&mut self, line: &str) {
        let (depth, inside) = quote(line, self.quotes.len());
        self.requote(depth, inside, false);
        match self.mark() {
            Some(mark) => self.secret(&mark, inside),
            None => self.open(inside),
        }
    }

    fn content(&mut self, text: &str) {
        self.content_of(text, None);
    }

    /// A line of the open text, or of the secret that goes on.
    fn content_of(&mut self, text: &str, kind: Option<String>) {
        if is_separator(text) {
            return;
        }
        let Plain { text, secret, links, embeds, addresses } = plain(text);
        self.parts.embeds += embeds;
        self.parts.addresses += addresses;
        if !secret.is_empty() {
            self.secret("hidden element", &secret);
        }
        if let Some(mark) = self.mark() {
            self.secret(&mark, &text);
            return;
        }
        self.parts.links.extend(links.into_iter().map(|to| Link { to, kind: kind.clone() }));
        self.open(&text);
    }

    fn open(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let headings: Vec<String> = self.headings.iter().map(|(_, name)| name.clone()).collect();
        add(&mut self.parts.open, headings, text.trim_end());
    }

    fn secret(&mut self, mark: &str, text: &str) {
        let text = text.trim_matches([' ', '\t', '>']);
        if !text.is_empty() {
            add(&mut self.parts.secrets, vec![without_emphasis(mark)], text);
        }
    }

    /// The mark that makes the next line the game master's.
    fn mark(&self) -> Option<String> {
        let quoted = self.quotes.iter().flatten().next().cloned();
        let labelled = || self.labelled.first().map(|it| it.name.clone());
        quoted.or_else(labelled).or_else(|| self.section.as_ref().map(|it| it.name.clone()))
    }
}

const fn style(label: &Label<'_>) -> (bool, bool) {
    (label.is_bold, label.has_colon)
}

/// Adds a line to the last block, or to a new one if that has other headings.
fn add(blocks: &mut Vec<Block>, headings: Vec<String>, text: &str) {
    let is_full = blocks.len() >= BLOCKS_MAX;
    match blocks.last_mut() {
        Some(block) if is_full || block.headings == headings => {
            block.text.push_str(if block.text.is_empty() { "" } else { "\n" });
            block.text.push_str(text);
        }
        _ => blocks.push(Block { headings, text: text.to_owned() }),
    }
}

/// Level and name of a heading. Obsidian wants a blank after `#`; a mark of the game master's counts
/// without.
fn heading(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim_start_matches(' ');
    let name = bare.trim_start_matches('#');
    let level = bare.len() - name.len();
    let is_spaced = name.is_empty() || name.starts_with([' ', '\t']);
    let is_meant = is_spaced || (level >= 2 && is_secret(name));
    let is_heading = (1..=6).contains(&level) && line.len() - bare.len() <= 3 && is_meant;
    is_heading.then(|| (level, name.trim().trim_end_matches('#').trim_end()))
}

/// Level of the heading that a line of `=` or `-` below makes.
fn underlined(below: &str) -> Option<usize> {
    let bare = below.trim();
    match bare.chars().next()? {
        '=' if bare.chars().all(|c| c == '=') => Some(1),
        '-' if bare.len() >= 2 && bare.chars().all(|c| c == '-') => Some(2),
        _ => None,
    }
}

/// A rule between texts, or the line below a heading.
fn is_rule(line: &str) -> bool {
    let bare: String = line.split_whitespace().collect();
    let all = |mark: char| bare.chars().all(|c| c == mark);
    (bare.len() >= 3 && ['-', '*', '_'].into_iter().any(all)) || underlined(line).is_some()
}

fn callout(inside: &str) -> Option<(&str, &str)> {
    let (kind, title) = inside.trim_start().strip_prefix("[!")?.split_once(']')?;
    Some((kind, title.trim_start_matches(['+', '-']).trim()))
}

/// The line between a table's head and its rows.
fn is_separator(line: &str) -> bool {
    let bare = line.trim();
    bare.contains('|') && bare.contains('-') && bare.chars().all(|c| "|-: ".contains(c))
}

/// True if `line` is an entry of a list, and its text without the mark.
fn item(line: &str) -> (bool, &str) {
    let bare = line.trim();
    let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if number.len() < bare.len() {
        number.strip_prefix(". ").or_else(|| number.strip_prefix(") "))
    } else {
        ["- ", "* ", "+ "].into_iter().find_map(|mark| bare.strip_prefix(mark))
    };
    let Some(rest) = rest else { return (false, bare) };
    let rest = rest.trim_start();
    let task =
        rest.strip_prefix('[').and_then(|it| it.get(1..)).and_then(|it| it.strip_prefix("] "));
    (true, task.unwrap_or(rest))
}

fn indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// A field such as `[secret:: x]` within a sentence.
fn has_secret_field(text: &str) -> bool {
    text.match_indices("::").any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let begin = before.floor_char_boundary(before.len().saturating_sub(BARE_MAX));
        let key = before.get(begin..).unwrap_or_default();
        is_secret(key.rsplit(['[', '(']).next().unwrap_or(key))
    })
}

/// [`label`] of a line, its list's mark apart.
pub fn line_label(line: &str) -> Option<Label<'_>> {
    label(item(line).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(body: &str) -> (String, String) {
        let parts = split(body);
        let text = |blocks: &[Block]| {
            let texts = blocks.iter().map(|it| it.text.trim_end());
            texts.collect::<Vec<_>>().join("|")
        };
        (text(&parts.open), text(&parts.secrets))
    }

    #[track_caller]
    fn check(body: &str, open: &str, secret: &str) {
        assert_eq!(parted(body), (open.to_owned(), secret.to_owned()), "{body}");
    }

    #[test]
    fn callouts_keep_their_lazy_lines() {
        check("> [!secret]- Plot\n> b\nc\n\na", "a", "Plot\nb\nc");
        check("> [!dm]+\n> b\n>\n> c\n\na", "a", "b\nc");
        check("> [!info] x\n> a\n> > [!DM-only]\n> > b\n> c\n>\n> d", "x\na\n\nd", "b\nc");
        check("> [!secret]\n> b\n> [!info]\n> c\n\n> [!info]\n> a", "a", "b\nc");
        check("> [!secret]\n> b\n## Day\na", "a", "b");
        check("> [!note] GM only\n> b\n- c\n\na", "a", "GM only\nb\n- c");
        check("[!secret] b\nc\n\na", "a", "b\nc");
    }

    #[test]
    fn headings_end_at_their_own_level() {
        check("## GM Notes\nb\n### Day\nc\n## Now\na", "a", "b\nc");
        check("## Geheimnisse\nb\n# Now\na", "a", "b");
        check("GM Notes\n---\nb\nc\n---\nd", "", "b\nc\nd");
        check("GM Notes\n---\nb\n\nNow\n---\na", "a", "b");
        check("## GM Notes\nb\n\nNow\n===\na\n## Day\nc", "a|c", "b");
        check("## GM Notes\nb\n\nc\n---\nd", "", "b\nc\nd");
        check("# Holya\na\n##DM only\nb\nc\n---\nd\n## Now\ne", "a|e", "b\nc\nd");
        check("# The Secret Garden\na\n## Secret Door\nb", "a", "b");
        check("# Secrets\nb\n## Day\nc", "", "b\nc");
        check("> ## DM notes\n> b\n\na", "a", "DM notes\nb");
    }

    #[test]
    fn labelled_lines_take_what_belongs_to_them() {
        check("- **Secret**: b\n  - c\n- a", "- a", "- Secret: b\n- c");
        check("**GM Notes:** b\nc\n\na", "a", "GM Notes: b\nc");
        check("**GM Notes**\n\n- b\n\n- c\n\n**Home**\na", "Home\na", "GM Notes\n- b\n- c");
        check("- dm_notes:: b\n- a", "- a", "- dm_notes:: b");
        let inner = "**GM Notes**\n- **Secret**: b\n- c\n\n## Now\na";
        check(inner, "a", "GM Notes\n- Secret: b\n- c");
        check("SL: b\n- **Secret**: c\n- d\n\na", "a", "SL: b\n- Secret: c\n- d");
        check("She is kind (secret:: b).\n\na", "a", "She is kind (secret:: b).");
        check("b #dm-only\na", "a", "b #dm-only");
    }

    #[test]
    fn title_tags_and_links_are_found() {
        let parts = split("#npc #town/mire\n# Holya\nHome:: [[Inn]]\n\n> [!dm]\n> [[Cult]]\n");
        assert_eq!(parts.title.as_deref(), Some("Holya"));
        assert_eq!(parts.tags, ["npc", "town/mire"]);
        let kind = Some("Home".to_owned());
        assert_eq!(parts.links, [Link { to: "Inn".to_owned(), kind }]);
    }
}
