//! A player at the page: speaks, listens, interrupts, types, loads the page again.

use super::{
    GREETING, HEARD, MILES, OVERFLOW, ROLL, ROLLED, Rehearsal, SAY, STORY, TALK, TRANSCRIPT,
    is_greeted, microphone, rolls, starts_sound, table, talks_until,
};
use crate::support::{
    browser::{Browser, Microphone, Page},
    ears::Ears,
    program::Place,
    speech::{Format, as_wav, padded, plain_wav, read_wav, speech},
    whole,
};

/// Most milliseconds that the page may add to `ask`'s own time to the first sound.
const ADDED_MS: f64 = 60.0;
/// Questions of the measurement.
const ROUNDS: usize = 5;
/// A sample above it is loud, as `LOUD` of the page's instruments, of 32,768.
const LOUD: u16 = 131;
/// The last sample above it ends [`abrupt`] words: well above [`LOUD`], so that the block that has it is loud.
const END: u16 = 1_000;

/// `providers` that hear with `ears`.
fn hearing_with(ears: &Ears) -> String {
    format!("providers:\n{}", ears.entry())
}

#[test]
fn spoken_request_is_heard_answered_interrupted() {
    let ears = Ears::start();
    let place = table(&hearing_with(&ears));
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let page = browser.open(&rehearsal.link);
    starts_sound(&page);
    assert_eq!(page.evaluate("location.hash"), "", "the token is gone from the address");

    let said = talks_until(&page, |text| text.contains(HEARD));
    assert!(said.contains("Player"), "{said}");
    page.reads("log", TRANSCRIPT, |text| text.contains(ROLLED));
    page.hears(0.3);

    interrupts(&page);
    page.reload();
    is_greeted(&page);
    page.looks(360, 740, "dark");
    assert_eq!(page.evaluate(OVERFLOW), 0, "it overflows");
    assert_eq!(page.mistakes(), [""; 0]);
    assert_eq!(rehearsal.program.terminate(), 0);
    assert_story_was_cut(&place);
}

/// Asks for the story by typing and rolls the dice while it is told.
#[track_caller]
fn interrupts(page: &Page) {
    let before = rolls(&page.reads("log", TRANSCRIPT, |_| true));
    page.listen_from_now();
    page.types(SAY, "Bartok, tell me a story");
    page.hears(0.3);
    talks_until(page, |text| rolls(text) > before);
}

/// The stored transcript has the story as far as the page played it.
#[track_caller]
fn assert_story_was_cut(place: &Place) {
    let listed = place.run(&["session", "list"]).ends_with(0).stdout;
    let session = listed.split(' ').next().expect("a session");
    let lines = place.run(&["session", "show", session, "--json"]).ends_with(0).lines();
    let mut texts = lines.iter().filter_map(|line| line["text"].as_str());
    let story = texts.find(|text| text.starts_with(STORY));
    let end = format!("stone {MILES} ");
    assert!(story.is_some_and(|story| !story.contains(&end)), "{lines:#?}");
}

/// What the page played and what its microphone heard are speech, not only sound.
#[test]
fn played_answer_is_understood_by_whisper() {
    let Some(place) = table("").with_whisper_alone() else { return };
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let page = browser.open(&rehearsal.link);
    starts_sound(&page);
    talks_until(&page, |text| text.contains(ROLLED));
    page.hears(0.5);
    let (rate, samples) = page.played();
    assert_eq!(rehearsal.program.terminate(), 0);
    if !whole() {
        // Its voice is a tone.
        return;
    }
    place.write("played.wav", as_wav(&samples, rate, 1, Format::Pcm16));
    let heard = place.run(&["ask", "--json", "--in", "played.wav"]).lines();
    let heard: Vec<&str> = heard.iter().filter_map(|line| line["heard"].as_str()).collect();
    let heard = heard.join(" ").to_lowercase();
    assert!(heard.contains("dice say"), "{heard}");
}

/// From the last loud sound into the microphone to the first one on the loudspeaker, beside the same in
/// `glyphoxa ask`. The button stays down and `ask` reads at the recording's own pace, so both wait out the
/// same patience; the words end abruptly, so both count from one moment; and of what `ask` plays, the quiet
/// before the voice counts too. Both answer [`ROUNDS`] questions in one run of the program.
#[test]
fn page_adds_little_to_first_sound_in_time() {
    let ears = Ears::start();
    let place = table(&hearing_with(&ears));
    let said = speech("slt", ROLL);
    place.write("microphone.wav", plain_wav(&padded(0.3, abrupt(&said), 4.0)));
    let recording = place.path("microphone.wav");
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let page = browser.open(&rehearsal.link);
    starts_sound(&page);
    let by_page = median((1..=ROUNDS).map(|round| {
        page.is_quiet();
        page.listen_from_now();
        talks_until(&page, |text| rolls(text) >= round);
        page.evaluate("instruments.answeredAfter()").as_f64().expect("it was heard")
    }));
    assert_eq!(rehearsal.program.terminate(), 0);
    let by_ask = first_sound_by_ask(&place);
    eprintln!("first sound p50: {by_page:.0} ms on the page, {by_ask:.0} ms by ask");
    assert!(by_page <= by_ask + ADDED_MS, "{by_page:.0} ms, {by_ask:.0} ms");
}

/// Words that end with a loud sample. Where a voice dies away, the program still detects it after the last
/// sound that is loud to the page's instruments.
fn abrupt(samples: &[i16]) -> &[i16] {
    let last = samples.iter().rposition(|it| it.unsigned_abs() > END);
    &samples[..=last.expect("a voice")]
}

/// Milliseconds from the last voice in the recording to the first loud sample of the answer, by `ask`; median.
fn first_sound_by_ask(place: &Place) -> f64 {
    let mut arguments = vec!["ask", "--json", "--realtime", "--out", "answers.wav"];
    arguments.extend(["--in", "microphone.wav"].repeat(ROUNDS));
    let asked = place.run(&arguments).ends_with(0).lines();
    assert_eq!(asked.len(), ROUNDS, "{asked:#?}");
    let first_frame = median(asked.iter().map(|line| {
        assert!(line["reply"].as_str().is_some_and(|it| it.starts_with(ROLLED)), "{line:#}");
        line["ms"]["speech_end_to_first_audio"].as_f64().expect("it was heard")
    }));
    // All answers begin with the same words.
    let answers = read_wav(&place.path("answers.wav"));
    let quiet = answers.samples.iter().position(|it| it.unsigned_abs() > LOUD);
    first_frame + quiet.expect("a voice") as f64 * 1e3 / f64::from(answers.rate)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The key talks like the button.
#[test]
fn held_space_talks_like_the_button_in_time() {
    let ears = Ears::start();
    let place = table(&hearing_with(&ears));
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let page = browser.open(&rehearsal.link);
    starts_sound(&page);
    // Space in a text box is a letter.
    page.evaluate("document.activeElement?.blur()");
    page.key(true, " ", " ");
    page.reads("log", TRANSCRIPT, |text| text.contains(HEARD));
    page.key(false, " ", "");
    page.reads("log", TRANSCRIPT, |text| text.contains(ROLLED));
    page.types(SAY, "Bartok, good evening to you");
    let text = page.reads("log", TRANSCRIPT, |text| text.contains(GREETING));
    assert!(text.contains("good evening to you"), "{text}");
    assert!(page.has("button", TALK), "{text}");
    assert_eq!(page.mistakes(), [""; 0]);
}
