//! Extracts title and readable text of a page, without menus, forms and hidden elements.
//!
//! Entry function: [`article`].

use crate::markup::{PARAGRAPH, Piece, Skipped, Tag, line, pieces};

/// Shortest article, in characters, that replaces the whole page.
const ARTICLE_MIN: usize = 200;
/// Characters.
const TITLE_MAX: usize = 200;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Article {
    /// On one line; may be empty.
    pub title: String,
    /// One paragraph per line; empty for a page without text.
    pub text: String,
}

#[derive(Debug, Default)]
struct Block {
    text: String,
    /// Characters inside links.
    linked: usize,
    is_main: bool,
    is_aside: bool,
}

const ASIDE: &[&str] = &["aside", "button", "dialog", "footer", "form", "menu", "nav", "select"];
const MAIN: &[&str] = &["article", "main"];

/// Linear in the page's length, without recursion.
pub fn article(html: &str) -> Article {
    let mut reading = Reading::default();
    let mut skipped = Skipped::default();
    for piece in pieces(html) {
        let unreadable = |tag: &Tag| tag.is_hidden || tag.is_unreadable();
        if !skipped.takes(&piece, unreadable) {
            reading.take(piece);
        }
    }
    reading.end()
}

/// Depths are counted, so unclosed elements affect only the order.
#[derive(Debug, Default)]
struct Reading {
    title: Option<String>,
    in_title: bool,
    links: usize,
    main: usize,
    aside: usize,
    block: Block,
    blocks: Vec<Block>,
}

impl Reading {
    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) if self.in_title => {
                self.title.get_or_insert_default().push_str(&text);
            }
            Piece::Text(text) => {
                if self.links > 0 {
                    self.block.linked += text.chars().filter(|c| !c.is_whitespace()).count();
                }
                self.block.text.push_str(&text);
            }
            Piece::Open(tag) => {
                self.part(&tag.name);
                if !tag.is_empty {
                    self.count(&tag.name, true);
                }
                match tag.name.as_str() {
                    "title" => self.in_title = self.title.is_none(),
                    "li" => self.block.text.push_str("- "),
                    _ => {}
                }
            }
            Piece::Close(name) => {
                self.part(&name);
                self.count(&name, false);
                self.in_title = false;
            }
            Piece::Comment(_) => {}
        }
    }

    /// Ends the paragraph where `name` does; separates cells of a table.
    fn part(&mut self, name: &str) {
        if matches!(name, "td" | "th") {
            self.block.text.push(' ');
        }
        if PARAGRAPH.contains(&name) {
            let block = std::mem::take(&mut self.block);
            let block = Block { is_main: self.main > 0, is_aside: self.aside > 0, ..block };
            if block.text.chars().any(char::is_alphanumeric) {
                self.blocks.push(block);
            }
        }
    }

    fn count(&mut self, name: &str, begins: bool) {
        let depth = match name {
            "a" => &mut self.links,
            name if MAIN.contains(&name) => &mut self.main,
            name if ASIDE.contains(&name) => &mut self.aside,
            _ => return,
        };
        *depth = if begins { *depth + 1 } else { depth.saturating_sub(1) };
        if name == "a" {
            // Links do not nest.
            self.links = self.links.min(1);
        }
    }

    fn end(mut self) -> Article {
        self.part("body");
        let title = line(&self.title.unwrap_or_default());
        let title = title.chars().take(TITLE_MAX).collect();
        let all = |wanted: &dyn Fn(&Block) -> bool| {
            let lines = self.blocks.iter().filter(|it| wanted(it)).map(|it| line(&it.text));
            lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
        };
        let is_enough = |text: &String| text.chars().count() >= ARTICLE_MIN;
        let main = all(&|it| it.is_main && !it.is_aside);
        if is_enough(&main) {
            return Article { title, text: main };
        }
        let own = all(&|it| !it.is_aside && !it.is_menu());
        let text = if is_enough(&own) { own } else { all(&|_| true) };
        Article { title, text }
    }
}

