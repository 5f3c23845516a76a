//! Pictures under caps: no more is billed than may be spent.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Notify;

use super::{LINE, Table, asks, told};
use crate::support::{
    images::{Form, Picture, files},
    program::Live,
};

/// Of one picture.
const PRICE: f64 = 0.05;
const PRICED: &str = ", price: { picture: 0.05 }";

/// The next line that waits for nothing, as money spent until then.
fn spent(live: &Live) -> f64 {
    let line: Value = serde_json::from_str(&live.says("\"pending\":false")).unwrap();
    line["spent"].as_f64().unwrap()
}

#[test]
fn cap_of_a_session_stops_pictures() {
    let table = Table::with(Form::OpenAi, PRICED, "budget: { session_max: 0.12 }\n");
    let mut live = table.open(&[]);
    let came = [0; 4].map(|_| asks(&mut live)["ok"] == true);
    assert_eq!(live.leave(), 0);
    let billed = f64::from(table.images.billed()) * PRICE;
    assert_eq!(came, [true, true, false, false]);
    assert!(billed <= 0.12, "{billed} billed under a cap of 0.12");
    assert_eq!(table.pictures().len(), 2, "{:?}", table.place.names());
    let read = told(&table.chat);
    assert!(read.contains("error"), "{read}");
    assert_eq!(table.images.requests().len(), 2, "nothing goes out that is not paid for");
}

#[test]
fn refused_picture_is_not_booked() {
    let table = Table::with(Form::OpenAi, PRICED, "budget: { session_max: 1 }\n");
    table.images.push(Picture::blocked());
    let mut live = table.open(&[]);
    let mut sums = Vec::new();
    for _ in 0..2 {
        live.types(LINE);
        sums.push(spent(&live));
    }
    assert_eq!(live.leave(), 0);
    assert!(sums[0].abs() < 1e-9 && (sums[1] - PRICE).abs() < 1e-9, "{sums:?}");
}

#[test]
fn tokens_that_are_counted_are_booked() {
    let priced = ", price: { picture: 0.25, input: 5, output: 30 }";
    let table = Table::with(Form::OpenAi, priced, "budget: { session_max: 1 }\n");
    let mut live = table.open(&[]);
    live.types(LINE);
    let sum = spent(&live);
    assert_eq!(live.leave(), 0);
    // 40 tokens read and 1,056 drawn.
    assert!((sum - 0.031_88).abs() < 1e-9, "{sum}");
}

#[test]
fn price_removed_mid_request_still_books_picture() {
    let table = Table::with(Form::OpenAi, PRICED, "budget: { session_max: 1 }\n");
    let go = Arc::new(Notify::new());
    table.images.push(Picture::bytes(files::png()).held(&go));
    let mut live = table.open(&[]);
    live.types(LINE);
    live.says("\"pending\":true");
    let config = std::fs::read_to_string(table.place.path("glyphoxa.yaml")).unwrap();
    let unpriced = config.replace(&table.images.entry(PRICED), "");
    assert_ne!(config, unpriced);
    table.place.write("glyphoxa.yaml", unpriced);
    live.says("configuration reloaded");
    go.notify_one();
    let sum = spent(&live);
    assert_eq!(live.leave(), 0);
    assert!((sum - PRICE).abs() < 1e-9, "{sum}");
}
