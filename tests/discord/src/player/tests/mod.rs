//! Whole calls: players over wss, UDP and DAVE.

mod call;

use super::{AUDIBLE, Packet, Player};
use crate::{
    Faults, Mode, Scope, VoiceOptions,
    voice::tests::{CHANNEL, GUILD},
};
use call::{Call, LIMIT, audible, heard, heard_to_its_end, tone};
use serde_json::json;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// Lets two talk in both modes, with and without DAVE. Returns for each of the four ways how long the first
/// packet of one, and of the other, took to arrive.
async fn talk_in_all_ways() -> Vec<[Duration; 2]> {
    let mut delays = Vec::new();
    for dave in [true, false] {
        for mode in Mode::ALL {
            let call = Call::start(VoiceOptions { dave, ..VoiceOptions::default() }).await;
            let (one, two) = (call.join(1, Some(mode)).await, call.join(2, None).await);
            one.in_call_with(&[1, 2], LIMIT).await.unwrap();
            two.in_call_with(&[1, 2], LIMIT).await.unwrap();
            let there = heard(&one, &two, 440.0).await;
            let back = heard(&two, &one, 700.0).await;
            delays.push([there, back].map(|[sent, came]| came - sent));
            let counts = call.voice.counts(GUILD, 1);
            assert_eq!((counts.packets_in, counts.silence_frames), (35, 5));
            assert_eq!(
                (counts.dave_frames, counts.plain_frames),
                if dave { (30, 0) } else { (0, 30) }
            );
            assert_eq!(call.voice.counts(GUILD, 2).packets_out, 35);
            call.clean();
        }
    }
    delays
}

#[tokio::test]
async fn two_talk_in_both_modes_with_and_without_dave() {
    assert_eq!(talk_in_all_ways().await.len(), 4);
}

#[tokio::test]
async fn first_packet_arrives_in_time() {
    let delays = talk_in_all_ways().await;
    assert!(delays.iter().flatten().all(|it| *it < Duration::from_secs(1)), "{delays:?}");
}

#[tokio::test]
async fn call_begins_once_all_have_keys() {
    let call = Call::start(VoiceOptions::default()).await;
    let one = call.join(1, None).await;
    let state = || call.voice.group(GUILD, CHANNEL);
    let founds = |_: &super::shared::State| state().members.contains(&1).then_some(());
    one.shared.wait(LIMIT, founds).await.unwrap();
    let mut two = call.join_unready(2).await;
    let has_keys = |state: &super::shared::State| state.dave.members().contains(&2).then_some(());
    one.shared.wait(LIMIT, has_keys).await.unwrap();
    one.in_call_with(&[2], Duration::ZERO).await.unwrap_err();
    two.say(23, json!({"transition_id": 1})).await;
    one.in_call_with(&[2], LIMIT).await.unwrap();
    call.clean();
}

#[tokio::test]
async fn members_come_and_go_and_the_group_follows() {
    let call = Call::start(VoiceOptions::default()).await;
    let (one, two) = call.two().await;
    assert_eq!(call.voice.group(GUILD, CHANNEL).epoch, 1);
    let three = call.join(3, None).await;
    for player in [&one, &two, &three] {
        player.in_call_with(&[1, 2, 3], LIMIT).await.unwrap();
    }
    heard(&three, &one, 500.0).await;
    heard(&one, &three, 600.0).await;
    two.leave();
    call.voice.leave(GUILD, 2);
    one.in_call_without(2, LIMIT).await.unwrap();
    three.in_call_without(2, LIMIT).await.unwrap();
    heard(&three, &one, 800.0).await;
    // The empty leaf is taken by the next.
    let four = call.join(4, None).await;
    four.in_call_with(&[1, 3, 4], LIMIT).await.unwrap();
    three.in_call_with(&[1, 3, 4], LIMIT).await.unwrap();
    heard(&four, &three, 900.0).await;
    let status = call.voice.group(GUILD, CHANNEL);
    assert_eq!((status.epoch, status.members.len(), status.refused), (4, 3, 0));
    call.clean();
}

