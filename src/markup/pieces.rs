//! Mark-up as tags and text, in order, in linear time and memory.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use crate::domain::visible;

/// Most bytes read of a fragment.
const FRAGMENT_MAX: usize = 16 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Open(Tag),
    Close(String),
    /// Text with resolved references.
    Text(String),
    /// Comment, mark-up or not, as browsers end it: also by `--!>`, or by the end of the text.
    Comment(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Lowercase.
    pub name: String,
    /// Browsers do not show the element.
    pub is_hidden: bool,
    /// A secret block of Foundry VTT that is not revealed to players.
    pub is_secret: bool,
    pub is_empty: bool,
}

impl Tag {
    /// True for elements whose text is not part of the page.
    pub fn is_unreadable(&self) -> bool {
        UNREADABLE.contains(&self.name.as_str())
    }
}

const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];
/// Elements whose content is no mark-up, so a slash does not end them.
const RAW: &[&str] =
    &["iframe", "noembed", "noframes", "noscript", "script", "style", "textarea", "title", "xmp"];
/// Elements whose end tag may be omitted.
const OPEN_ENDED: &[&str] = &["dd", "dt", "li", "option", "p", "td", "th", "tr"];
/// Elements that contain those, and end them.
const AROUND: &[&str] = &[
    "article", "body", "div", "dl", "main", "menu", "ol", "section", "select", "table", "tbody",
    "ul",
];
/// Elements whose text is not part of the page.
const UNREADABLE: &[&str] = &[
    "audio", "canvas", "datalist", "iframe", "math", "noembed", "noframes", "noscript", "object",
    "script", "style", "svg", "template", "textarea", "video",
];

/// Elements that begin and end a paragraph.
pub const PARAGRAPH: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "title",
    "tr",
    "ul",
];

pub fn pieces(html: &str) -> impl Iterator<Item = Piece> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).filter_map(|token| match token.ok()? {
        Token::StartTag(tag) => Some(Piece::Open(read(&tag))),
        Token::EndTag(tag) => Some(Piece::Close(lossy(&tag.name))),
        Token::String(text) => Some(Piece::Text(lossy(&text))),
        Token::Comment(text) => Some(Piece::Comment(lossy(&text))),
        Token::Doctype(_) | Token::Error(_) => None,
    })
}

fn read(tag: &StartTag<()>) -> Tag {
    let name = lossy(&tag.name);
    let value = |name: &[u8]| {
        tag.attributes.get(name).map(|value| lossy(value)).unwrap_or_default().to_ascii_lowercase()
    };
    let is_marked =
        tag.attributes.contains_key(b"hidden".as_slice()) || value(b"style").split(';').any(hides);
    let is_secret = is_secret(&value(b"class"), &value(b"data-visibility"));
    // Scripts later show pages that hide themselves.
    let is_hidden = is_marked && !matches!(name.as_str(), "body" | "html");
    let is_raw = RAW.contains(&name.as_str());
    // Browsers ignore the slash of a secret block, so its text would follow unprotected.
    let is_empty = VOID.contains(&name.as_str()) || (tag.self_closing && !is_raw && !is_secret);
    Tag { name, is_hidden, is_secret, is_empty }
}

/// True for secret blocks of Foundry VTT (`class="secret"`, without `revealed`) and of its system pf2e
/// (`data-visibility="gm"` or "owner"); both values are lowercase.
fn is_secret(class: &str, visibility: &str) -> bool {
    let has = |wanted: &str| class.split_whitespace().any(|it| it == wanted);
    (has("secret") && !has("revealed")) || matches!(visibility, "gm" | "owner" | "none")
}

fn hides(declaration: &str) -> bool {
    let declaration: String = declaration.split_whitespace().collect();
    let declaration = declaration.trim_end_matches("!important");
    matches!(declaration, "display:none" | "visibility:hidden")
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Text of a `fragment` on one line, at most `longest` characters, without control, zero-width and
/// bidirectional characters. Also accepts plain text.
pub fn plain_text(fragment: &str, longest: usize) -> String {
    let fragment = &fragment[..fragment.floor_char_boundary(FRAGMENT_MAX)];
    let mut text = String::new();
    let mut skipped = Skipped::default();
    for piece in pieces(fragment) {
        if skipped.takes(&piece, Tag::is_unreadable) {
            continue;
        }
        match piece {
            Piece::Text(part) => text.push_str(&part),
            Piece::Open(Tag { name, .. }) | Piece::Close(name) if !is_within_words(&name) => {
                text.push(' ');
            }
            Piece::Open(_) | Piece::Close(_) | Piece::Comment(_) => {}
        }
    }
    line(&text).chars().take(longest).collect()
}

/// `text` on one line, without invisible characters.
pub fn line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True for elements inside words, whose tags separate none.
fn is_within_words(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "cite"
            | "code"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "mark"
            | "q"
            | "s"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "u"
            | "wbr"
    )
}

/// Tracks an omitted element and everything inside it.
#[derive(Debug, Default)]
pub struct Skipped {
    name: String,
    depth: usize,
    /// Open container elements inside it.
    around: usize,
}

impl Skipped {
    /// True if `piece` belongs to an omitted element; `begins` recognises its start tag.
    pub fn takes(&mut self, piece: &Piece, begins: impl Fn(&Tag) -> bool) -> bool {
        if self.depth > 0 && self.is_ended_by(piece) {
            self.depth = 0;
        }
        if self.depth == 0 {
            let Piece::Open(tag) = piece else { return false };
            if tag.is_empty || !begins(tag) {
                return false;
            }
            self.name.clone_from(&tag.name);
            (self.depth, self.around) = (1, 0);
            return true;
        }
        match piece {
            Piece::Open(tag) if tag.name == self.name && !tag.is_empty => self.depth += 1,
            Piece::Close(name) if *name == self.name => self.depth -= 1,
            Piece::Open(_) | Piece::Close(_) | Piece::Text(_) | Piece::Comment(_) => {}
        }
        true
    }

