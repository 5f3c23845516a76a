//! Speech reaches the service, and its answers are heard.

use serde_json::Value;

use super::{
    CASCADE, HELLO, KEY, Setting, assert_by_cascade, assert_by_service, say, say_at,
    sdk::assert_typed, seen, talk, told,
};
use crate::support::{
    ears::Ears,
    program::{Place, Ran},
    speech::{padded, plain_wav, read_wav, speech},
    voice_models::{Answer, Fault, Seen, Service, VoiceServer},
};

const NEWS: &str = "Bartok, what is the news";
const WELCOME: &str = "Welcome to the Tankard, mind the step.";

/// Seconds between the first and the last 20 ms that are loud.
fn loud_seconds(samples: &[i16], rate: u32) -> f64 {
    let frame = rate as usize / 50;
    let is_loud = |frame: &[i16]| {
        let sum: f64 = frame.iter().map(|sample| f64::from(*sample).powi(2)).sum();
        (sum / frame.len() as f64).sqrt() > 300.0
    };
    let loud: Vec<bool> = samples.chunks_exact(frame).map(is_loud).collect();
    let first = loud.iter().position(|it| *it).unwrap_or_default();
    let last = loud.iter().rposition(|it| *it).map_or(first, |at| at + 1);
    (last - first) as f64 / 50.0
}

/// Texts of one role in a session.
fn items<'s>(seen: &'s Seen, role: &str) -> Vec<&'s str> {
    seen.items.iter().filter(|(by, _)| by == role).map(|(_, text)| text.as_str()).collect()
}

/// A table that hears recordings with `ears`.
fn table(server: &VoiceServer, ears: &Ears) -> Place {
    let providers = ears.entry();
    Setting { providers, ..Setting::new(server) }.place()
}

/// Plays recordings to a table, one after the other.
#[track_caller]
fn play(place: &Place, lines: &[&str]) -> Ran {
    let names: Vec<String> = (0..lines.len()).map(|number| format!("{number}.wav")).collect();
    for (name, line) in names.iter().zip(lines) {
        place.write(name, plain_wav(&padded(0.5, &speech("rms", line), 1.0)));
    }
    let inputs = names.iter().flat_map(|name| ["--in", name.as_str()]);
    place.run(&["ask", "--json", "--out", "out.wav"].into_iter().chain(inputs).collect::<Vec<_>>())
}

fn typed_line_is_answered_by_the_service(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::say(WELCOME, 2.5));
    let place = Setting::new(&server).place();
    let ran = say_at(&place, &[HELLO]).ends_with(0);
    let line = ran.line();
    assert_by_service(&line, WELCOME);
    assert_eq!(line["made_by"]["heard"], "typed", "{line:#}");
    let heard = line["audio_ms"].as_u64().expect("a length");
    assert!((2_400..=2_700).contains(&heard), "{line:#}");
    let out = read_wav(&place.path("out.wav"));
    assert!(out.seconds() > 2.3 && out.level() > 0.01, "{} s, {}", out.seconds(), out.level());
    let session = talk(&server);
    assert_eq!(session.model, service.model());
    assert!(session.instructions[0].contains("counts in herrings"), "{session:#?}");
    assert_eq!(session.voice.as_deref(), Some(service.voice()));
    assert!(session.has_item("user", "hello"), "{:#?}", session.items);
    assert!(session.sound.is_empty() && session.committed.is_empty(), "nobody spoke");
    assert_eq!((session.answers, session.cancels), (1, 0));
    assert_eq!(told(&ran), 0, "{ran:#?}");
}

fn transcript_is_whole_wherever_it_comes(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let replies = ["One comes first.", "Two comes last.", "Three comes in between, friend."];
    replies.iter().for_each(|reply| server.push(Answer::say(reply, 1.2)));
    let ran = say(&server, &[HELLO, "Bartok, and then?", "Bartok, go on"]).ends_with(0);
    for (line, reply) in ran.lines().iter().zip(replies) {
        assert_by_service(line, reply);
    }
    assert_eq!(talk(&server).answers, 3, "one session answers all");
}

