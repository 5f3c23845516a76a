//! A small random model against numbers made once by numpy in float64.
//!
//! `reference.py` beside this file is an independent implementation from the paper and OpenAI's
//! code: the whole window without blocks or shortcuts, thinned positions repeated as often as they
//! count. `reference.json` is its output.

use serde_json::Value;

use super::tiny::{self, BANDS, WIDTH};
use crate::model::{Model, Scratch};
use crate::window::{Plan, Window};
use crate::work::{Crew, Stop};

/// previous, prompt, start, language, task, no times, text
const TOKENS: [u32; 9] = [277, 65, 66, 67, 271, 273, 275, 279, 104];

fn reference() -> Value {
    serde_json::from_str(include_str!("reference.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Largest difference.
fn distance(ours: &[f32], theirs: &Value) -> f64 {
    let theirs = numbers(theirs);
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

/// Compares the rows that the reference names.
fn compare(rows: &[f32], width: usize, theirs: &Value, most: f64) {
    for (index, row) in theirs.as_object().unwrap() {
        let index: usize = index.parse().unwrap();
        let distance = distance(&rows[index * width..(index + 1) * width], row);
        assert!(distance < most, "row {index}: {distance}");
    }
}

fn scratch(model: &Model, window: Window, threads: usize) -> (Plan, Scratch) {
    let mut scratch = Scratch::new();
    let stop = Stop::new(&|| false);
    let crew = Crew { threads, stop: &stop };
    model.frontend.run(&tiny::signal(), 80, &mut scratch.mel, &stop).unwrap();
    let plan = window.plan((scratch.mel.rows.len() / BANDS).div_ceil(2), tiny::POSITIONS);
    model.encoder.run(&scratch.mel, &plan, &mut scratch.encoder, crew).unwrap();
    model.decoder.hear(&scratch.encoder.rows, &plan.bias, &mut scratch.decoder, crew).unwrap();
    model.decoder.feed(&TOKENS, &mut scratch.decoder, crew).unwrap();
    (plan, scratch)
}

#[test]
fn features_are_those_of_the_reference() {
    let (_, scratch) = scratch(&tiny::model(), Window::Full, 1);
    let reference = reference();
    assert_eq!(scratch.mel.rows.len(), 58 * BANDS);
    compare(&scratch.mel.rows, BANDS, &reference["mel"], 2e-4);
    let silence = reference["mel_silence"].as_f64().unwrap();
    assert!((f64::from(scratch.mel.silence) - silence).abs() < 1e-5);
}

#[test]
fn full_window_matches_reference() {
    for threads in [1, 3] {
        let (_, scratch) = scratch(&tiny::model(), Window::Full, threads);
        let reference = reference();
        compare(&scratch.encoder.rows, WIDTH, &reference["full"], 1e-3);
        // int8 costs some precision; another implementation with this rounding gives equal scores
        assert!(distance(&scratch.decoder.scores, &reference["scores"]) < 0.15);
        assert!(distance(&scratch.decoder.scores, &reference["scores_int8"]) < 0.02);
    }
}

#[test]
fn thinned_window_matches_reference() {
    let thin = Window::Thin { margin: 2, step: 4 };
    let (plan, scratch) = scratch(&tiny::model(), thin, 2);
    let reference = reference();
    let places: Vec<f64> = plan.places.iter().map(|&place| place as f64).collect();
    assert_eq!(places, numbers(&reference["thin_places"]));
    compare(&scratch.encoder.rows, WIDTH, &reference["thin"], 1e-3);
    assert!(distance(&scratch.decoder.scores, &reference["scores_thin_int8"]) < 0.02);
}

#[test]
fn tokens_score_alike_singly_or_together() {
    let model = tiny::model();
    let (_, mut scratch) = scratch(&model, Window::Full, 1);
    let together = scratch.decoder.scores.clone();
    let stop = Stop::new(&|| false);
    let crew = Crew { threads: 1, stop: &stop };
    scratch.decoder.forget_tokens();
    for token in TOKENS {
        model.decoder.feed(&[token], &mut scratch.decoder, crew).unwrap();
    }
    let differ = |(a, b): (&f32, &f32)| (a - b).abs() > 0.02;
    assert!(!together.iter().zip(&scratch.decoder.scores).any(differ));
}
