//! Meaning of an utterance at this table: addressee and tier.
//!
//! Entry type: [`Router`]. Asks no model.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    Seat, SeatId, SpeakerId,
    clock::Moment,
    expected::expected,
    overrides::{Because, Overrides, Pins, SeatCeiling, TurnTier},
    scene::Whereabouts,
    seats::Seats,
    speakers::Speakers,
    utterance::{Purpose, Utterance},
};
use crate::{
    domain::{Campaign, EntityKind, Npc, Tier},
    logic::{
        address::{Address, AddressInput, Addresser, Called, Candidate, Why},
        command::{self, NpcNames},
        music::MusicWish,
        names::Glossary,
        spoken_names::bare,
        tier::{AbsentName, EXCHANGE, Keywords, Names, Reason, RuleName, TierInput, TierSelector},
        words::fold,
    },
};

/// Duration of a spoken "go faster".
const FASTER_FOR: Duration = Duration::from_secs(300);
/// Former names of people that still count as theirs: some do call others by these, and learning all
/// names again takes time.
const FORMER_MAX: usize = 16;

pub enum Understood {
    Nothing,
    Stop,
    /// An X-card, by anyone, and when its words began.
    Halt(Instant),
    /// Ends the X-card that keeps NPCs silent.
    CardEnds,
    Order(command::Command),
    /// At least one wish about music.
    Music(Vec<MusicWish>),
    /// Addressed to no NPC, with the reason.
    Nobody(String),
    Addressed {
        seat: SeatId,
        tier: TurnTier,
    },
}

impl Understood {
    pub fn is_same_request(&self, purpose: &Purpose) -> bool {
        match self {
            Self::Addressed { seat, tier } => {
                *seat == purpose.seat && tier.effective == purpose.tier.effective
            }
            Self::Nothing
            | Self::Stop
            | Self::Halt(_)
            | Self::CardEnds
            | Self::Order(_)
            | Self::Music(_)
            | Self::Nobody(_) => false,
        }
    }
}

#[derive(Clone, Copy)]
pub struct Situation {
    /// Players who wait for an answer to become audible.
    pub queue_depth: usize,
    pub card: Option<&'static str>,
    pub now: Moment,
}

pub struct Router {
    glossary: Glossary,
    addresser: Addresser,
    selector: TierSelector,
    tier_names: Names,
    npc_names: Vec<NpcNames>,
    /// Seats of the NPCs with known names, in the order of the names.
    places: Vec<SeatId>,
    known: Background,
    pub scene: Whereabouts,
    pub pins: Pins,
    pub overrides: Overrides,
    conversations: Vec<(SpeakerId, SeatId, Moment)>,
    last_deep: Option<Moment>,
    /// Recent turns, oldest first, for detecting rapid exchanges.
    recent_turns: Vec<(SeatId, Moment)>,
    /// Everyone who has joined, by their last own name.
    met: Vec<(SpeakerId, String)>,
    /// Former names that the addresser still knows.
    former: usize,
}

pub struct Background {
    pub campaign: Arc<Campaign>,
    pub keywords: Keywords,
    pub rules: Arc<[RuleName]>,
}

impl Router {
    pub fn new(seats: &Seats, known: Background, characters: &[String]) -> Self {
        let names = npc_names(seats);
        let matchers = NameMatchers::of(seats, &known.campaign, characters);
        Self {
            glossary: matchers.glossary,
            addresser: matchers.addresser,
            npc_names: matchers.npc_names,
            places: seats.ids(),
            selector: TierSelector::new(&known.keywords),
            tier_names: known.tier_names(&names),
            overrides: Overrides::default(),
            scene: Whereabouts::new(&known.campaign, names),
            known,
            pins: Pins::default(),
            conversations: Vec::new(),
            last_deep: None,
            recent_turns: Vec::new(),
            met: Vec::new(),
            former: 0,
        }
    }