fn spoken_line_is_sent_as_sound_in_full(service: Service) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    server.push(Answer::say(WELCOME, 2.0));
    let line = play(&table(&server, &ears), &[NEWS]).ends_with(0).line();
    assert_eq!(line["heard"], NEWS, "{line:#}");
    assert_by_service(&line, WELCOME);
    let session = talk(&server);
    assert_eq!(session.committed.len(), 1, "{:?}", session.committed);
    assert!((session.committed[0] - session.seconds()).abs() < 0.01, "all of it is committed");
    let said = speech("rms", NEWS);
    let (sent, spoken) = (loud_seconds(&session.sound, session.rate), loud_seconds(&said, 16_000));
    assert!((sent - spoken).abs() <= 0.3, "{sent} s of {spoken} s");
    let most = said.len() as f64 / 16_000.0 + 1.5;
    assert!(session.seconds() <= most, "{} s, at most {most} s", session.seconds());
    assert!(session.level() > 0.01, "{}", session.level());
    if service == Service::OpenAi {
        let commit = position(&session, "input_audio_buffer.commit");
        assert!(commit < position(&session, "response.create"), "{:#?}", session.orders);
    }
}

/// Index of the first order of this type.
#[track_caller]
fn position(session: &Seen, kind: &str) -> usize {
    session.orders.iter().position(|order| order["type"] == kind).expect("such an order")
}

fn each_utterance_is_committed_once(service: Service) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    let lines = play(&table(&server, &ears), &[NEWS, HELLO]).ends_with(0).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    lines.iter().for_each(|line| assert_by_service(line, "Aye, friend."));
    let session = talk(&server);
    assert_eq!((session.committed.len(), session.answers), (2, 2), "{:?}", session.committed);
}

fn heard_words_are_in_the_session_opened_next(service: Service) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    server.fault(Fault::Expires);
    server.push(Answer::say(WELCOME, 1.5));
    let lines = play(&table(&server, &ears), &[NEWS, HELLO]).ends_with(0).lines();
    assert_by_service(&lines[0], WELCOME);
    assert_by_service(&lines[1], "Aye, friend.");
    let sessions = seen(&server);
    let sound = ["input_audio_buffer.append", "input_audio_buffer.commit"];
    assert_typed(service, &sessions, &[&sound[..], &["conversation.item.create"]].concat());
    let last = sessions.iter().rfind(|it| it.answers > 0).expect("a session");
    assert!(last.has_item("user", "what is the news"), "{:#?}", last.items);
    assert!(last.has_item("assistant", WELCOME), "{:#?}", last.items);
    assert_eq!(last.committed.len(), 1, "old sound is not sent again");
}

fn open_session_history_is_not_resent(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::say(WELCOME, 1.0));
    say(&server, &[HELLO, NEWS]).ends_with(0);
    let session = talk(&server);
    let hellos = items(&session, "user").iter().filter(|it| it.contains("hello")).count();
    assert_eq!(hellos, 1, "{:#?}", session.items);
    assert!(items(&session, "assistant").is_empty(), "it knows what it said");
}

fn cascade_replies_enter_next_session_as_text(service: Service) {
    for lost in [Answer::cut(), Answer::failed()] {
        let server = VoiceServer::start(service, KEY);
        server.push(lost);
        server.push(Answer::say(WELCOME, 1.0));
        let lines = say(&server, &[HELLO, NEWS]).ends_with(0).lines();
        assert_by_cascade(&lines[0]);
        assert_by_service(&lines[1], WELCOME);
        let sessions = seen(&server);
        let last = sessions.iter().rfind(|it| it.answers > 0).expect("a session");
        assert!(last.has_item("user", "hello"), "{:#?}", last.items);
        assert!(last.has_item("assistant", CASCADE), "{:#?}", last.items);
    }
}

fn sound_for_another_npc_is_not_sent(service: Service) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    let place = table(&server, &ears);
    let lines = play(&place, &["Mira, good evening", HELLO]).ends_with(0).lines();
    assert_eq!((&lines[0]["npc"], &lines[1]["npc"]), (&"Mira".into(), &"Bartok".into()));
    assert_by_service(&lines[1], "Aye, friend.");
    let session = talk(&server);
    assert_eq!(session.committed.len(), 1, "{:?}", session.committed);
    let hello = loud_seconds(&speech("rms", HELLO), 16_000);
    assert!(loud_seconds(&session.sound, session.rate) <= hello + 0.3, "only what was for Bartok");
}

