//! `/music`: music and ambience at the table.

use std::sync::Arc;

use super::{
    answer::{Answer, Reply, with_status},
    call::{Call, Value},
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::{Face, Lasting},
    text::{Refusal, Text},
};
use crate::{
    logic::music::{Layer, Library, MusicOrder, MusicStatus, Track},
    session::Command as TableCommand,
};

/// Longest search text, in characters.
const WORDS_MAX: u16 = 100;
/// In percent.
const VOLUME_MAX: u32 = 100;

pub static COMMAND: Command = Command {
    name: "music",
    description: "Play music and background sound at the table",
    subs: &[
        Subcommand::new(
            "music play",
            "Play music or background sound; music and ambience sound together",
            &[Parameter::required(
                "mood",
                "A mood, a place or a title, such as tavern",
                Kind::Suggested(Suggested::Moods, WORDS_MAX),
            )],
            play,
        ),
        Subcommand::new("music stop", "Fade everything out", &[], |face, _| stop(face)),
        Subcommand::new(
            "music volume",
            "Set how loud music is",
            &[Parameter::required("percent", "Volume, 1 to 100", Kind::Count(VOLUME_MAX))],
            volume,
        ),
        Subcommand::new("music list", "Show all tracks, and those that play", &[], |face, _| {
            list(face)
        }),
        Subcommand::new(
            "music effect",
            "Play a sound once, beside everything else",
            &[Parameter::required(
                "name",
                "A sound of the library",
                Kind::Suggested(Suggested::Effects, WORDS_MAX),
            )],
            effect,
        ),
    ],
};

/// Fades everything out.
pub fn stop(face: &mut dyn Face) -> Result<Answer, Refusal> {
    face.tell(TableCommand::Music(MusicOrder::Stop))?;
    Ok(Reply::private("The music fades out.").into())
}

fn play(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let words = call.words("mood")?.to_owned();
    let all = face.table()?.music;
    let library = all.only(|layer| layer != Layer::Effect);
    with_status(face, move |face, status| {
        let found = library.find(&words);
        let refused = || match effect_called(&all, &words) {
            Some(effect) => format!("'{0}' is an effect (use /music effect {0})", effect.title),
            None => unknown(&library, &words),
        };
        let track = following(&found, &status.music).ok_or_else(refused)?;
        let said = Text::from("Playing ").strong(&track.title).plain(".");
        face.tell(TableCommand::Music(MusicOrder::Play(track)))?;
        Ok(Reply::private(said))
    })
}

fn effect(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let words = call.words("name")?;
    let effects = face.table()?.music.only(|layer| layer == Layer::Effect);
    let track = effects.find(words).into_iter().next().ok_or_else(|| {
        format!("no sound fits '{words}' (effects: {})", or_none(effects.titles().join(", ")))
    })?;
    let said = Text::of(&track.title).plain(" sounds once.");
    face.tell(TableCommand::Music(MusicOrder::Play(track)))?;
    Ok(Reply::private(said).into())
}

fn volume(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let given = match call.value("percent") {
        Some(Value::Number(given)) => *given,
        _ => return Err("no volume given (use 1 to 100)".into()),
    };
    let percent = u8::try_from(given).ok().filter(|it| (1..=VOLUME_MAX).contains(&u32::from(*it)));
    let percent = percent
        .ok_or_else(|| format!("invalid volume '{given}' (use 1 to 100, or /music stop)"))?;
    face.tell(TableCommand::Music(MusicOrder::Volume(percent)))?;
    face.keep(Lasting::Volume(percent))?;
    Ok(Reply::private(format!("Music plays at {percent} percent.")).into())
}

fn list(face: &mut dyn Face) -> Result<Answer, Refusal> {
    let library = face.table()?.music;
    with_status(face, move |_, status| {
        let playing = status.music.playing.iter().map(|(_, title)| title.as_str());
        let playing = or_none(playing.collect::<Vec<_>>().join(", "));
        let now = format!("Now: {playing} · {} percent", status.music.volume);
        let tracks = library.tracks.iter().map(|track| shown(track));
        let lines = std::iter::once(Text::from(now)).chain(tracks);
        // Programs get the tracks too.
        Ok(Reply::private(Text::lines(lines)).titled("Music"))
    })
}

/// Title, moods and credits of a track.
fn shown(track: &Track) -> Text {
    let text = Text::of(&track.title).plain(format!(" · {}", track.layer.name()));
    let text = match track.moods.as_slice() {
        [] => text,
        moods => text.plain(" · ").others(moods.join(", ")),
    };
    match &track.credits {
        Some(credits) => text.plain(" · by ").others(credits),
        None => text,
    }
}

/// The effect with exactly this title.
fn effect_called<'l>(library: &'l Library, title: &str) -> Option<&'l Arc<Track>> {
    let title = title.to_lowercase();
    library.tracks.iter().find(|it| it.layer == Layer::Effect && it.title.to_lowercase() == title)
}

/// The track after the current one among equal matches, or the first.
fn following(found: &[Arc<Track>], music: &MusicStatus) -> Option<Arc<Track>> {
    let plays = |track: &Arc<Track>| music.playing.iter().any(|(_, title)| *title == track.title);
    let behind = found.iter().skip_while(|track| !plays(track)).nth(1);
    behind.or_else(|| found.first()).cloned()
}

/// Refuses words without a match, and lists possible ones.
fn unknown(library: &Library, words: &str) -> String {
    let moods = or_none(library.moods().join(", "));
    format!("no music fits '{words}' (moods: {moods}; /music list shows all tracks)")
}

fn or_none(names: String) -> String {
    if names.is_empty() { "none".to_owned() } else { names }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{ALL, Finders, GivenFile, read, stand_in::Recorded},
        *,
    };
    use std::future::ready;

    use futures::FutureExt;

    use crate::session::{Speaker, SpeakerId};

    fn answer(line: &str) -> String {
        let speaker = Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm: true };
        let file = |path: &str| GivenFile::new(path, None, || ready(Ok(Vec::new())).boxed());
        let found = Finders { person: &|_| None, file: &file };
        let (sub, call) = read(&ALL, line, speaker, found).unwrap().unwrap();
        Recorded::table().carries_out(sub, &call)
    }

    #[test]
    fn unplayable_requests_suggest_right_command() {
        assert_eq!(answer("/music play bell"), "'Bell' is an effect (use /music effect Bell)");
        assert!(answer("/music play inn").contains("Inn"));
        let volume = "invalid volume '0' (use 1 to 100, or /music stop)";
        assert_eq!(answer("/music volume 0"), volume);
    }

    #[test]
    fn tracks_that_fit_alike_take_turns() {
        let found = ["One", "Two", "Three"].map(|title| Arc::new(Track::plain(title)));
        let after = |title: Option<&str>| {
            let playing = title.map(|title| (Layer::Music, title.to_owned()));
            let music = MusicStatus { playing: playing.into_iter().collect(), volume: 80 };
            following(&found, &music).map(|track| track.title.clone())
        };
        assert_eq!(after(None).as_deref(), Some("One"));
        assert_eq!(after(Some("One")).as_deref(), Some("Two"));
        assert_eq!(after(Some("Three")).as_deref(), Some("One"));
        assert_eq!(following(&[], &MusicStatus::default()), None);
    }
}