    /// Replaces the background; names take effect with [`Self::learn_names`].
    pub fn take(&mut self, known: Background) {
        self.selector = TierSelector::new(&known.keywords);
        self.scene.describe(&known.campaign);
        self.known = known;
    }

    /// Learns the names again; conversations, scene and orders are unchanged.
    pub fn learn_names(&mut self, seats: &Seats, characters: &[String]) {
        let matchers = NameMatchers::of(seats, &self.known.campaign, characters);
        self.glossary = matchers.glossary;
        self.addresser = matchers.addresser;
        self.met.iter().for_each(|(_, name)| self.addresser.meet(name));
        self.former = 0;
        self.npc_names = matchers.npc_names;
        self.places = seats.ids();
        self.tier_names = self.known.tier_names(&npc_names(seats));
    }

    /// Meets a person, perhaps under a new name; true if too many former names are known now
    /// ([`Self::learn_names`] forgets them).
    pub fn meet(&mut self, person: SpeakerId, name: &str) -> bool {
        let is_new = !self.met.iter().any(|(_, known)| known == name);
        match self.met.iter_mut().find(|(known, _)| *known == person) {
            Some((_, known)) => {
                self.former += usize::from(known.as_str() != name);
                name.clone_into(known);
            }
            None => self.met.push((person, name.to_owned())),
        }
        if is_new {
            self.addresser.meet(name);
        }
        self.former > FORMER_MAX
    }

    pub fn leave(&mut self, seat: SeatId) {
        self.scene.leave(seat);
        self.pins.leave(seat);
        self.overrides.leave(seat);
        self.conversations.retain(|(_, with, _)| *with != seat);
    }

    /// The seat of the NPC at this place among the names.
    pub fn seat(&self, place: usize) -> SeatId {
        self.places[place]
    }

    fn place(&self, seat: SeatId) -> Option<usize> {
        self.places.iter().position(|known| *known == seat)
    }

    pub fn expected(&self, seats: &Seats, characters: &[String]) -> Vec<String> {
        let npcs: Vec<_> = seats.iter().map(|(id, seat)| (id, &*seat.npc)).collect();
        expected(&npcs, &self.known.campaign, &self.scene, characters)
    }

    /// Corrects misheard names; typed text is unchanged.
    pub fn correct(&self, utterance: &Utterance) -> String {
        if utterance.typed {
            return utterance.raw.trim().to_owned();
        }
        self.glossary.correct(utterance.raw.trim()).text
    }

    /// Names of the campaign's people, at the table or not.
    pub fn people(&self) -> impl Iterator<Item = &str> {
        let people = self.known.campaign.entities.iter().filter(|it| is_person(it.kind));
        people.flat_map(|it| std::iter::once(&it.name).chain(&it.aliases)).map(String::as_str)
    }

    /// NPC names, for recognising orders and stop words.
    pub fn npc_names(&self) -> &[NpcNames] {
        &self.npc_names
    }

    /// The order of the game master that `text` consists of.
    pub fn order(&self, text: &str) -> Option<command::Command> {
        command::parse(text, &self.npc_names).filter(|order| match order {
            command::Command::Scene(name) => self.scene.knows(name),
            _ => true,
        })
    }

    pub fn understand(
        &self,
        utterance: &Utterance,
        seats: &Seats,
        speakers: &Speakers,
        situation: Situation,
    ) -> Understood {
        let candidates = self.candidates(seats);
        let input = self.input(utterance.speaker, &candidates, speakers, situation.now);
        let address = self.addresser.address(&AddressInput { text: &utterance.text, ..input });
        match address {
            Address::Npc { index, .. } => {
                let seat = self.seat(index);
                let tier = self.tier(&utterance.text, seat, seats, situation);
                Understood::Addressed { seat, tier }
            }
            Address::Player(_) => Understood::Nobody("said to another player".to_owned()),
            Address::Nobody(Why::NotAddressed | Why::Muted(_)) if situation.card.is_some() => {
                Understood::Nobody(situation.card.unwrap_or_default().to_owned())
            }
            Address::Nobody(Why::NotAddressed) => {
                let here: Vec<&str> = seats
                    .iter()
                    .filter(|(id, _)| self.scene.is_present(*id))
                    .map(|(_, seat)| seat.npc.name.as_str())
                    .collect();
                Understood::Nobody(format!("say a name first ({})", here.join(", ")))
            }
            Address::Nobody(why) => Understood::Nobody(why.to_string()),
        }
    }