fn unaddressed_speech_never_reaches_the_socket(service: Service) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    let place = table(&server, &ears);
    let line = play(&place, &["I draw my sword and look around"]).line();
    assert_eq!(line["outcome"], "nobody_addressed", "{line:#}");
    for session in seen(&server) {
        assert!(session.sound.is_empty() && session.answers == 0, "{session:#?}");
        assert!(!session.has_item("user", "sword"), "{:#?}", session.items);
    }
}

/// A service that cannot cut an answer learns in a new session how much of it was heard.
#[track_caller]
fn assert_opened_again(sessions: &[Seen], heard: &str) {
    let answering: Vec<&Seen> = sessions.iter().filter(|it| it.answers > 0).collect();
    let [_, next] = answering.as_slice() else { panic!("two sessions: {sessions:#?}") };
    let heard = heard.trim_end_matches('…').trim_end();
    assert!(next.has_item("assistant", heard), "{heard}: {:#?}", next.items);
}

/// An answer of fourteen seconds that is stopped at about six: it may begin late on a busy machine.
/// Returns its line, and the service.
fn stopped_answer(service: Service) -> (Value, VoiceServer) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    let story = "The river was dry for an hour that night and then it all came back at once and took \
                 the mill and the bridge and two of my best barrels with it and nobody in this town \
                 has had a good night of sleep ever since.";
    server.push(Answer::say(story, 14.0));
    let place = table(&server, &ears);
    place.write("stop.wav", plain_wav(&speech("slt", "Bartok, stop")));
    let asked = ["--speaker", "Anna", "--at", "0", "--text", NEWS];
    let stop = ["--speaker", "Anna", "--at", "5", "--in", "stop.wav"];
    let after = ["--speaker", "Anna", "--at", "11", "--text", HELLO];
    let ran = place.run(&[&["ask", "--json"][..], &asked, &stop, &after].concat());
    let lines = ran.ends_with(0).lines();
    let answer = lines.iter().find(|line| line["heard"] == NEWS).expect("an answer");
    assert_eq!(answer["outcome"], "interrupted", "{lines:#?}");
    let reply = answer["reply"].as_str().expect("a reply");
    assert!(!reply.is_empty() && story.starts_with(reply.trim_end_matches('…')), "{reply}");
    assert!(reply.len() < story.len(), "{reply}");
    (answer.clone(), server)
}

/// Checks that OpenAI's service was asked to cut an answer `most` ms at most from where it was heard.
#[track_caller]
fn assert_cut((answer, server): &(Value, VoiceServer), most: u64) {
    let session = talk(server);
    let cuts = ["conversation.item.truncate"];
    assert_typed(Service::OpenAi, std::slice::from_ref(&session), &cuts);
    let [(item, cut)] = <[_; 1]>::try_from(session.truncations).expect("one cut");
    let heard = answer["audio_ms"].as_u64().expect("a length");
    assert!(item.starts_with("item_0") && cut.abs_diff(heard) <= most, "{cut} of {heard} ms");
}

fn stopped_answer_is_cut_where_it_was_heard(service: Service) {
    let stopped = stopped_answer(service);
    if service == Service::OpenAi {
        return assert_cut(&stopped, 200);
    }
    let (answer, server) = stopped;
    assert_opened_again(&seen(&server), answer["reply"].as_str().expect("a reply"));
}

#[test]
fn stopped_answer_is_cut_to_40_ms_in_time() {
    assert_cut(&stopped_answer(Service::OpenAi), 40);
}

on_both! {
    typed_line_is_answered_by_the_service,
    transcript_is_whole_wherever_it_comes,
    spoken_line_is_sent_as_sound_in_full,
    each_utterance_is_committed_once,
    heard_words_are_in_the_session_opened_next,
    open_session_history_is_not_resent,
    cascade_replies_enter_next_session_as_text,
    sound_for_another_npc_is_not_sent,
    unaddressed_speech_never_reaches_the_socket,
    stopped_answer_is_cut_where_it_was_heard,
}
