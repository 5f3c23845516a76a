//! Orders about the world of the campaign that is played, and the answers to them.
//!
//! Entry functions: [`order`], [`order_of_file`], [`order_soon`]. **Never**: knows how a world is kept.

use futures::{FutureExt, future::ready};

use super::{
    answer::{Answer, Reply},
    call::Call,
    face::Face,
    text::{Refusal, Text},
    worlds::{OrderSoon, WorldSoon},
};
use crate::{
    campaign::{SentFile, WorldAnswer, WorldOrder},
    import::campaign::BYTES_MAX,
};

/// Bounds of a file that a command takes.
#[derive(Clone, Copy)]
pub struct Limit {
    /// Largest one.
    pub bytes: u64,
    /// That size in words.
    pub shown: &'static str,
    /// Expected file: "a campaign file".
    pub wanted: &'static str,
}

/// Bounds of a campaign file.
pub const OF_CAMPAIGN: Limit =
    Limit { bytes: BYTES_MAX as u64, shown: "10 MiB", wanted: "a campaign file" };

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
    answered(face.world(order), then)
}

fn answered(
    done: WorldSoon,
    then: impl FnOnce(&mut dyn Face, WorldAnswer) -> Result<Reply, Refusal> + Send + 'static,
) -> Answer {
    Answer::after(done, |face, done| {
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
    limit: Limit,
    make: impl FnOnce(SentFile) -> WorldOrder + Send + 'static,
    then: impl FnOnce(&mut dyn Face, WorldAnswer) -> Result<Reply, Refusal> + Send + 'static,
) -> Result<Answer, Refusal> {
    let Limit { bytes: most, shown, wanted } = limit;
    let file = call.file("file").ok_or_else(|| format!("no file given (attach {wanted})"))?;
    let name = file.name.clone();
    let check = move |size: u64| match size > most {
        true => Err(Refusal(format!("'{name}' is larger than {shown}"))),
        false => Ok(()),
    };
    file.size.map_or(Ok(()), &check)?;
    let (name, content) = (file.name.clone(), file.content());
    let order = content.map(move |read| -> Result<WorldOrder, Refusal> {
        let bytes = read?;
        // The face may not have known the size.
        check(u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
        Ok(make(SentFile { name, bytes }))
    });
    Ok(answered(face.world_of_file(order.boxed()), then))
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
