//! Mark-up as text to read: paragraphs, lines of lists and rows of tables, and apart from it what only the
//! game master reads.

use super::pieces::{PARAGRAPH, Piece, Skipped, Tag, line, pieces};

/// Text of a piece of mark-up, without control and bidirectional characters. Paragraphs have an empty
/// line between them, entries of lists and rows of tables a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    pub open: String,
    pub secret: String,
    /// Texts of comments, which browsers do not show.
    pub comments: String,
}

/// The text of `html`. Scripts and styles are dropped; text without any tag keeps its lines.
pub fn prose(html: &str) -> Prose {
    let (mut open, mut secret) = (Lines::default(), Lines::default());
    let mut comments = Lines::default();
    let (mut unreadable, mut kept) = (Skipped::default(), Skipped::default());
    let has_lines = !html.contains('<');
    for piece in pieces(html) {
        if unreadable.takes(&piece, Tag::is_unreadable) {
            continue;
        }
        let is_secret = kept.takes(&piece, |tag| tag.is_secret || tag.is_hidden);
        if !is_secret {
            secret.end_line();
        }
        let lines = if is_secret { &mut secret } else { &mut open };
        if let Piece::Comment(text) = &piece {
            comments.paragraph(&comment(text));
        } else {
            lines.piece(&piece, has_lines);
        }
    }
    Prose { open: open.end(), secret: secret.end(), comments: comments.end() }
}

/// Starts of comments that editors write for themselves.
const SETTINGS: &[&str] =
    &["[if", "[endif", "<![endif", "StartFragment", "EndFragment", "wp:", "/wp:"];

/// The text of a comment, which may be commented-out mark-up.
fn comment(text: &str) -> String {
    if SETTINGS.iter().any(|begin| text.trim_start().starts_with(begin)) {
        return String::new();
    }
    let (mut lines, mut unreadable) = (Lines::default(), Skipped::default());
    let has_lines = !text.contains('<');
    // Comments do not nest: another start inside is no mark.
    for piece in pieces(&text.replace("<!--", " ")) {
        if !unreadable.takes(&piece, Tag::is_unreadable) {
            lines.piece(&piece, has_lines);
        }
    }
    lines.end()
}

/// Elements of a list.
const LISTS: &[&str] = &["dl", "menu", "ol", "ul"];
/// Elements that end a line, not a paragraph.
const LINE: &[&str] = &["br", "dd", "dt", "li", "option", "tbody", "tfoot", "thead", "tr"];

/// Lines written so far. Depths are counted, so that unclosed elements affect only the lines' ends.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    line: String,
    /// An empty line goes before it.
    is_paragraph: bool,
    /// It is the first of a list's entry.
    is_entry: bool,
    lists: usize,
    /// The line is a table's cell, in which nothing ends it.
    in_cell: bool,
}

