//! Whole transcriptions of the small random model: options, threads, stops and sounds of every
//! kind.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::tiny;
use crate::{Guard, Model, Options, Scratch, Search, TranscribeError, Transcript, Window};

fn hear(model: &Model, samples: &[f32], options: &Options) -> Transcript {
    model.transcribe(&mut Scratch::new(), samples, options, &|| false).unwrap()
}

#[test]
fn step_of_one_hears_same_as_full_window() {
    let model = tiny::model();
    let full =
        hear(&model, &tiny::signal(), &Options { window: Window::Full, ..Options::default() });
    for margin in [0, 3, 100] {
        let window = Window::Thin { margin, step: 1 };
        assert_eq!(hear(&model, &tiny::signal(), &Options { window, ..Options::default() }), full);
    }
}

#[test]
fn threads_and_used_buffers_change_nothing() {
    let model = tiny::model();
    let mut scratch = Scratch::new();
    let options = |threads| Options { threads, prompt: "Names: Thorin", ..Options::default() };
    let expected = hear(&model, &tiny::signal(), &options(1));
    for threads in [0, 1, 2, 5] {
        for samples in [&tiny::signal()[..], &[]] {
            let heard =
                model.transcribe(&mut scratch, samples, &options(threads), &|| false).unwrap();
            assert!(samples.is_empty() || heard == expected);
        }
    }
}

#[test]
fn languages_are_asked_for_or_found() {
    let model = tiny::model();
    assert!(model.is_multilingual());
    assert_eq!(model.languages().collect::<Vec<_>>(), ["en", "de"]);
    for language in ["en", "de"] {
        let options = Options { language: Some(language), ..Options::default() };
        assert_eq!(hear(&model, &tiny::signal(), &options).language, language);
    }
    let found = hear(&model, &tiny::signal(), &Options::default()).language;
    let prompt = "A prompt does not change which language is found";
    let options = Options { prompt, ..Options::default() };
    assert_eq!(hear(&model, &tiny::signal(), &options).language, found);
    let asked = Options { language: Some("tlh"), ..Options::default() };
    let error = model.transcribe(&mut Scratch::new(), &[], &asked, &|| false).unwrap_err();
    assert_eq!(error.to_string(), "the model has no language \"tlh\"; it has en, de");
}

#[test]
fn english_model_hears_english() {
    let mut files = tiny::files();
    files.config = "{}".to_owned();
    let model = files.load().unwrap();
    assert!(!model.is_multilingual() && model.languages().eq(["en"]));
    let english = Options { language: Some("en"), ..Options::default() };
    assert_eq!(
        hear(&model, &tiny::signal(), &english),
        hear(&model, &tiny::signal(), &Options::default())
    );
    let german = Options { language: Some("de"), ..Options::default() };
    let error = model.transcribe(&mut Scratch::new(), &[], &german, &|| false).unwrap_err();
    assert!(error.to_string().contains("only \"en\""), "{error}");
}

#[test]
fn texts_are_bounded() {
    let model = tiny::model();
    for max_tokens in [0, 1, 3] {
        let heard = hear(&model, &tiny::signal(), &Options { max_tokens, ..Options::default() });
        assert!(heard.tokens.len() <= max_tokens);
        assert!(heard.tokens.len() < max_tokens || heard.cut_by_guard.is_some());
    }
    let nothing = hear(&model, &tiny::signal(), &Options { max_tokens: 0, ..Options::default() });
    assert_eq!((nothing.cut_by_guard, nothing.text.as_str()), (Some(Guard::Length), ""));
    // longer than the context: the prompt's end counts
    let long = "word ".repeat(5000);
    assert_eq!(model.max_prompt(), 15);
    assert!(model.prompt_length(&long) > 1000);
    hear(&model, &tiny::signal(), &Options { prompt: &long, ..Options::default() });
}

#[test]
fn sound_over_maximum_length_is_refused() {
    let model = tiny::model();
    let most = model.max_samples();
    assert_eq!(most, tiny::POSITIONS * 320);
    hear(&model, &vec![0.1; most], &Options::default());
    let refused =
        model.transcribe(&mut Scratch::new(), &vec![0.1; most + 1], &Options::default(), &|| false);
    assert_eq!(refused, Err(TranscribeError::TooLong { samples: most + 1, most }));
}

