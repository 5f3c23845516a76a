//! "Hear it": a sample of an NPC's voice, for one page alone. Entry function: [`play`].

use tokio::time::{Instant, sleep_until};

use super::{out::LEAD, pages::Page, table::RehearsalTable, wire};
use crate::{
    audio::{FRAME, FRAME_SAMPLES_48K},
    campaign::sample_line,
    domain::Owner,
};

/// Plays a sentence of `npc` on `page` at its pace, unless an NPC speaks at the table meanwhile.
///
/// # Errors
/// No NPC has this name, or its voice says nothing; with the fix.
pub async fn play(table: &RehearsalTable, page: &Page, npc: &str) -> Result<(), String> {
    let npc = table.link.seat(npc).map_err(|why| why.to_string())?.npc;
    let text = sample_line(&npc.language, &npc.name);
    let made = table.handles.outside.sample(Owner::Local, &npc.name, &text).await;
    let sound = made.map_err(|why| why.to_string())?.sound;
    let samples = sound.map(|it| it.samples).unwrap_or_default();
    if !table.sound.begin_aside(page, &npc.name) {
        return Err("an NPC is speaking (try again when it is quiet)".to_owned());
    }
    let (mut due, mut frames) = (Instant::now(), samples.chunks(FRAME_SAMPLES_48K));
    let is_whole = loop {
        let Some(frame) = frames.next() else { break true };
        if !table.sound.aside(page, wire::sound(frame)) {
            break false;
        }
        due += FRAME;
        sleep_until(due.checked_sub(LEAD).unwrap_or(due)).await;
    };
    table.sound.end_aside(page, is_whole);
    Ok(())
}