    /// True if `piece` ends the element although its own end tag is missing.
    fn is_ended_by(&mut self, piece: &Piece) -> bool {
        if !OPEN_ENDED.contains(&self.name.as_str()) {
            return false;
        }
        match piece {
            Piece::Open(tag) if !tag.is_empty && AROUND.contains(&tag.name.as_str()) => {
                self.around += 1;
                false
            }
            Piece::Open(tag) => self.around == 0 && ends(&tag.name, &self.name),
            Piece::Close(name) if AROUND.contains(&name.as_str()) => {
                let is_ended = self.around == 0;
                self.around = self.around.saturating_sub(1);
                is_ended
            }
            Piece::Close(_) | Piece::Text(_) | Piece::Comment(_) => false,
        }
    }
}

/// True if the start tag `next` ends an open element `name` of [`OPEN_ENDED`].
fn ends(next: &str, name: &str) -> bool {
    next == name
        || matches!(
            (next, name),
            ("dd", "dt") | ("dt", "dd") | ("td" | "tr", "th") | ("th" | "tr", "td")
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragment_loses_its_mark_up() {
        let text =
            plain_text("A <strong>dra</strong>gon &amp; its&nbsp;hoard<br>x <3 &lt;b&gt;", 99);
        assert_eq!(text, "A dragon & its hoard x <3 <b>");
        assert_eq!(plain_text("a<script>alert(1)</script>b<style>p{}</style>c", 99), "abc");
        assert_eq!(plain_text("one\u{202e}two\u{0}\u{200b}\nthree", 99), "onetwo three");
        assert_eq!(plain_text("äöü", 2), "äö");
    }

    #[test]
    fn hidden_elements_are_known() {
        let tags = pieces("<p hidden><p style='Display : NONE'><p><br/>");
        let hidden: Vec<bool> = tags
            .filter_map(|it| if let Piece::Open(tag) = it { Some(tag.is_hidden) } else { None })
            .collect();
        assert_eq!(hidden, [true, true, false, false]);
        let is_hidden = |html: &str| match pieces(html).next() {
            Some(Piece::Open(tag)) => tag.is_hidden,
            other => panic!("{html}: {other:?}"),
        };
        for html in [
            "<p style='color:red; visibility:hidden'>",
            "<p style='display: none !important'>",
            "<p HIDDEN=until-found>",
        ] {
            assert!(is_hidden(html), "{html}");
        }
        for html in [
            "<p style='backface-visibility:hidden'>",
            "<p style='background: url(display:none.png)'>",
            "<html hidden>",
            "<body style='visibility:hidden'>",
        ] {
            assert!(!is_hidden(html), "{html}");
        }
    }

    #[test]
    fn secret_blocks_are_known_until_revealed() {
        for (html, is_secret) in [
            ("<section class=secret>", true),
            ("<SECTION id=s CLASS='note Secret'/>", true),
            ("<p data-visibility=gm>", true),
            ("<section class='secret revealed'>", false),
            ("<section class=secretary>", false),
            ("<p data-visibility=all>", false),
        ] {
            let Some(Piece::Open(tag)) = pieces(html).next() else { panic!("{html}") };
            assert_eq!((tag.is_secret, tag.is_empty), (is_secret, false), "{html}");
        }
    }

    #[test]
    fn elements_with_raw_text_are_never_empty() {
        assert_eq!(plain_text("a<script/>b()</script>c<br/>d<div/>e", 99), "ac d e");
    }

    fn shown(html: &str) -> String {
        let mut skipped = Skipped::default();
        let left = pieces(html).filter(|it| !skipped.takes(it, |tag| tag.is_hidden));
        left.filter_map(|it| if let Piece::Text(text) = it { Some(text) } else { None }).collect()
    }

    #[test]
    fn hidden_element_without_its_end_tag_ends() {
        for (html, text) in [
            ("<p hidden>a<p>b", "b"),
            ("<p hidden>a<p hidden>b<p>c", "c"),
            ("<div><p hidden>a</div>b", "b"),
            ("<ul><li hidden>a<li>b</ul>c", "bc"),
            ("<ul><li hidden>a</ul>b", "b"),
            ("<ul><li hidden>a<ul><li>b<li>c</ul>d<li>e</ul>", "e"),
            ("<table><tr hidden><td>a<td>b<tr><td>c</table>d", "cd"),
            ("<tr><td hidden>a<th>b<tr><td>c", "bc"),
            ("<dl><dt hidden>a<dd>b<dt>c</dl>", "bc"),
            ("<select><option hidden>a<option>b</select>", "b"),
            ("<div hidden>a<div>b</div>c<p>d</div>e", "e"),
        ] {
            assert_eq!(shown(html), text, "{html}");
        }
    }

    #[test]
    fn skipped_element_ends_with_its_own_tag() {
        let mut skipped = Skipped::default();
        let nav = |tag: &Tag| tag.name == "nav";
        let left = pieces("a<nav>b<nav>c</nav>d<p>e</nav>f").filter(|it| !skipped.takes(it, nav));
        let text: String = left
            .filter_map(|it| if let Piece::Text(text) = it { Some(text) } else { None })
            .collect();
        assert_eq!(text, "af");
    }
}