    /// The seat that `speaker` talks to unless they call another NPC; works before their words are
    /// known.
    pub fn listener(
        &self,
        speaker: SpeakerId,
        seats: &Seats,
        speakers: &Speakers,
        now: Moment,
    ) -> Option<SeatId> {
        let candidates = self.candidates(seats);
        let input = self.input(speaker, &candidates, speakers, now);
        Addresser::expected(&input).map(|index| self.seat(index))
    }

    fn candidates(&self, seats: &Seats) -> Vec<Candidate> {
        let candidate = |(id, seat): (SeatId, &Seat)| Candidate {
            mode: seat.npc.address,
            present: self.scene.is_present(id),
            muted: seat.muted,
        };
        seats.iter().map(candidate).collect()
    }

    /// Everything that decides the addressee, except the words.
    fn input<'a>(
        &self,
        speaker: SpeakerId,
        candidates: &'a [Candidate],
        speakers: &Speakers,
        now: Moment,
    ) -> AddressInput<'a> {
        let known = self.conversations.iter().find(|(known, ..)| *known == speaker);
        AddressInput {
            text: "",
            candidates,
            conversation: known
                .and_then(|(_, seat, at)| Some((self.place(*seat)?, now.since(*at)))),
            pinned: self.pins.of(speaker).and_then(|seat| self.place(seat)),
            players_present: speakers.players(),
        }
    }

    pub fn tier(&self, text: &str, id: SeatId, seats: &Seats, situation: Situation) -> TurnTier {
        let seat = &seats[id];
        let selection = self.selector.select(&TierInput {
            text,
            queue_depth: situation.queue_depth,
            first_turn: !seat.has_spoken,
            recent_turns: self.turns_before(situation.now, id),
            has_pictures: seat.npc.has_pictures(),
            since_deep: self.last_deep.map(|at| situation.now.since(at)),
            names: &self.tier_names,
            here: self.scene.location(),
        });
        let ceiling = SeatCeiling { seat: id, highest: seat.npc.budget_tier };
        let is_keyword = matches!(selection.reason, Reason::DeepKeyword | Reason::StandardKeyword);
        let because = Because { text: selection.reason.to_string(), is_keyword };
        self.overrides.decide(ceiling, Instant::now(), selection.tier, because)
    }

    /// Turns of `seat` within the window of a rapid exchange before `now`.
    fn turns_before(&self, now: Moment, seat: SeatId) -> usize {
        let is_recent = |at: Moment| now.since(at) < EXCHANGE;
        self.recent_turns.iter().filter(|(of, at)| *of == seat && is_recent(*at)).count()
    }

    /// Lowers all tiers for [`FASTER_FOR`].
    pub fn go_faster(&mut self, now: Instant) {
        self.overrides.set(None, Some(Tier::Fast), Some(now + FASTER_FOR));
    }

    /// A turn begins; true if that ends an override of the game master.
    pub fn begins(&mut self, now: Moment, seat: SeatId, tier: Tier) -> bool {
        if tier == Tier::Deep {
            self.last_deep = Some(now);
        }
        self.recent_turns.retain(|(_, at)| now.since(*at) < EXCHANGE);
        self.recent_turns.push((seat, now));
        self.overrides.begins(seat)
    }

    pub fn has_spoken(&mut self, now: Moment, seat: SeatId, speaker: SpeakerId) {
        self.conversations.retain(|(known, ..)| *known != speaker);
        self.conversations.push((speaker, seat, now));
    }
}

