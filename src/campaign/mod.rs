//! Services that outlive a table: transcripts, recaps, facts, privacy, the world, settings, money.
//!
//! Every face (Discord, the command line, programs outside) calls them through [`Handles`].
//! **Never**: knows a face, or reads the configuration; `app` passes what is needed.

mod access;
mod analytics;
mod announcer;
mod assistant;
mod bringing;
mod call_log;
mod callbacks;
mod clock;
mod dice;
mod engines;
mod factory;
mod facts;
mod file_error;
mod guilds;
mod handles;
mod hold;
mod indexer;
mod keeping;
mod kept;
mod kept_store;
mod link;
mod measured;
mod mistakes;
mod moving;
mod music;
mod notices;
mod ordered;
mod outside;
mod parts;
mod permits;
mod played;
mod privacy;
mod recap;
mod schedules;
mod served;
mod sessions;
mod settings;
mod spend;
#[cfg(test)]
mod stand_in;
mod transcript;
mod voices;
mod workflows;
mod world;

pub use crate::{
    memory::{
        Deletion, Error as StoreError, ForgetFrom, LEASE_TTL, Lease, Leases, Node, NodeStatus,
        fair_share, shard_of,
    },
    provider::{NpcService, OutsidePrograms, ServiceInfo, Services},
};
pub use access::{Access, Holder, NewToken};
pub use analytics::{Analytics, AnalyticsError, CallFilter, call_lines, cost_lines};
pub use announcer::{Announcement, Announcer};
pub use assistant::{Answer, Assistant, AssistantParts, AssistantQuestion, Written};
pub use bringing::{
    Cast as BringingCast, NewFile, NewFiles, PreviewedFiles, VoiceOffer, plan as plan_drafts,
};
pub use call_log::{CallLog, calls_of, forget_calls};
pub use callbacks::{Callback, CallbackChoice, CallbackDecision, CallbackError, Callbacks};
pub use clock::{date, now, time, wall_clock};
pub use dice::Dice;
pub use engines::{ChangeError, EngineOffer, Engines, Given, engine_changed};
pub use factory::{
    Factory, MadeTable, OpenError, RunningTable, ServerError, TableRequest, close_table,
};
pub use facts::{
    Decided, Fact, FactError, FactId, FactStatus, FactsPage, Verdict, WaitingFacts, consolidate,
    decide, facts,
};
pub use file_error::FileError;
pub use guilds::{
    AddedServer, Consent, GuildError, GuildSettings, GuildStore, KeptCall, RunningSession,
    ServedGuilds, ShownRequest,
};
pub use handles::{HandleParts, Handles};
pub use indexer::{Indexed, Indexer};
pub use kept::{KeptError, KeptSession, owner_of};
pub use kept_store::KeptStore;
pub use link::{LinkParts, TableLink};
pub use measured::count_event;
pub use mistakes::{Mistake, Mistakes};
pub use moving::{
    CarriedSettings, FILES as EXPORT_FILES, Folder, MANIFEST, Manifest, ReturnError, SETTINGS,
    ScopeContent, Tally, calls_left_out, calls_of_sessions, held, plan_return, read_texts, texts,
    write_calls,
};
pub use music::{check_sound, level as level_music};
pub use notices::{DecideAt, Tables, WaitingCall};
pub use outside::{
    ListenFor, ListenUntil, OutsideError, OutsideSpoken, TableSound, Utterance48, WantedLine,
    way_to_table,
};
pub use permits::{KeptPermits, ToolDecisions, outside_sessions};
pub use played::{PlayedCampaign, Scoped, key_of, shown_name};
pub use privacy::{
    Deleted, DirectDeletion, KeptFiles, KeptOf, NamesOf, StoredOf, kept_of, names, own_lines,
    played_by_node, played_elsewhere, stored_of,
};
pub use recap::{RecapError, RecapRequest, Writer, recap};
pub use schedules::{
    Drives, EveningTable, Evenings, NewSchedule, Planner, ScheduleEntry, ScheduleError,
    ScheduleNotice, Schedules, SchedulesParts, by_program, schedules_of_program,
};
pub use served::Served;
pub use sessions::{NotSaved, Sessions, TableHere};
pub use settings::{
    ApprovalOptions, AssistantSettings, ImportSettings, ModelMaker, NotifyOptions, ScheduleOptions,
    Settings, SharedAssistant, SharedSettings, VoiceLister,
};
pub use spend::{AccountFor, Accounts};
#[cfg(test)]
pub use stand_in::{
    WantedTable, guild_store as stand_in_guild_store, handles as stand_in_handles,
    handles_that_refuse as stand_in_handles_that_refuse,
    handles_without_tables as stand_in_handles_without_tables, settings as stand_in_settings,
};
pub use transcript::{NotWritten, Transcript, TranscriptOptions, TranscriptWriter, lines_wait};
pub use voices::{
    FoundVoice, KnownVoice, VOICE_LINE_MAX, WantedVoice, sample_line, unknown_voice, voice_changed,
};
pub use workflows::{
    Origin, RunsSlot, StartedRun, WantedRun, WorkflowParts, WorkflowRuns, offered_workflows,
    read_inputs, run_title,
};
pub use world::{
    FileImport, IMPORT, ImportChoices, ImportError, ImportStage, NewEntity, Plan, SeededWorlds,
    SentFile, WorldAnswer, WorldEdits, WorldOrder, WorldRequest, entities_of_no_file, plan, seed,
    word as entity_word,
};