#[tokio::test]
async fn group_restarts_without_dave_and_regains_it() {
    let call = Call::start(VoiceOptions::default()).await;
    let (one, two) = call.two().await;
    let executed = || call.voice.group(GUILD, CHANNEL).transitions;
    let settled = |more: u64| {
        let (one, voice) = (one.clone(), call.voice.clone());
        async move {
            let enough = |_: &super::shared::State| {
                (voice.group(GUILD, CHANNEL).transitions >= more).then_some(())
            };
            one.shared.wait(LIMIT, enough).await.unwrap();
        }
    };
    let before = executed();
    call.voice.reset_group(GUILD, CHANNEL);
    settled(before + 1).await;
    heard(&one, &two, 440.0).await;
    let before = executed();
    call.voice.downgrade(GUILD, CHANNEL);
    settled(before + 1).await;
    assert_eq!(call.voice.group(GUILD, CHANNEL).version, 0);
    for player in [&one, &two] {
        let plain = |state: &super::shared::State| (state.dave.version() == 0).then_some(());
        player.shared.wait(LIMIT, plain).await.unwrap();
    }
    let before = call.voice.counts(GUILD, 1).plain_frames;
    heard(&one, &two, 550.0).await;
    assert_eq!(call.voice.counts(GUILD, 1).plain_frames, before + 30);
    let before = executed();
    call.voice.upgrade(GUILD, CHANNEL);
    settled(before + 1).await;
    heard(&two, &one, 660.0).await;
    assert_eq!(call.voice.counts(GUILD, 2).plain_frames, 0);
    call.clean();
}

#[tokio::test]
async fn player_with_unreadable_commit_rejoins_group() {
    let call = Call::start(VoiceOptions::default()).await;
    let (one, two) = call.two().await;
    call.voice.spoil_commit(GUILD, CHANNEL, 2);
    let three = call.join(3, None).await;
    let again = |state: &super::shared::State| {
        let _unused = state;
        let status = call.voice.group(GUILD, CHANNEL);
        (status.refused == 1 && status.members.len() == 3 && status.epoch == 4).then_some(())
    };
    three.shared.wait(LIMIT, again).await.unwrap();
    two.in_call_with(&[1, 2, 3], LIMIT).await.unwrap();
    three.in_call_with(&[1, 2, 3], LIMIT).await.unwrap();
    heard(&two, &three, 440.0).await;
    heard(&one, &two, 550.0).await;
    call.clean();
}

/// Number of packets, of which some may have come twice.
fn different(packets: &[Packet]) -> usize {
    packets.iter().map(|packet| packet.seq).collect::<BTreeSet<u16>>().len()
}

