//! Keys of workflows.

use super::TEXT_OR_TEXTS;
use crate::yaml::{Key, Kind, Shape};

/// Longest wait: that of a run.
const SECONDS: Kind = Kind::Number { min: 0.0, max: 1_800.0 };

pub static FILE: Shape = Shape {
    title: "A Glyphoxa workflow",
    keys: &[
        Key::required("name", Kind::Filled, "Its name, of letters, digits, - and _."),
        Key::required("description", Kind::Filled, "What it does, for people and models."),
        Key::new(
            "inputs",
            Kind::Names(&Kind::Any),
            "JSON Schema of its inputs, an object; ${inputs.NAME} in a step is the value.",
        ),
        Key::new(
            "offer",
            Kind::Flag,
            "NPCs that list workflow.NAME under tools may call it; default false.",
        ),
        Key::required(
            "steps",
            Kind::List(&Kind::Shape(&STEP)),
            "At most 100, one after another; ${steps.NAME} is the result of an earlier one.",
        ),
        Key::new("$schema", Kind::Text, "Address of a schema, for editors."),
    ],
};

const NAME: Key =
    Key::new("name", Kind::Filled, "Letters, digits and _, to use its result in later steps.");
const WHEN: Key = Key::new(
    "when",
    Kind::Filled,
    "JMESPath over inputs and steps; the step is skipped unless it is true.",
);
const ON_ERROR: Key = Key::new(
    "on_error",
    Kind::Word(&["stop", "continue"]),
    "continue: the next step runs although this one failed; default stop.",
);

const SAY: Key = Key::new("say", Kind::Shape(&SPEECH), "An NPC says a text as it is.");
const ASK: Key = Key::new("ask", Kind::Shape(&SPEECH), "An NPC answers a text.");
const SCENE: Key = Key::new(
    "scene",
    Kind::Either(&PLACES),
    "Place, time, music and NPCs of the game, as in /scene; a text alone is the place.",
);
const MUSIC: Key = Key::new(
    "music",
    Kind::Either(&SOUNDS),
    "What plays, in words as in /music; { stop: true } ends it.",
);
const PICTURE: Key = Key::new("picture", Kind::Shape(&IMAGE), "Has a picture made and shown.");
const ROLL: Key = Key::new(
    "roll",
    Kind::Either(&ROLLS),
    "Rolls dice, such as 2d6+3; its result has total, rolls and text.",
);
const TOOL: Key =
    Key::new("tool", Kind::Shape(&CALL), "Calls a tool, or another workflow as workflow.NAME.");
const TIER: Key = Key::new(
    "tier",
    Kind::Either(&LEVELS),
    "How much time answers may take, as in /tier; auto: depends on what is asked.",
);
const MUTE: Key = Key::new("mute", Kind::Filled, "Name of an NPC that falls silent.");
const UNMUTE: Key = Key::new("unmute", Kind::Filled, "Name of an NPC that may speak again.");
const NOTIFY: Key = Key::new("notify", Kind::Shape(&NOTICE), "Writes a text to people.");
const WAIT: Key = Key::new(
    "wait",
    Kind::Either(&WAITS),
    "Waits so many seconds, or with { until: silence } until nobody speaks.",
);
const PARALLEL: Key = Key::new(
    "parallel",
    Kind::List(&MEMBERS),
    "Steps that begin together; the next step waits for all.",
);

pub static STEP: Shape = Shape {
    title: "A step of a workflow",
    keys: &[
        NAME, WHEN, ON_ERROR, SAY, ASK, SCENE, MUSIC, PICTURE, ROLL, TOOL, TIER, MUTE, UNMUTE,
        NOTIFY, WAIT, PARALLEL,
    ],
};

pub static MEMBER: Shape = Shape {
    title: "A step beside others",
    keys: &[
        NAME, WHEN, ON_ERROR, SAY, ASK, SCENE, MUSIC, PICTURE, ROLL, TOOL, TIER, MUTE, UNMUTE,
        NOTIFY, WAIT,
    ],
};

// Named, because a constant may refer to statics but to no temporary that does.
static PLACES: [Kind; 2] = [Kind::Filled, Kind::Shape(&PLACE)];
static SOUNDS: [Kind; 2] = [Kind::Filled, Kind::Shape(&SOUND)];
static ROLLS: [Kind; 2] = [Kind::Filled, Kind::Shape(&DICE)];
static LEVELS: [Kind; 2] = [Kind::Word(TIERS), Kind::Shape(&LEVEL)];
static WAITS: [Kind; 2] = [SECONDS, Kind::Shape(&PAUSE)];
static MEMBERS: Kind = Kind::Shape(&MEMBER);

pub static SPEECH: Shape = Shape {
    title: "A text and its NPC",
    keys: &[
        Key::required("npc", Kind::Filled, "Name of the NPC."),
        Key::required("text", Kind::Filled, "The text."),
    ],
};

pub static PLACE: Shape = Shape {
    title: "A change of the scene",
    keys: &[
        Key::new("location", Kind::Filled, "A scene of the campaign, or any place."),
        Key::new("time", Kind::Filled, "Time of the game, such as dusk."),
        Key::new("music", Kind::Filled, "Words for its music; default: the scene's own."),
        Key::new("enter", TEXT_OR_TEXTS, "Names of NPCs that come."),
        Key::new("leave", TEXT_OR_TEXTS, "Names of NPCs that go."),
    ],
};

pub static SOUND: Shape = Shape {
    title: "Music of a step",
    keys: &[
        Key::new("play", Kind::Filled, "Words for what plays."),
        Key::new("stop", Kind::Flag, "true: the music ends."),
    ],
};

pub static IMAGE: Shape = Shape {
    title: "A picture of a step",
    keys: &[
        Key::new("npc", Kind::Filled, "The NPC that shows it; default: the assistant."),
        Key::required("prompt", Kind::Filled, "What it shows, in words."),
    ],
};

pub static DICE: Shape = Shape {
    title: "A roll of a step",
    keys: &[Key::required("expression", Kind::Filled, "The dice, such as 2d6+3.")],
};

pub static CALL: Shape = Shape {
    title: "A call of a step",
    keys: &[
        Key::required("identity", Kind::Filled, "The tool, as SERVER.TOOL."),
        Key::new(
            "npc",
            Kind::Filled,
            "The NPC that calls it, within its rights; default: the assistant.",
        ),
        Key::new("arguments", Kind::Names(&Kind::Any), "Its arguments; default none."),
    ],
};

const TIERS: &[&str] = &["fast", "standard", "deep", "auto"];

pub static LEVEL: Shape = Shape {
    title: "A tier of a step",
    keys: &[
        Key::required("tier", Kind::Word(TIERS), "The tier; auto: depends on what is asked."),
        Key::new("npc", Kind::Filled, "Only for this NPC; default: all."),
        Key::new(
            "minutes",
            Kind::Whole { min: 1, max: 720 },
            "For so many minutes; default: until it is changed.",
        ),
    ],
};

pub static NOTICE: Shape = Shape {
    title: "A notice of a step",
    keys: &[
        Key::required("to", Kind::Word(&["dm", "players"]), "The game master, or the players."),
        Key::required("text", Kind::Filled, "The text."),
    ],
};

pub static PAUSE: Shape = Shape {
    title: "A wait of a step",
    keys: &[
        Key::new("seconds", SECONDS, "How long; with until: how long at most."),
        Key::new("until", Kind::Word(&["silence"]), "silence: until nobody speaks."),
    ],
};
