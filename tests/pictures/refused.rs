//! A picture that does not come, as the model and the game master read of it; what is refused, and what is no
//! picture, is tested beside the client of each service.

use super::{LINE, Table, asks, said_to_the_end, told};
use crate::{
    hostile::peak,
    support::images::{Form, KEY, Picture, files},
};

/// Most memory of a program that decodes no bomb, in MiB.
const MEMORY: u64 = 600;

#[test]
fn refused_picture_is_an_error_for_the_model() {
    let table = Table::of(Form::OpenAi);
    table.images.push(Picture::blocked());
    let mut live = table.open(&[]);
    let call = asks(&mut live);
    assert_eq!(call["ok"], false, "{call:#}");
    assert!(call["result"]["message"].is_string(), "{call:#}");
    let read = told(&table.chat);
    assert!(read.contains("error"), "{read}");
    assert_eq!(live.leave(), 0);
    let asked = table.images.requests();
    assert!(asked.iter().all(|it| it.refused.is_none()), "{asked:#?}");
    assert_eq!(table.pictures(), Vec::<Vec<u8>>::new());
}

#[test]
fn bombs_and_endless_answers_take_little_memory() {
    let table = Table::of(Form::OpenAi);
    table.images.push(Picture::bytes(files::bomb((30_000, 30_000))));
    table.images.push(Picture::endless());
    let mut live = table.open(&[]);
    for attack in ["a bomb", "an answer without an end"] {
        let call = asks(&mut live);
        assert_eq!(call["ok"], false, "{attack}: {call:#}");
    }
    let most = peak(&live);
    assert!(most < MEMORY, "{most} MiB");
    assert_eq!(live.leave(), 0);
    assert_eq!(table.pictures(), Vec::<Vec<u8>>::new());
}

#[test]
fn wrong_key_is_an_error_that_hides_it() {
    const WRONG: &str = "sk-key-of-a-thief-0815-4711";
    let table = Table::of(Form::OpenAi);
    let config = std::fs::read_to_string(table.place.path("glyphoxa.yaml")).unwrap();
    table.place.write("glyphoxa.yaml", config.replace(KEY, WRONG));
    let mut live = table.place.start(&["ask", "--tier", "deep", "--as-dm", "--verbose"]);
    live.types(LINE);
    let said = said_to_the_end(live);
    assert!(said.contains("no picture for Greymantle") && !said.contains(WRONG), "{said}");
    assert!(!told(&table.chat).contains(WRONG));
    let asked = table.images.requests();
    let is_repeated = asked[0].refused.as_ref().is_some_and(|why| why.contains(WRONG));
    assert!(is_repeated, "{asked:#?}");
}