impl Lines {
    /// Adds anything but a comment. `has_lines`: line ends in texts count.
    fn piece(&mut self, piece: &Piece, has_lines: bool) {
        match piece {
            Piece::Text(text) if has_lines => self.plain(text),
            Piece::Text(text) => self.text(text),
            Piece::Open(tag) => self.open(tag),
            Piece::Close(name) => self.close(name),
            Piece::Comment(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.line.push_str(text);
    }

    /// Text whose line ends count.
    fn plain(&mut self, text: &str) {
        for (at, part) in text.split('\n').enumerate() {
            if at > 0 {
                self.is_paragraph |= self.line.trim().is_empty();
                self.end_line();
            }
            self.line.push_str(part);
        }
    }

    /// Adds lines of `text` as a paragraph of their own.
    fn paragraph(&mut self, text: &str) {
        self.end_line();
        self.is_paragraph = true;
        self.plain(text);
        self.end_line();
    }

    fn open(&mut self, tag: &Tag) {
        self.part(&tag.name);
        match tag.name.as_str() {
            "li" => self.is_entry = !self.in_cell,
            "td" | "th" => {
                self.line.push(' ');
                self.in_cell = true;
            }
            name if LISTS.contains(&name) => self.lists += 1,
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if LISTS.contains(&name) {
            self.lists = self.lists.saturating_sub(1);
        }
        if matches!(name, "td" | "th") {
            self.in_cell = false;
        }
        self.part(name);
    }

    /// Ends the line where `name` does so.
    fn part(&mut self, name: &str) {
        if matches!(name, "table" | "tbody" | "thead" | "tfoot" | "tr") {
            self.in_cell = false;
        }
        if !PARAGRAPH.contains(&name) {
            return;
        }
        if self.in_cell {
            self.line.push(' ');
            return;
        }
        self.end_line();
        self.is_paragraph |= self.lists == 0 && !LINE.contains(&name);
    }

    fn end_line(&mut self) {
        let text = line(&std::mem::take(&mut self.line));
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str(if self.is_paragraph { "\n\n" } else { "\n" });
        }
        if self.is_entry {
            self.text.push_str("- ");
        }
        self.text.push_str(&text);
        (self.is_paragraph, self.is_entry) = (false, false);
    }

    fn end(mut self) -> String {
        self.end_line();
        self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn open(html: &str) -> String {
        prose(html).open
    }

    #[test]
    fn paragraphs_lists_and_rows_are_kept_apart() {
        let html = "<h2>Mill</h2>\n<p>An <b>old</b>\nmill&nbsp;&amp; pond.<br>It turns.</p><ul><li><p>\
                    Wheel</p></li><li>Stone<ul><li>Grey</ul></ul><p>End.</p><table><tr><th>Who</th><th>\
                    Age</th></tr><tr><td><p>Ann</p></td><td><p>40</p></td></tr></table>";
        assert_eq!(
            open(html),
            "Mill\n\nAn old mill & pond.\nIt turns.\n\n- Wheel\n- Stone\n- Grey\n\nEnd.\n\nWho Age\n\
             Ann 40"
        );
    }

    #[test]
    fn secret_blocks_and_hidden_text_are_apart() {
        let html = "<p>Open.</p><section class=\"secret\" id=\"a\"><p>Thief.</p><section>Liar.</section>\
                    </section><p>He <i class=secret>lies</i> here.</p><p hidden>Unseen.</p><!-- note --><p>Also open.</p><script>x</script>\
                    <section class='secret revealed'>Known.</section><section class=secret />Never ended.";
        let prose = prose(html);
        assert_eq!(prose.open, "Open.\n\nHe here.\n\nAlso open.\n\nKnown.");
        assert_eq!(prose.secret, "Thief.\n\nLiar.\n\nlies\n\nUnseen.\n\nNever ended.");
    }

    #[test]
    fn comments_are_apart() {
        let html = "<p>Open <!-- gm: he\nlies -->word.</p><!-- > Thief. --!><i>Seen.</i>\
                    <!--[if gte mso 9]><xml>x</xml><![endif]--><!--StartFragment-->\
                    <template><!-- x --></template><section class=secret>Kept<!-- apart --></section>\
                    <!-- <p>Cut <!-- out</p><p>whole</p> <script>x</script>--><!-- unclosed";
        let prose = prose(html);
        assert_eq!(prose.open, "Open word.\n\nSeen.");
        assert_eq!(prose.secret, "Kept");
        assert_eq!(
            prose.comments,
            "gm: he\nlies\n\n> Thief.\n\napart\n\nCut out\n\nwhole\n\nunclosed"
        );
        let nested = "<!-- ".repeat(10_000);
        assert_eq!(super::prose(&nested), Prose::default());
    }

    #[test]
    fn text_without_tags_keeps_its_lines() {
        assert_eq!(open("One.\r\nTwo &amp; three.\n\n\nFour."), "One.\nTwo & three.\n\nFour.");
        assert_eq!(open("a\u{202e}b\u{0}"), "ab");
        assert_eq!(prose(""), Prose::default());
    }

    #[test]
    fn deep_nesting_is_read_flat() {
        let html = format!("a{}b", "<ul><li><section class=secret>".repeat(20_000));
        let (open, secret) = ("a".to_owned(), "- b".to_owned());
        assert_eq!(prose(&html), Prose { open, secret, comments: String::new() });
    }

    proptest! {
        #[test]
        fn any_text_is_read(html in r#"(\PC|<(p|li|section class="secret"|td|!--)>|</(p|section)>){0,40}"#) {
            let Prose { open, secret, .. } = prose(&html);
            let is_clean = !open.contains('\u{202e}') && !secret.starts_with('\n');
            prop_assert!(is_clean);
        }
    }
}
