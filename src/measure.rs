//! Parts of the program that benches and the hearing test measure.
//!
//! The compiler reports no dead code here; `tests/house.rs` checks that the program uses each name.

pub use crate::{
    app::IDENTITIES as TOOL_IDENTITIES,
    audio::{Frame, Gain, Resampler, SampleRate},
    campaign::{
        Accounts, AddedServer, Announcer, ApprovalOptions, AssistantSettings, ChangeError, Consent,
        EngineOffer, Engines, Factory, GuildStore, HandleParts, Handles, ImportSettings, MadeTable,
        ModelMaker, OpenError, RunningTable, ScheduleOptions, ServedGuilds, ServerError, Settings,
        TableRequest, Tables, Transcript, TranscriptOptions, TranscriptWriter, VoiceLister,
        count_event,
    },
    config::load as load_config,
    discord::{
        BALANCE_EVERY, Options as DiscordOptions, renewed_every, run as run_discord, surplus,
    },
    domain::{
        AddressMode, CallId, Campaign, Claim, Cost, EngineKind, Message, Money, Npc, Owner, Policy,
        S2s, Secret, SessionId, Tier, ToolCall, ToolChoice, TurnFacts, TurnId, Voice,
    },
    engine::{
        Budget, Cascaded, Cause, Conversation, Gate, NpcCalls, NpcModel, Opener, PlayedPart,
        Position, Reply, ReplyPort, SessionLimits, Setting, SpeechToSpeech, Synthesizer, Turn,
        TurnReport, VoiceEngine,
    },
    figures::{Figures, ToolCallFigure},
    logic::{
        budget::{BudgetOptions, Ledger},
        dice,
        music::{Layer, MusicOrder, Track},
        names::Glossary,
        own_lines::Labels,
        sentence::{SentenceOptions, SentenceSplitter},
        spoken::dice_in,
        tier::{AbsentName, Keywords, Names, TierInput, TierSelector},
        turn::Detector,
        vad::{Vad, VadOptions},
    },
    memory::{
        AccountId, AccountRequest, Address, Around, CampaignKey, Change, DayCost, Entity,
        EntityKind, GuildRecord, IDENTIFY_APART, Item, ItemKind, KeptTable, LEASE_TTL, Lease,
        LineQuery, MemoryStore, Node, NodeStatus, Postgres, Posting, Present, Provenance, Relation,
        RelationKey, Scope, Sqlite, Status as ItemStatus, Uid, Utterance, Vector, VectorQuery,
        Viewer, Visibility, fair_share, shard_of,
    },
    provider::{
        Attempts, Candidate, Chain, ChatEvent, ChatModel, ChatRequest, Cores, Embedder, Error,
        Kind, Kokoro, KokoroOptions, OneByOne, OneShot, Pcm, Piper, PiperOptions, RecogniserEntry,
        Registry, ServiceInfo, Services, SpeakRequest, SpeechEvent, SpeechOptions, SpeechService,
        SpeechToText, SttAbilities, Synthesis, SynthesisSetup, TextToSpeech, realtime::Realtime,
    },
    session::{
        Backlog, Command, Conversations, EventReader, Memory as RecallMemory, MusicPlayer, Options,
        Outlets, Pace, Question as RecallQuestion, Recaller, Seat, SoundTime, Speaker, SpeakerId,
        TableEvent, TableEvents, TableHandle, TableParts, TableSetup, TurnLine, VoiceFrame,
        VoiceInput, VoiceOut, expected_at_first, open,
    },
    tools::{
        Attachment, Authority, CallContext, CallError, CallOutput, Caller, Declared, Definition,
        Effects, Handler, Progress, Query, Report, SelectionOptions, SessionCalls, SourceKind,
        Taint, ToolHost,
        builtin::{Dice, Materials, Music, RandomTable, RuleBook, offer as offer_built_ins},
        connection::{Auth, Facts, Reach, Sandbox, ServerOptions, Servers, Setup, Trust},
        report as tool_figures,
    },
    traces::{Operation, Trace},
};
