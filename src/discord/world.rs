//! Commands about the world of the campaign, with and without files.
//!
//! Entry functions: [`Guild::order`], [`Guild::order_with_file`]. **Never**: knows how it is kept.

use futures::FutureExt;
use serenity::all::{Attachment, CommandDataOptionValue};

use super::{
    commands::{Answer, Call, Refusal, Then},
    guild::task::Guild,
    ui::reply::Reply,
};
use crate::{
    campaign::{SentFile, WorldAnswer, WorldOrder, WorldRequest},
    import::campaign::BYTES_MAX,
};

/// Names that are kept for choosing while an option is typed.
const NAMES_MAX: usize = 5_000;

impl Guild {
    /// Does `order`, and then what `then` makes of it.
    pub fn order(
        &self,
        order: WorldOrder,
        then: impl FnOnce(&mut Self, WorldAnswer) -> Reply + Send + 'static,
    ) -> Answer {
        let done = self.shared.handles.world.clone().carry_out(self.asked_of_world(order));
        let work = done.map(|done| {
            Box::new(move |guild: &mut Self| match done {
                Ok(mut answer) => {
                    answer.names.truncate(NAMES_MAX);
                    guild.entities.clone_from(&answer.names);
                    then(guild, answer)
                }
                Err(why) => Reply::private(why.to_string()),
            }) as Then
        });
        Answer::Later { public: false, work: work.boxed() }
    }

    /// `order`, of the world that is played here.
    pub fn asked_of_world(&self, order: WorldOrder) -> WorldRequest {
        WorldRequest { scope: self.scope(), played: self.played().cloned(), order }
    }

    /// Has the file given as `option` downloaded, and then `make` made of it done.
    ///
    /// # Errors
    /// There is none, or it is too large.
    pub fn order_with_file(
        &self,
        call: &Call,
        make: fn(SentFile) -> WorldOrder,
        then: impl FnOnce(&mut Self, WorldAnswer) -> Reply + Send + 'static,
    ) -> Result<Answer, Refusal> {
        let file = call.file("file").ok_or("there is no file (attach a campaign file)")?.clone();
        if usize::try_from(file.size).map_or(true, |size| size > BYTES_MAX) {
            return Err(format!("'{}' is larger than 10 MiB", file.filename).into());
        }
        // Until the file is there nothing is asked of any world.
        let mut request = self.asked_of_world(WorldOrder::Info);
        let world = self.shared.handles.world.clone();
        let work = async move {
            let done = match file.download().await {
                Ok(bytes) => {
                    request.order = make(SentFile { name: file.filename, bytes });
                    world.carry_out(request).await.map_err(|why| why.to_string())
                }
                Err(error) => Err(format!("Discord does not give me the file: {error} (again)")),
            };
            Box::new(move |guild: &mut Self| match done {
                Ok(answer) => {
                    guild.entities.clone_from(&answer.names);
                    then(guild, answer)
                }
                Err(why) => Reply::private(why),
            }) as Then
        };
        Ok(Answer::Later { public: false, work: work.boxed() })
    }
}

impl Call {
    /// The file given as `name`.
    pub fn file(&self, name: &str) -> Option<&Attachment> {
        match self.value(name)? {
            CommandDataOptionValue::Attachment(id) => self.files.get(id),
            _ => None,
        }
    }
}
