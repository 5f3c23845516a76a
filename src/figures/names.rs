//! Names, help lines and buckets of all figures, as dashboards and alerts use them.
//!
//! A name ends with its unit; counters end with `_total`. Labels are named where a figure is fed.

/// A figure without buckets.
#[derive(Debug)]
pub struct Figure {
    pub name: &'static str,
    pub help: &'static str,
}

/// Times in seconds, counted by buckets.
#[derive(Debug)]
pub struct Times {
    pub figure: Figure,
    /// Upper bounds in seconds.
    pub buckets: &'static [f64],
}

const fn figure(name: &'static str, help: &'static str) -> Figure {
    Figure { name, help }
}

/// A listener notices steps of about 100 ms below two seconds.
const ANSWERS: &[f64] =
    &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0, 20.0];
/// Few, because tools have a label each.
const CALLS: &[f64] = &[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
const STORE: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];
/// Identifies of one bucket are 5 s apart, over all nodes.
const IDENTIFIES: &[f64] = &[0.1, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0];

pub const FIRST_AUDIO: Times = Times {
    figure: figure(
        "glyphoxa_turn_first_audio_seconds",
        "End of a player's speech to the first sound of the answer, where the sound leaves",
    ),
    buckets: ANSWERS,
};
pub const STAGE: Times = Times {
    figure: figure(
        "glyphoxa_turn_stage_seconds",
        "Stages of answers: stt, llm_first_token and tts_first_audio follow each other, tools lies within",
    ),
    buckets: ANSWERS,
};
pub const TOOL_CALL_TIME: Times = Times {
    figure: figure(
        "glyphoxa_tool_call_seconds",
        "A model's call of a tool to its result, for calls that were sent",
    ),
    buckets: CALLS,
};
pub const STORE_TIME: Times = Times {
    figure: figure("glyphoxa_store_seconds", "Writes and checks of the store, failed ones too"),
    buckets: STORE,
};
pub const IDENTIFY_WAIT: Times = Times {
    figure: figure(
        "glyphoxa_identify_wait_seconds",
        "Waits of shards for their turn to identify with Discord, over all nodes",
    ),
    buckets: IDENTIFIES,
};
pub const TIMES: [&Times; 5] = [&FIRST_AUDIO, &STAGE, &TOOL_CALL_TIME, &STORE_TIME, &IDENTIFY_WAIT];

pub const TURNS: Figure = figure("glyphoxa_turns_total", "Utterances of players by outcome");
pub const INTERRUPTIONS: Figure =
    figure("glyphoxa_interruptions_total", "Answers cut off while they sounded, and X-cards");
pub const TOOL_CALLS: Figure =
    figure("glyphoxa_tool_calls_total", "Calls of tools by models, refused ones too");
pub const EVENTS_MISSED: Figure = figure(
    "glyphoxa_events_missed_total",
    "Events of tables that the transcript missed because it was too slow",
);
pub const PACKETS_LOST: Figure = figure(
    "glyphoxa_voice_packets_lost_total",
    "Packets of players' voices that never arrived, or too late",
);
pub const PACKETS_UNDECODABLE: Figure = figure(
    "glyphoxa_voice_packets_undecodable_total",
    "Packets of players' voices that arrived and are no sound",
);
pub const VOICE_RECONNECTS: Figure = figure(
    "glyphoxa_voice_reconnects_total",
    "Voice connections to Discord that were lost and are back",
);
pub const GATEWAY_RECONNECTS: Figure = figure(
    "glyphoxa_gateway_reconnects_total",
    "Connections to Discord's gateway after the first one",
);
pub const LEASES_LOST: Figure = figure(
    "glyphoxa_leases_lost_total",
    "Shards whose lease ended while this node served them; not those given back",
);
/// Counters that are registered with the recorder.
pub const COUNTERS: [&Figure; 9] = [
    &TURNS,
    &INTERRUPTIONS,
    &TOOL_CALLS,
    &EVENTS_MISSED,
    &PACKETS_LOST,
    &PACKETS_UNDECODABLE,
    &VOICE_RECONNECTS,
    &GATEWAY_RECONNECTS,
    &LEASES_LOST,
];

/// A counter of fractions, which the recorder doesn't have.
pub const SPEND: Figure = figure(
    "glyphoxa_spend_usd_total",
    "Money booked since the start, at the configured prices, in their currency",
);

pub const BUILD: Figure = figure("glyphoxa_build_info", "Always 1, with the program's version");
pub const TABLES: Figure = figure("glyphoxa_tables_active", "Tables that run");
pub const BLOCKED: Figure =
    figure("glyphoxa_table_blocked", "Tables whose task doesn't return to its loop");
pub const LISTENERS: Figure =
    figure("glyphoxa_listeners", "People in voice channels of Discord whom NPCs hear");
pub const BACKLOG: Figure =
    figure("glyphoxa_transcript_backlog", "Lines of transcripts that wait for the store");
pub const SERVER_UP: Figure =
    figure("glyphoxa_mcp_server_up", "1: the configured tool server is ready, 0: it is not");
pub const BREAKER_OPEN: Figure = figure(
    "glyphoxa_breaker_open",
    "1: the model, recogniser or voice service is left alone after failures, 0: it is asked",
);
pub const GATEWAY_UP: Figure = figure(
    "glyphoxa_gateway_up",
    "1: connected to Discord's gateway, 0: not; missing without a bot",
);
pub const SHARDS_HELD: Figure =
    figure("glyphoxa_shards_held", "Shards of Discord's gateway that this node holds");
pub const SHARDS: Figure =
    figure("glyphoxa_shards", "Shards of the whole bot, as this node is configured");
pub const RENEWAL_AGE: Figure = figure(
    "glyphoxa_lease_renewal_age_seconds",
    "Time since this node last renewed its leases; past cluster.lease_s it is silent",
);
/// Written by ourselves, [`SPEND`] included.
#[cfg(test)]
pub const WRITTEN: [&Figure; 12] = [
    &SPEND,
    &BUILD,
    &TABLES,
    &BLOCKED,
    &LISTENERS,
    &BACKLOG,
    &SERVER_UP,
    &BREAKER_OPEN,
    &GATEWAY_UP,
    &SHARDS_HELD,
    &SHARDS,
    &RENEWAL_AGE,
];
