//! Number of errors in what was heard, word by word.
//!
//! Entry function: [`mistakes`].

/// Beginnings of words in British and in American spelling.
const SPELLINGS: [(&str, &str); 20] = [
    ("apologis", "apologiz"),
    ("armour", "armor"),
    ("cancell", "cancel"),
    ("centre", "center"),
    ("colour", "color"),
    ("favour", "favor"),
    ("flavour", "flavor"),
    ("grey", "gray"),
    ("harbour", "harbor"),
    ("honour", "honor"),
    ("humour", "humor"),
    ("jewellery", "jewelry"),
    ("labour", "labor"),
    ("neighbour", "neighbor"),
    ("organis", "organiz"),
    ("realis", "realiz"),
    ("recognis", "recogniz"),
    ("rumour", "rumor"),
    ("theatre", "theater"),
    ("travell", "travel"),
];

/// A word in American spelling.
fn spelled(word: &str) -> String {
    let british = SPELLINGS.iter().find_map(|(british, american)| {
        word.strip_prefix(british).map(|end| format!("{american}{end}"))
    });
    british.unwrap_or_else(|| word.to_owned())
}

/// Words that must be put in, left out or changed to make one from the other; British or American
/// spelling is none, nor is one word that is written as two.
pub fn mistakes(said: &[impl AsRef<str>], heard: &[impl AsRef<str>]) -> usize {
    let said: Vec<String> = said.iter().map(|word| spelled(word.as_ref())).collect();
    let heard: Vec<String> = heard.iter().map(|word| spelled(word.as_ref())).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=heard.len()).collect()];
    for (i, word) in said.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in heard.iter().enumerate() {
            let change = rows[i][j] + usize::from(word != other);
            let mut least = change.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && format!("{}{word}", said[i - 1]) == *other {
                least = least.min(rows[i - 1][j]);
            }
            if j > 0 && format!("{}{other}", heard[j - 1]) == *word {
                least = least.min(rows[i][j - 1]);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[said.len()][heard.len()]
}

#[test]
fn spelling_is_no_mistake() {
    assert_eq!(mistakes(&["any", "rumours", "neighbour"], &["any", "rumors", "neighbor"]), 0);
    assert_eq!(mistakes(&["grey", "stones"], &["stones"]), 1);
    assert_eq!(mistakes(&["a", "counterspell"], &["a", "counter", "spell"]), 0);
    assert_eq!(mistakes(&["great", "axe"], &["greataxe"]), 0);
    assert_eq!(mistakes(&["great", "axe"], &["great", "acts"]), 1);
}
