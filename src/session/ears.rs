//! What an utterance means at this table: who is addressed, what tier the turn has.
//!
//! Entry type: [`Ears`]. **Never**: asks a model, changes a seat.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    Seat, SpeakerId,
    clock::Moment,
    line::TierLine,
    speakers::Speakers,
    turns::{Utterance, tier_line},
};
use crate::{
    domain::{Campaign, EntityKind, Npc, Tier},
    logic::{
        address::{Address, AddressInput, Addresser, Called, Candidate, Why},
        command::{self, NpcNames},
        names::Glossary,
        tier::{Keywords, Names, TierInput, TierSelector, effective},
        words::fold,
    },
};

/// How long the game master's spoken "go faster" lasts.
const FASTER_FOR: Duration = Duration::from_secs(300);

/// What an utterance means.
pub enum Understood {
    /// There is nothing in it.
    Nothing,
    /// A stop word alone.
    Stop,
    /// An order of the game master.
    Order(command::Command),
    /// It is meant for no NPC, and why.
    Nobody(String),
    /// It is meant for this seat.
    Addressed {
        /// Which.
        seat: usize,
        /// The tier of the turn.
        tier: TierLine,
    },
}

/// Everything that decides who is meant.
pub struct Ears {
    glossary: Glossary,
    addresser: Addresser,
    selector: TierSelector,
    tier_names: Names,
    npc_names: Vec<NpcNames>,
    npcs: Vec<String>,
    campaign: Arc<Campaign>,
    keywords: Keywords,
    rules: Arc<[String]>,
    scene: Option<usize>,
    pinned: Option<usize>,
    dm_tier: Option<(Tier, Option<Instant>)>,
    /// Think carefully: the next turn of this seat is deep.
    thinking: Vec<bool>,
    conversations: Vec<(SpeakerId, usize, Moment)>,
    last_deep: Option<Moment>,
}

impl Ears {
    /// Prepares the names of a table; `rules` are phrases that name a rule.
    pub fn new(
        seats: &[Seat],
        campaign: &Arc<Campaign>,
        keywords: &Keywords,
        rules: &Arc<[String]>,
    ) -> Self {
        let npcs: Vec<&Npc> = seats.iter().map(|seat| &*seat.npc).collect();
        let called = npcs.iter().flat_map(|npc| std::iter::once(&npc.name).chain(&npc.aliases));
        let entities =
            campaign.entities.iter().flat_map(|e| std::iter::once(&e.name).chain(&e.aliases));
        let characters = campaign.players.iter().map(|player| &player.character);
        let names = called.chain(entities).chain(characters).map(String::as_str);
        let language = npcs.first().map_or("en", |npc| npc.language.as_str());
        let players: Vec<Called<'_>> = campaign
            .players
            .iter()
            .map(|player| Called { name: &player.character, aliases: &[] })
            .collect();
        let called: Vec<Called<'_>> =
            npcs.iter().map(|npc| Called { name: &npc.name, aliases: &npc.aliases }).collect();
        let present: Vec<&str> = npcs.iter().map(|npc| npc.name.as_str()).collect();
        Self {
            glossary: Glossary::new(names, language),
            addresser: Addresser::new(&called, &players, language),
            selector: TierSelector::new(keywords),
            tier_names: tier_names(campaign, rules, &present),
            npc_names: NpcNames::of(npcs.iter().copied()),
            thinking: vec![false; npcs.len()],
            npcs: present.iter().map(|&name| name.to_owned()).collect(),
            scene: (!campaign.scenes.is_empty()).then_some(0),
            campaign: Arc::clone(campaign),
            keywords: keywords.clone(),
            rules: Arc::clone(rules),
            pinned: None,
            dm_tier: None,
            conversations: Vec::new(),
            last_deep: None,
        }
    }

    /// Learns the names of `seats` anew; who speaks with whom, the scene and orders stay.
    pub fn recast(&mut self, seats: &[Seat]) {
        let fresh = Self::new(seats, &self.campaign, &self.keywords, &self.rules);
        self.glossary = fresh.glossary;
        self.addresser = fresh.addresser;
        self.npc_names = fresh.npc_names;
    }

    /// Names put right.
    pub fn correct(&self, utterance: &Utterance) -> String {
        self.glossary.correct(utterance.raw.trim()).text
    }

    /// The NPCs' names, for telling orders and stop words.
    pub fn npc_names(&self) -> &[NpcNames] {
        &self.npc_names
    }

    /// The order of the game master that the whole of `text` is.
    pub fn order(&self, text: &str) -> Option<command::Command> {
        command::parse(text, &self.npc_names).filter(|order| match order {
            command::Command::Scene(name) => self.scene_named(name).is_some(),
            _ => true,
        })
    }

