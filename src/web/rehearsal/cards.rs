//! A table's NPCs, scene, music and services, as pages show them. Entry functions: [`npcs`],
//! [`scene`], [`music`], [`services`].

use super::wire::{MusicCard, NpcCard, SceneCard, ServiceNames};
use crate::{
    campaign::Services,
    session::{SeatStatus, Seated, Status},
};

/// NPCs of `cast` that are at the table, in its order.
pub fn npcs(status: &Status, cast: &[Seated]) -> Vec<NpcCard> {
    let voice = |seat: &SeatStatus| match &seat.other_voice {
        Some(other) => format!("{other}, its second voice"),
        None => seat.tts.clone(),
    };
    let card = |seat: &SeatStatus| {
        let seated = cast.iter().find(|it| it.seat == seat.id)?;
        Some(NpcCard {
            name: seat.name.clone(),
            language: seated.npc.language.clone(),
            engine: seat.engine.short().to_owned(),
            voice: Some(voice(seat)),
            tier: seat.override_.map(|(tier, _)| tier),
            muted: seat.muted,
            present: seat.present,
        })
    };
    status.seats.iter().filter_map(card).collect()
}

pub fn scene(status: &Status) -> SceneCard {
    let scene = &status.scene;
    SceneCard { location: scene.location.clone(), time: scene.time_of_day.clone() }
}

pub fn music(status: &Status) -> MusicCard {
    let music = &status.music;
    let playing = music.playing.iter().map(|(_, title)| title.clone()).collect();
    MusicCard { playing, volume: music.volume }
}

/// All that may hear, and the first of each other kind.
pub fn services(services: &Services) -> ServiceNames {
    ServiceNames {
        hears: Some(
            services.hears.iter().map(ToString::to_string).collect::<Vec<_>>().join(", else "),
        ),
        thinks: services.thinks.first().map(ToString::to_string),
        speaks: services.speaks.first().map(ToString::to_string),
    }
}