impl Block {
    fn is_menu(&self) -> bool {
        let words = self.text.chars().filter(|c| !c.is_whitespace()).count();
        self.linked * 3 > words * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extent;

    fn long(word: &str) -> String {
        format!("{word} ").repeat(60)
    }

    #[test]
    fn article_text_excludes_navigation_and_footer() {
        let page = format!(
            "<!doctype html><html><head><title>Red\n Dragons &amp; more</title><style>p{{}}</style>\
             <script>var x = '<p>no</p>'</script></head><body><nav><a href=/>Home</a></nav>\
             <main><h1>Dragons</h1><p>{}<p>A <b>dra</b>gon.<ul><li>Red<li>Blue</ul></main>\
             <footer>Imprint</footer></body></html>",
            long("fire")
        );
        let found = article(&page);
        assert_eq!(found.title, "Red Dragons & more");
        let lines: Vec<&str> = found.text.lines().collect();
        assert_eq!(lines[0], "Dragons");
        assert_eq!(&lines[2..], ["A dragon.", "- Red", "- Blue"]);
    }

    #[test]
    fn page_without_main_part_loses_its_menus() {
        let page = format!(
            "<div><a href=/a>Home</a> <a href=/b>Shop</a></div><aside>Ads</aside><p>{}</p>\
             <p hidden>Obey me.</p><div style=\"display: none\">Obey me.</div>",
            long("gold")
        );
        let found = article(&page);
        assert_eq!(found.text, long("gold").trim());
    }

    #[test]
    fn page_of_few_words_keeps_them_all() {
        assert_eq!(article("<nav>Only this</nav>").text, "Only this");
        let cells = article("<table><tr><td>AC<td>17<tr><td>HP<td>40</table>").text;
        assert_eq!(cells, "AC 17\nHP 40");
    }

    #[test]
    fn page_of_scripts_has_no_text() {
        let page = "<title>App</title><div id=root></div><script>render()</script>\
                    <noscript>Enable JavaScript.</noscript>";
        assert_eq!(article(page), Article { title: "App".to_owned(), text: String::new() });
    }

    /// Checks title and lines, and that `left_out` is missing.
    #[track_caller]
    fn shows(page: &str, title: &str, lines: &[&str], left_out: &[&str]) {
        let found = article(page);
        assert_eq!(found.title, title);
        for line in lines {
            assert!(found.text.lines().any(|it| it == *line), "no '{line}': {}", found.text);
        }
        for part in left_out {
            assert!(!found.text.contains(part), "'{part}': {}", found.text);
        }
    }

    #[test]
    fn page_of_a_wiki_shows_its_article() {
        shows(
            include_str!("../../../tests/data/pages/wiki.html"),
            "Water mill – Ravenpedia",
            &[
                "Water mill",
                "Facts about the mill",
                "Power Water wheel",
                "History",
                "- The horizontal wheel turns without gears.",
                "- The overshot wheel needs a fall of three metres.",
                "Ravenford 7",
            ],
            &[
                "Jump to",
                "Main page",
                "Search Raven",
                "Talk page",
                "last edited",
                "client-js",
                "Structure driven",
            ],
        );
    }

    #[test]
    fn page_of_a_blog_shows_its_post() {
        shows(
            include_str!("../../../tests/data/pages/blog.html"),
            "Three traps for a lazy evening – The Crooked Die",
            &[
                "Three traps for a lazy evening",
                "The pit, as my players drew it.",
                "It opens on the second step, not on the first.",
                "A DC 13 check finds the seam.",
                "The rope beside it is real, and that is the worst of it: whoever takes it rings a bell two rooms on.",
            ],
            &[
                "Structured",
                "partners",
                "About this",
                "Ignore",
                "frames",
                "Posted",
                "Subscribe",
                "powered",
            ],
        );
    }

    #[test]
    fn page_of_a_forum_shows_its_posts() {
        shows(
            include_str!("../../../tests/data/pages/forum.html"),
            "Does a lich need its phylactery nearby? - The Bent Table",
            &[
                "Our lich has buried his phylactery two kingdoms away.",
                "Does he come back beside it, or where he fell?",
                "by Old Tom » Mon May 03, 9:40 pm, from the salt marsh",
                "Beside it, within ten days & with an empty purse. Page 202 says so <grin>.",
            ],
            &[
                "Board index",
                "Log in",
                "All posts",
                "my gold",
                "Post a reply",
                "Write your",
                "Delete cookies",
            ],
        );
    }

    #[test]
    fn hostile_nesting_is_read_flat() {
        // Too deep for any stack; the full size takes seconds.
        let deep = if extent::whole() { 200_000 } else { 40_000 };
        for tag in ["div", "nav", "a", "svg", "main", "b"] {
            let page = format!("<p>begin</p>{}end", format!("<{tag}>").repeat(deep));
            let found = article(&page);
            assert!(found.text.starts_with("begin"), "{tag}");
        }
        let open = format!("<p>begin</p><{}", "a ".repeat(100_000));
        assert_eq!(article(&open).text, "begin");
    }
}