    /// Who is meant and which tier the turn has.
    pub fn understand(
        &self,
        utterance: &Utterance,
        seats: &[Seat],
        speakers: &Speakers,
        (queue_depth, now): (usize, Moment),
    ) -> Understood {
        let candidates: Vec<Candidate> = seats
            .iter()
            .enumerate()
            .map(|(index, seat)| Candidate {
                mode: seat.npc.address,
                present: self.is_present(index),
                muted: seat.muted,
            })
            .collect();
        let conversation = self
            .conversations
            .iter()
            .find(|(speaker, ..)| *speaker == utterance.speaker)
            .map(|(_, seat, at)| (*seat, now.since(*at)));
        let address = self.addresser.address(&AddressInput {
            text: &utterance.text,
            candidates: &candidates,
            conversation,
            pinned: self.pinned,
            players_present: speakers.players(),
        });
        match address {
            Address::Npc { index, .. } => Understood::Addressed {
                seat: index,
                tier: self.tier(&utterance.text, index, &seats[index], (queue_depth, now)),
            },
            Address::Player(_) => Understood::Nobody("said to another player".to_owned()),
            Address::Nobody(Why::NotAddressed) => {
                let here: Vec<&str> = (0..seats.len())
                    .filter(|seat| self.is_present(*seat))
                    .map(|seat| seats[seat].npc.name.as_str())
                    .collect();
                Understood::Nobody(format!("say a name first ({})", here.join(", ")))
            }
            Address::Nobody(why) => Understood::Nobody(why.to_string()),
        }
    }

    fn tier(
        &self,
        text: &str,
        index: usize,
        seat: &Seat,
        (queue_depth, when): (usize, Moment),
    ) -> TierLine {
        let now = Instant::now();
        let selection = self.selector.select(&TierInput {
            text,
            queue_depth,
            first_turn: !seat.has_spoken,
            since_deep: self.last_deep.map(|at| when.since(at)),
            names: &self.tier_names,
        });
        let by_dm = self.dm_tier.filter(|(_, until)| until.is_none_or(|until| now < until));
        let by_dm = match self.thinking.get(index) {
            Some(true) => Some(Tier::Deep),
            _ => by_dm.map(|(tier, _)| tier),
        };
        let effective = effective(selection.tier, seat.npc.budget_tier, by_dm);
        let reason = match by_dm {
            Some(_) => format!("game master's override; else {}", selection.reason),
            None => selection.reason.to_string(),
        };
        tier_line(selection.tier, effective, reason)
    }

    /// Everything is said to this seat, until `None`.
    pub fn pin(&mut self, seat: Option<usize>) {
        self.pinned = seat;
    }

    /// The game master's tier; `None` clears it.
    pub fn override_tier(&mut self, tier: Option<Tier>) {
        self.dm_tier = tier.map(|tier| (tier, None));
    }

    /// Answers come quicker for a while.
    pub fn go_faster(&mut self, now: Instant) {
        self.dm_tier = Some((Tier::Fast, Some(now + FASTER_FOR)));
    }

    /// The seat's next turn may take its time.
    pub fn think_carefully(&mut self, seat: usize) {
        if let Some(thinking) = self.thinking.get_mut(seat) {
            *thinking = true;
        }
    }

    /// Goes to the scene of this name; its full name.
    pub fn go_to_scene(&mut self, name: &str) -> Option<&str> {
        self.scene = Some(self.scene_named(name)?);
        self.scene()
    }

    /// The scene the table is in.
    pub fn scene(&self) -> Option<&str> {
        self.scene.and_then(|index| self.campaign.scenes.get(index)).map(|s| s.name.as_str())
    }

    /// Whether the seat's NPC is in the scene.
    pub fn is_present(&self, seat: usize) -> bool {
        let scene = self.scene.and_then(|index| self.campaign.scenes.get(index));
        scene.is_none_or(|scene| self.npcs.get(seat).is_some_and(|npc| scene.npcs.contains(npc)))
    }

    /// A turn that answers `speaker` begins at `tier`.
    pub fn begins(&mut self, now: Moment, seat: usize, tier: Tier) {
        if tier == Tier::Deep {
            self.last_deep = Some(now);
        }
        if let Some(thinking) = self.thinking.get_mut(seat) {
            *thinking = false;
        }
    }

    /// The seat has spoken to `speaker`: they are in conversation.
    pub fn has_spoken(&mut self, now: Moment, seat: usize, speaker: SpeakerId) {
        self.conversations.retain(|(known, ..)| *known != speaker);
        self.conversations.push((speaker, seat, now));
    }

    fn scene_named(&self, name: &str) -> Option<usize> {
        let wanted = fold(name);
        self.campaign.scenes.iter().position(|scene| fold(&scene.name) == wanted)
    }
}

/// Names that raise a turn's tier: quests are keywords already, so people and places that are not
/// at the table. `present` are the NPCs that are.
/// `rules` are phrases that name a rule.
pub fn tier_names(campaign: &Campaign, rules: &[String], present: &[&str]) -> Names {
    let absent = campaign
        .entities
        .iter()
        .filter(|entity| matches!(entity.kind, EntityKind::Npc | EntityKind::Location))
        .filter(|entity| !present.contains(&entity.name.as_str()))
        .flat_map(|entity| std::iter::once(&entity.name).chain(&entity.aliases))
        .map(String::as_str);
    Names::new(rules.iter().map(String::as_str), absent)
}

/// Whether two transcripts say the same, case and punctuation aside.
pub fn same_words(one: &str, other: &str) -> bool {
    fold(one) == fold(other)
}
