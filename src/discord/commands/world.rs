//! Having something done in the world of the campaign that is played, and answering with what came of it.
//!
//! Entry functions: [`order`], [`order_with_file`]. **Never**: knows how the world is kept.

use super::{
    answer::{Answer, Refusal},
    command::Call,
};
use crate::{
    campaign::{SentFile, WorldAnswer, WorldOrder},
    discord::{guild::Guild, ui::reply::Reply},
    import::campaign::BYTES_MAX,
};

/// Names that are kept for choosing while an option is typed.
const NAMES_MAX: usize = 5_000;

/// Does `order`, and answers with what `then` makes of it.
pub fn order(
    guild: &Guild,
    order: WorldOrder,
    then: impl FnOnce(&mut Guild, WorldAnswer) -> Reply + Send + 'static,
) -> Answer {
    let world = guild.shared.handles.world.clone();
    let done = world.carry_out(guild.asked_of_world(order));
    Answer::after(done, |guild, done| match done {
        Ok(mut answer) => {
            answer.names.truncate(NAMES_MAX);
            guild.take_entities(&answer);
            then(guild, answer)
        }
        Err(why) => Reply::private(why.to_string()),
    })
}

/// Has the file given as `file` downloaded, does what `make` makes of it, and answers
/// with what `then` makes of that.
///
/// # Errors
/// No file is attached, or it is too large.
pub fn order_with_file(
    guild: &Guild,
    call: &Call,
    make: fn(SentFile) -> WorldOrder,
    then: impl FnOnce(&mut Guild, WorldAnswer) -> Reply + Send + 'static,
) -> Result<Answer, Refusal> {
    let file = call.file("file").ok_or("no file given (attach a campaign file)")?.clone();
    if usize::try_from(file.size).map_or(true, |size| size > BYTES_MAX) {
        return Err(format!("'{}' is larger than 10 MiB", file.filename).into());
    }
    // Until the file is there nothing is asked of any world.
    let mut request = guild.asked_of_world(WorldOrder::Info);
    let world = guild.shared.handles.world.clone();
    let done = async move {
        match file.download().await {
            Ok(bytes) => {
                request.order = make(SentFile { name: file.filename, bytes });
                world.carry_out(request).await.map_err(|why| why.to_string())
            }
            Err(error) => {
                Err(format!("I can't get the file from Discord: {error} (send it again)"))
            }
        }
    };
    Ok(Answer::after(done, |guild, done| match done {
        Ok(answer) => {
            guild.take_entities(&answer);
            then(guild, answer)
        }
        Err(why) => Reply::private(why),
    }))
}
