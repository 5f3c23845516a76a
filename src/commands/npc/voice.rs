//! `/npc voice`: another voice for an NPC until the session ends, and a line to hear it.

use crate::{
    campaign::{WantedVoice, sample_line, voice_changed},
    commands::{
        answer::{Answer, NextStep, Reply},
        call::Call,
        face::{Face, seat},
        text::Refusal,
    },
    session::{Command as TableCommand, Speaker},
};

/// Gives an NPC another voice; looks for it in the lists of voice services first.
pub fn change(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let (_, npc) = seat(face, call.words("name")?)?;
    let wanted = WantedVoice::read(call.words("voice")?);
    let found = face.table()?.engines.find_voice(&npc.name, wanted);
    Ok(Answer::after(found, move |face, found| {
        let found = found?;
        face.change_voice(&npc.name, &found)?;
        let line =
            format!("/npc speak name:{} text:{}", npc.name, sample_line(&npc.language, &npc.name));
        let next_step = NextStep::HearVoice { npc: npc.name.clone(), line };
        Ok(Reply::private(voice_changed(&npc.name, &found)).followed_by(next_step))
    }))
}

/// Lets the NPC called `name` say how it sounds.
pub fn hear(face: &mut dyn Face, speaker: Speaker, name: &str) -> Result<Answer, Refusal> {
    let (seat, npc) = seat(face, name)?;
    let text = sample_line(&npc.language, &npc.name);
    let speaker = face.sit_down(speaker)?;
    face.tell(TableCommand::Puppet { speaker, seat, text })?;
    Ok(Reply::private(format!("{} says how it sounds.", npc.name)).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        commands::{NPC, Value, stand_in::Recorded},
        session::SpeakerId,
    };

    fn speaker() -> Speaker {
        Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm: true }
    }

    fn changed(voice: &str) -> (String, String) {
        let words = |text: &str| Value::Words(text.to_owned());
        let values = vec![("name", words("Bartok")), ("voice", words(voice))];
        let mut table = Recorded::table();
        let call = Call::new(speaker(), values);
        let answer = table.carries_out(NPC.sub("voice").unwrap(), &call);
        (table.orders.join("; "), answer)
    }

    #[test]
    fn voice_changes_once_it_is_found() {
        let (order, answer) = changed("piper joe · Joe, male");
        assert_eq!(order, "voice Bartok piper joe");
        assert!(answer.contains("Bartok speaks as piper joe from the next turn on"), "{answer}");
        assert!(answer.contains("`voice: { provider: piper, voice_id: joe }`"), "{answer}");
        let line = "/npc speak name:Bartok text:Well met! I am Bartok, and this is how I sound.";
        assert!(answer.ends_with(line), "{answer}");
        let (order, answer) = changed("jow");
        assert!(order.is_empty() && answer.contains("unknown voice 'jow'"), "{answer}");
    }

    #[test]
    fn sample_is_a_line_of_the_npc() {
        let mut table = Recorded::table();
        hear(&mut table, speaker(), "Bartok").unwrap();
        let order =
            "Puppet { speaker: SpeakerId(11), seat: SeatId(0), text: \"Well met! I am Bartok";
        assert!(table.orders.join("").starts_with(order), "{:?}", table.orders);
        assert!(hear(&mut table, speaker(), "Nobody").is_err());
    }
}
