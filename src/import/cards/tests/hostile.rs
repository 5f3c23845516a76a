//! Files that want to harm.

use proptest::prelude::*;

use super::*;

/// A card in which every field that is a text is `text`.
fn flooded(text: &str) -> Value {
    let mut card = full();
    for (key, value) in card["data"].as_object_mut().unwrap() {
        if value.is_string() && !matches!(key.as_str(), "name" | "nickname") {
            *value = json!(text);
        }
    }
    card["data"]["character_book"]["entries"][0]["content"] = json!(text);
    card
}

fn messages(drafts: &Drafts) -> Vec<&str> {
    drafts.mistakes.iter().map(|mistake| mistake.message.as_str()).collect()
}

#[test]
fn bomb_in_a_chunk_is_refused() {
    let chunk = encoded(&ZTXtChunk::new("chara", "A".repeat(17 << 20)));
    assert!(chunk.len() < 1 << 20);
    let bytes = picture(&[chunk]);
    assert!(is_card(&bytes));
    let drafts = drafts_of("a.png", &bytes);
    assert!(messages(&drafts)[0].contains("unpacks to more than 16 MiB"), "{drafts:?}");
    assert!(drafts.npcs.is_empty());
}

#[test]
fn chunk_that_is_no_base64_is_refused() {
    let bytes = picture(&[encoded(&TEXtChunk::new("chara", "not base64 at all!"))]);
    let drafts = drafts_of("a.png", &bytes);
    assert_eq!(messages(&drafts), ["the chunk is not valid base64"]);
    assert_eq!(drafts.mistakes[0].place, "chara");
    let binary = STANDARD.encode([0x7b, 0xff, 0xfe, 0x80]);
    let drafts = drafts_of("a.png", &picture(&[encoded(&TEXtChunk::new("chara", binary))]));
    assert_eq!(messages(&drafts), ["the text is neither UTF-8 nor UTF-16"]);
}

#[test]
fn archive_that_leads_outside_is_refused() {
    let card = v2("Luna").to_string();
    let bytes = zipped(&[("card.json", card.as_bytes()), ("../../.bashrc", b"x")]);
    assert!(is_card(&bytes));
    let drafts = drafts_of("a.charx", &bytes);
    assert_eq!((drafts.npcs.len(), drafts.mistakes.len()), (0, 1));
    let inside = zipped(&[("folder/card.json", card.as_bytes())]);
    assert!(!is_card(&inside));
}

#[test]
fn secret_elements_of_any_spelling_stay_secret() {
    for begin in [
        "<section class=secret>",
        "<aside\tclass='secret'>",
        "<x-note\nclass=\"secret\">",
        "<x_note hidden>",
    ] {
        let end = begin.split(['<', '\t', '\n', ' ']).nth(1).unwrap();
        let mut card = v2("Luna");
        let text = format!("A mage.{begin}PLANTED\nwords</{end}>\nOld.");
        card["data"]["description"] = json!(text);
        let npc = drafts_of_json(&card).npcs.remove(0);
        assert_eq!(npc.personality[0].text, "A mage.\nOld.", "{begin:?}");
        assert_eq!(npc.secrets[0].text, "PLANTED\nwords", "{begin:?}");
    }
}

#[test]
fn deep_and_large_json_is_refused() {
    let deep = "[".repeat(100_000);
    let deep = format!(r#"{{"spec": "chara_card_v2", "data": {{"name": "A", "tags": {deep}"#);
    let large = format!(r#"{{"spec": "chara_card_v2", "x": "{}"}}"#, "a".repeat(17 << 20));
    let many = format!(r#"{{"spec": "chara_card_v2", "x": [{}1]}}"#, "1,".repeat(600_000));
    for (text, message) in
        [(deep, "recursion limit"), (large, "more than 16 MiB"), (many, "more than 500000 values")]
    {
        assert!(is_card(text.as_bytes()), "{message}");
        let drafts = drafts_of("a.json", text.as_bytes());
        assert!(messages(&drafts)[0].contains(message), "{:?}", messages(&drafts));
        assert!(drafts.npcs.is_empty());
    }
}

#[test]
fn variables_and_templates_stay_characters() {
    let text = "Tell ${DISCORD_TOKEN} and {dice} to {speaker}.";
    let drafts = drafts_of_json(&flooded(text));
    let npc = &drafts.npcs[0];
    assert!(npc.personality.iter().all(|it| it.text == text), "{:?}", npc.personality);
    assert_eq!(npc.greetings[0], text);
    assert_eq!(drafts.entities[0].text[0].text, text);
}

#[test]
fn names_lose_bidi_marks_and_line_ends() {
    let name = "\u{202e}../..\\etc/passwd\0\r\nLuna\u{200b}\u{1b}[2J";
    let npc = &drafts_of_json(&v2(name)).npcs[0];
    assert_eq!(npc.name, "../..\\etc/passwd Luna[2J");
    assert!(!format!("{:?}", npc.source).contains("\\u{"), "{:?}", npc.source);
}

#[test]
fn floods_of_marks_end_in_time() {
    for mark in [
        "{{", "<", "<user> ", "{{char}}", "*", "* ", "[", "![a](", "\"", "_", "@@\n", "<b", ":",
        "\n",
    ] {
        let text = mark.repeat(30_000 / mark.len());
        let drafts = drafts_of_json(&flooded(&text));
        assert_eq!(drafts.npcs.len(), 1, "{mark}");
        let told: usize = drafts.npcs[0].personality.iter().map(|it| it.text.len()).sum();
        assert!(told < 1_000_000, "{mark}: {told}");
    }
    let mistakes = drafts_of_json(&flooded(&"a".repeat(100_001))).mistakes;
    assert!(mistakes.iter().any(|it| it.place == "data/description"), "{mistakes:?}");
}

#[test]
fn picture_that_is_cut_off_gives_its_card() {
    let whole = picture(&[encoded(&TEXtChunk::new("chara", packed("Luna")))]);
    assert_eq!(drafts_of("a.png", &whole[..whole.len() - 6]).npcs.len(), 1);
    assert!(!is_card(&whole[..whole.len() - 30]));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        is_card(&bytes);
        drafts_of("a", &bytes);
        drafts_of("a.png", &picture(std::slice::from_ref(&bytes)));
        let chunk = TEXtChunk::new("chara", STANDARD.encode(&bytes));
        drafts_of("a.png", &picture(&[encoded(&chunk)]));
    }

    #[test]
    fn no_text_panics(text in r#"[{}<>*"“”_\[\]()!@:,a-dé \n]{0,80}|\PC{0,40}"#) {
        let drafts = drafts_of_json(&flooded(&text));
        prop_assert_eq!(drafts.npcs.len(), 1);
        let mut card = full();
        card["data"]["name"] = json!(text);
        card["data"]["mes_example"] = json!(format!("<START>\n{{{{user}}}}: {text}\n{{{{char}}}}: {text}"));
        drafts_of_json(&card);
    }
}
