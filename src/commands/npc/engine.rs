//! `/npc engine`: shows the price of another engine, then changes it. Entry function: [`change`].

use crate::{
    campaign::engine_changed,
    commands::{
        answer::{Answer, Reply},
        call::Call,
        face::{Face, seat},
        text::Refusal,
    },
    domain::EngineKind,
};

/// Shows the price of another engine; changes to it if confirmed.
pub fn change(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let (_, npc) = seat(face, call.words("name")?)?;
    let (name, wanted) = (&npc.name, call.words("engine")?);
    let engine = EngineKind::named(wanted)
        .ok_or_else(|| format!("unknown engine '{wanted}' ({})", EngineKind::NAMES.join(", ")))?;
    if !call.flag("confirm") {
        let offer = face.table()?.engines.offer(name, engine)?;
        let short = engine.short();
        return Ok(Reply::private(format!(
            "{offer}\n\nNothing has changed yet. To go ahead: /npc engine name:{name} \
             engine:{short} confirm:True"
        ))
        .into());
    }
    face.change_engine(name, engine)?;
    Ok(Reply::private(engine_changed(name, engine)).into())
}
