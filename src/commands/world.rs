//! Orders about the world of the campaign that is played, and the answers to them.
//!
//! Entry functions: [`order`], [`order_of_file`], [`order_soon`]. **Never**: knows how a world is kept.

use futures::{FutureExt, future::ready};

use super::{
    answer::{Answer, Reply},
    call::Call,
    face::Face,
    text::{Refusal, Text},
    worlds::OrderSoon,
};
use crate::{
    campaign::{SentFile, WorldAnswer, WorldOrder},
    import::campaign::BYTES_MAX,
};

/// Names that are kept for choosing while a name is typed.
const NAMES_MAX: usize = 5_000;

/// Carries `order` out, and replies what `then` makes of the answer.
pub fn order(
    face: &mut dyn Face,
    order: WorldOrder,
    then: impl FnOnce(&mut dyn Face, WorldAnswer) -> Result<Reply, Refusal> + Send + 'static,
) -> Answer {
    order_soon(face, ready(Ok(order)).boxed(), then)
}

/// Like [`order`], once the order is known.
pub fn order_soon(
    face: &mut dyn Face,
    order: OrderSoon,
    then: impl FnOnce(&mut dyn Face, WorldAnswer) -> Result<Reply, Refusal> + Send + 'static,
) -> Answer {
    Answer::after(face.world(order), |face, done| {
        let mut answer = done?;
        answer.names.truncate(NAMES_MAX);
        face.learn(&answer);
        then(face, answer)
    })
}

/// Like [`order`]; `make` turns the file given as `file` into the order.
///
/// # Errors
/// No file is given, or it is too large.
pub fn order_of_file(
    face: &mut dyn Face,
    call: &Call,
    make: fn(SentFile) -> WorldOrder,
    then: impl FnOnce(&mut dyn Face, WorldAnswer) -> Result<Reply, Refusal> + Send + 'static,
) -> Result<Answer, Refusal> {
    let file = call.file("file").ok_or("no file given (attach a campaign file)")?;
    let is_too_large = |size: u64| usize::try_from(size).map_or(true, |size| size > BYTES_MAX);
    if file.size.is_some_and(is_too_large) {
        return Err(format!("'{}' is larger than 10 MiB", file.name).into());
    }
    let (name, content) = (file.name.clone(), file.content());
    let order = content.map(move |read| read.map(|bytes| make(SentFile { name, bytes })));
    Ok(order_soon(face, order.boxed(), then))
}

/// The text of an answer as the reply.
///
/// # Errors
/// None; its callers want a result.
pub fn told(_: &mut dyn Face, answer: WorldAnswer) -> Result<Reply, Refusal> {
    Ok(Reply::private(text(answer.text)))
}

/// Text of an answer, in which names are emphasised.
pub fn text(words: String) -> Text {
    Text::default().marked(words)
}