/// Waits until `two` has heard all of the 105 packets of user 1 but the lost ones.
async fn all_arrive(call: &Call, two: &Player) {
    loop {
        let counts = call.voice.counts(GUILD, 1);
        let different = u64::try_from(different(&two.packets(1))).unwrap();
        if counts.packets_in == 105 && different == 105 - counts.lost {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn faults_do_what_they_say() {
    let call = Call::start(VoiceOptions { seed: 7, ..VoiceOptions::default() }).await;
    let (one, two) = call.two().await;
    let scope = Scope::User { guild: GUILD, user: 1 };
    let jitter = Duration::from_millis(60);
    let lossy = Faults { loss: 0.1, duplication: 0.2, jitter, ..Faults::default() };
    call.voice.set_faults(scope, Faults { header_extensions: true, ..lossy });
    one.say(&tone(440.0, Duration::from_secs(2))).await.unwrap();
    tokio::time::timeout(LIMIT, all_arrive(&call, &two)).await.unwrap();
    let (packets, lost) = (two.packets(1), call.voice.counts(GUILD, 1).lost);
    assert!((3..25).contains(&lost), "{lost} of 105 lost");
    let numbers: Vec<u16> = packets.iter().map(|packet| packet.seq).collect();
    let late =
        numbers.windows(2).filter(|pair| pair[1].wrapping_sub(pair[0]) > u16::MAX / 2).count();
    assert!(late > 3, "jitter reorders");
    assert!(packets.len() > different(&packets), "some came twice");
    let pcm = two.heard(1);
    let (seconds, height) = audible(&pcm);
    assert!((100 * 960..=105 * 960).contains(&pcm.len()), "{} samples", pcm.len());
    assert!(seconds > 1.5 && (height - 440.0).abs() < 30.0, "{seconds} s, {height} Hz");
    for broken in [
        Faults { wrong_transport_key: true, ..Faults::default() },
        Faults { wrong_dave_key: true, ..Faults::default() },
    ] {
        call.voice.set_faults(scope, broken);
        two.forget();
        let before = two.not_understood();
        one.say(&tone(440.0, Duration::from_millis(200))).await.unwrap();
        let ten =
            |state: &super::shared::State| (state.not_understood >= before + 10).then_some(());
        two.shared.wait(LIMIT, ten).await.unwrap();
        assert!(two.packets(1).iter().all(|packet| packet.rms < AUDIBLE));
    }
    call.voice.set_faults(scope, Faults::default());
    heard(&one, &two, 440.0).await;
    call.clean();
}

#[tokio::test]
async fn sound_without_speaking_updates_has_no_speaker() {
    let call = Call::start(VoiceOptions::default()).await;
    let (one, two) = call.two().await;
    let scope = Scope::User { guild: GUILD, user: 1 };
    call.voice.set_faults(scope, Faults { speaking_withheld: true, ..Faults::default() });
    one.say(&tone(440.0, Duration::from_millis(200))).await.unwrap();
    let several = |state: &super::shared::State| (state.not_understood > 5).then_some(());
    two.shared.wait(LIMIT, several).await.unwrap();
    assert!(two.packets(1).is_empty());
    call.voice.set_faults(scope, Faults::default());
    let _speech = one.start_saying(tone(440.0, Duration::from_secs(5)));
    two.wait_for_voice(1, 3000.0, LIMIT).await.unwrap();
    call.clean();
}

#[tokio::test]
async fn cut_swallows_sound_and_delays_words() {
    let call = Call::start(VoiceOptions::default()).await;
    let (one, two) = call.two().await;
    // Longer than the words into it take, however busy the machine is.
    let cut = Duration::from_secs(2);
    let began = Instant::now();
    call.voice.cut(Scope::User { guild: GUILD, user: 1 }, cut);
    one.say(&tone(440.0, Duration::from_millis(200))).await.unwrap();
    assert!(two.packets(1).is_empty());
    let speech = two.start_saying(tone(440.0, Duration::from_secs(5)));
    let came = one.wait_for_voice(2, 3000.0, LIMIT).await.unwrap();
    assert!(came - began >= cut, "{:?}", came - began);
    drop(speech);
    heard(&one, &two, 440.0).await;
    call.clean();
}

#[tokio::test]
async fn player_resumes_and_follows_server_migration() {
    let call = Call::start(VoiceOptions::default()).await;
    let (one, two) = call.two().await;
    for code in [None, Some(4015)] {
        let before = call.voice.counts(GUILD, 1).resumed;
        call.voice.close(GUILD, 1, code);
        let again =
            |_: &super::shared::State| (call.voice.counts(GUILD, 1).resumed > before).then_some(());
        let polled = async {
            while again(&super::shared::State::default()).is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LIMIT, polled).await.unwrap();
        heard(&one, &two, 440.0).await;
    }
    let moves = call.voice.migrate(GUILD);
    assert_eq!(moves.iter().map(|(user, ..)| *user).collect::<Vec<_>>(), [1, 2]);
    for (user, token, endpoint) in moves {
        let player = if user == 1 { &one } else { &two };
        player.server_update(&endpoint, &token).await.unwrap();
    }
    one.in_call_with(&[1, 2], LIMIT).await.unwrap();
    two.in_call_with(&[1, 2], LIMIT).await.unwrap();
    heard(&one, &two, 440.0).await;
    heard(&two, &one, 700.0).await;
    for player in [&one, &two] {
        player.take_seat(call.seat(player.user(), CHANNEL + 1)).await.unwrap();
    }
    one.in_call_with(&[1, 2], LIMIT).await.unwrap();
    two.in_call_with(&[1, 2], LIMIT).await.unwrap();
    heard(&two, &one, 550.0).await;
    assert!(call.voice.group(GUILD, CHANNEL).members.is_empty());
    call.voice.close(GUILD, 2, Some(4014));
    let closed = |state: &super::shared::State| state.close_code;
    assert_eq!(two.shared.wait(LIMIT, closed).await.unwrap(), 4014);
    call.clean();
}

#[tokio::test]
async fn speech_can_be_stopped() {
    let call = Call::start(VoiceOptions { dave: false, ..VoiceOptions::default() }).await;
    let (one, two) = call.two().await;
    let mut speech = one.start_saying(tone(440.0, Duration::from_secs(30)));
    speech.started().await.unwrap();
    let came = two.wait_for_voice(1, 3000.0, LIMIT).await.unwrap();
    speech.stop();
    let spoken = speech.finished().await.unwrap();
    assert!(spoken.packets < 500 && spoken.last_voiced >= spoken.first_voiced);
    assert!(came >= spoken.first_packet);
    heard_to_its_end(1, &two).await;
    assert_eq!(two.packets(1).iter().filter(|packet| packet.silence).count(), 5);
    call.clean();
}

#[tokio::test]
async fn lone_player_sends_nothing_into_encrypted_call() {
    let call = Call::start(VoiceOptions::default()).await;
    let one = call.join(1, None).await;
    let pcm = tone(440.0, Duration::from_millis(100));
    let saying = tokio::time::timeout(Duration::from_millis(500), one.say(&pcm)).await;
    assert!(saying.is_err(), "it waits for keys");
    assert_eq!(call.voice.counts(GUILD, 1).packets_in, 0);
}
