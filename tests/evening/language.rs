//! Checks of an answer: its language, and the words in it.
//!
//! Entry functions: [`other_than`], [`says`].

/// Words that stand in nearly every sentence of one language and in none of the other.
const ENGLISH: &str = "the and is are it you your my of to for not have has with that this but from what when where \
     who how would will can one be me we they there no yes than if or as at on by she her him his them \
     nothing never nobody all more too now then here i";
const GERMAN: &str = "der das den dem des und ist sind du dein deine mein meine von zu für nicht habe hat haben mit \
     dass aber aus was wenn wo wer wie würde wird kann ein eine einen einem einer sie ihr ihm mir mich dir \
     dich wir es da kein keine ja nein als oder auf bei nichts nie niemand alle mehr noch nur jetzt hier ich \
     im am vom zum zur sich auch schon euch ihr seid macht dann";

const UMLAUTS: [char; 4] = ['ä', 'ö', 'ü', 'ß'];

/// A word of another language than this one (`en`, `de`), where those of the other outweigh.
pub fn other_than(language: &str, reply: &str) -> Option<String> {
    let words = words(reply);
    let of = |list: &str| -> Vec<&String> {
        words.iter().filter(|word| list.split_whitespace().any(|it| it == **word)).collect()
    };
    let (english, mut german) = (of(ENGLISH), of(GERMAN));
    german.extend(words.iter().filter(|word| word.contains(UMLAUTS)));
    let (own, other) = if language == "de" { (german, english) } else { (english, german) };
    let outweighed = !other.is_empty() && other.len() >= own.len();
    // Without a single word of its own it is only right where it is hardly a sentence.
    let is_strange = outweighed || (own.is_empty() && words.len() > 4);
    is_strange.then(|| format!("{other:?}"))
}

/// True if these whole words, one after the other, stand in a reply; capitals do not matter.
pub fn says(reply: &str, phrase: &str) -> bool {
    let phrase = words(phrase);
    words(reply).windows(phrase.len()).any(|some| some == phrase)
}

fn words(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_alphanumeric());
    split.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}