impl Background {
    fn tier_names(&self, present: &[String]) -> Names {
        let present: Vec<&str> = present.iter().map(String::as_str).collect();
        tier_names(&self.campaign, &self.rules, &present)
    }
}

fn npc_names(seats: &Seats) -> Vec<String> {
    seats.iter().map(|(_, seat)| seat.npc.name.clone()).collect()
}

struct NameMatchers {
    glossary: Glossary,
    addresser: Addresser,
    npc_names: Vec<NpcNames>,
}

impl NameMatchers {
    fn of(seats: &Seats, campaign: &Campaign, characters: &[String]) -> Self {
        let npcs: Vec<&Npc> = seats.iter().map(|(_, seat)| &*seat.npc).collect();
        let called = npcs.iter().flat_map(|npc| std::iter::once(&npc.name).chain(&npc.aliases));
        let entities =
            campaign.entities.iter().flat_map(|e| std::iter::once(&e.name).chain(&e.aliases));
        let names = called.chain(entities).chain(characters).map(String::as_str);
        let language = npcs.first().map_or("en", |npc| npc.language.as_str());
        let players: Vec<Called<'_>> =
            characters.iter().map(|name| Called { name, aliases: &[] }).collect();
        let called: Vec<Called<'_>> =
            npcs.iter().map(|npc| Called { name: &npc.name, aliases: &npc.aliases }).collect();
        let mut addresser = Addresser::new(&called, &players, language);
        campaign.players.iter().for_each(|player| addresser.meet(&player.name));
        away(campaign, &npcs).for_each(|name| addresser.miss(name));
        Self {
            glossary: Glossary::new(names, language),
            addresser,
            npc_names: NpcNames::of(npcs.iter().copied()),
        }
    }
}

/// Names that raise a turn's tier: absent people, and other places, including those of the `rules`.
/// Quests are keywords already.
pub fn tier_names(campaign: &Campaign, rules: &[RuleName], present: &[&str]) -> Names {
    let absent = campaign
        .entities
        .iter()
        .chain(campaign.undescribed())
        .filter(|entity| matches!(entity.kind, EntityKind::Npc | EntityKind::Location))
        .filter(|entity| !present.contains(&entity.name.as_str()))
        .flat_map(|entity| {
            let names = std::iter::once(&entity.name).chain(&entity.aliases);
            names.map(|name| AbsentName { entity: &entity.name, name })
        });
    let phrases = rules.iter().filter_map(|name| match name {
        RuleName::Rule(phrase) => Some(phrase.as_str()),
        RuleName::Place { .. } => None,
    });
    let places = rules.iter().filter_map(|name| match name {
        RuleName::Place { place, name } => Some(AbsentName { entity: place, name }),
        RuleName::Rule(_) => None,
    });
    Names::new(phrases, absent.chain(places))
}

fn away<'c>(campaign: &'c Campaign, npcs: &[&Npc]) -> impl Iterator<Item = &'c str> {
    let seated = npcs.iter().flat_map(|npc| std::iter::once(&npc.name).chain(&npc.aliases));
    let seated: Vec<String> = seated.map(|name| fold(bare(name))).collect();
    let people = campaign.entities.iter().filter(|it| it.kind == EntityKind::Npc);
    people
        .chain(campaign.undescribed())
        .map(|it| std::iter::once(&it.name).chain(&it.aliases))
        .filter(move |names| !names.clone().any(|name| seated.contains(&fold(bare(name)))))
        .flatten()
        .map(String::as_str)
}

const fn is_person(kind: EntityKind) -> bool {
    matches!(kind, EntityKind::Npc | EntityKind::Player)
}

/// True if the words are equal, ignoring case and punctuation.
pub fn same_words(one: &str, other: &str) -> bool {
    fold(one) == fold(other)
}