#[test]
fn any_sound_is_taken() {
    let model = tiny::model();
    for value in [0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::MIN, f32::MIN_POSITIVE, 1e30] {
        for length in [0, 1, 199, 200, 161, 5000] {
            let heard = hear(&model, &vec![value; length], &Options::default());
            assert!(heard.no_speech.is_finite() && heard.mean_log_probability.is_finite());
        }
    }
}

#[test]
fn stop_is_noticed_wherever_it_comes() {
    let model = tiny::model();
    let mut scratch = Scratch::new();
    let options = Options { prompt: "Names: Thorin", ..Options::default() };
    let asked = AtomicUsize::new(0);
    let count = || {
        asked.fetch_add(1, Ordering::Relaxed);
        false
    };
    let expected = model.transcribe(&mut scratch, &tiny::signal(), &options, &count).unwrap();
    let times = asked.into_inner();
    assert!(times > 50, "asked {times} times");
    for stop_at in 0..times {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= stop_at;
        let stopped = model.transcribe(&mut scratch, &tiny::signal(), &options, &stop);
        assert_eq!(stopped, Err(TranscribeError::Cancelled), "at question {stop_at}");
        assert_eq!(asked.into_inner(), stop_at + 1, "after a yes nobody asks again");
    }
    let again = model.transcribe(&mut scratch, &tiny::signal(), &options, &|| false);
    assert_eq!(again, Ok(expected));
}

#[test]
fn poor_first_try_falls_back_to_full_window() {
    let model = tiny::model();
    let options = Options { fall_back_below: Some(0.0), ..Options::default() };
    let heard = hear(&model, &tiny::signal(), &options);
    let full = hear(&model, &tiny::signal(), &Options { window: Window::Full, ..options.clone() });
    assert!(heard.fell_back && !full.fell_back);
    assert_eq!(heard, Transcript { fell_back: true, ..full });
    let content = Options { fall_back_below: Some(-1000.0), window: Window::Full, ..options };
    assert!(!hear(&model, &tiny::signal(), &content).fell_back);
}

#[test]
fn text_becomes_tokens_and_text_again() {
    let model = tiny::model();
    let encode = |text: &str| model.tokens.encode(text);
    assert_eq!(encode(" the"), [257, u32::from(b'e')]);
    for text in ["a  the   th", "grün – 2d6+3", "<|endoftext|>", "\u{1F409}\n\tx"] {
        assert_eq!(model.tokens.decode(&encode(text)), text);
        assert!(encode(text).iter().all(|&token| token < 270), "no special token comes from text");
    }
    // special and unknown tokens have no text; half characters do no harm
    assert_eq!(model.tokens.decode(&[270, 65, 279, 299, u32::MAX, 0xc3]), "A\u{fffd}");
}

#[test]
fn beam_search_runs_when_first_text_is_unsure() {
    let model = tiny::model();
    let with = |beams, below| Options {
        search: Some(Search { beams, below }),
        max_tokens: 6,
        ..Options::default()
    };
    let first = hear(&model, &tiny::signal(), &Options { max_tokens: 6, ..Options::default() });
    let one = hear(&model, &tiny::signal(), &with(1, 0.0));
    assert!(one.searched && !first.searched);
    assert_eq!(one.tokens, first.tokens, "one beam is the likeliest token each time");
    let several = hear(&model, &tiny::signal(), &with(5, 0.0));
    assert!(several.searched && several.tokens.len() <= 6);
    assert!(several.mean_log_probability >= one.mean_log_probability);
    assert_eq!(hear(&model, &tiny::signal(), &with(0, 0.0)), one, "none counts as one");
}

#[test]
fn search_stops_at_once_leaving_buffers_usable() {
    let (model, mut scratch) = (tiny::model(), Scratch::new());
    let search = Some(Search { beams: 3, below: 0.0 });
    let options = Options { search, max_tokens: 4, ..Options::default() };
    let asked = AtomicUsize::new(0);
    let count = || asked.fetch_add(1, Ordering::Relaxed) == usize::MAX;
    let expected = model.transcribe(&mut scratch, &tiny::signal(), &options, &count).unwrap();
    for stop_at in 0..asked.into_inner() {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= stop_at;
        let stopped = model.transcribe(&mut scratch, &tiny::signal(), &options, &stop);
        assert_eq!(stopped, Err(TranscribeError::Cancelled), "at question {stop_at}");
    }
    let again = model.transcribe(&mut scratch, &tiny::signal(), &options, &|| false);
    assert_eq!(again, Ok(expected));
}
