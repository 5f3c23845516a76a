//! Estimates the price of an hour of play with an NPC.
//!
//! Entry type: [`HourCost`].

use std::{fmt, time::Duration};

use super::{BudgetOptions, Consumption, SoundTokens};
use crate::domain::Money;

/// Assumptions about the hour: minutes of players speaking, minutes of the NPC speaking, answers.
pub const MINUTES_RECEIVED: u64 = 15;
pub const MINUTES_SPOKEN: u64 = 10;
pub const ANSWERS: u64 = 100;

/// Tokens that an answer reads: prompt and conversation.
const READ: u64 = 3_000;
/// Longest opening sentence in tokens.
const OPENER: u64 = 40;
/// Characters in a minute of speech (150 words).
const CHARACTERS_A_MINUTE: u64 = 900;
const CHARACTERS_A_TOKEN: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Speech to speech: hears the players and speaks.
    Talks(SoundTokens),
    /// Reads the transcript and writes the answer.
    Thinks,
    /// Reads the transcript and writes the first sentence of the answer.
    Opens,
    Speaks,
}

/// Price range, from all text cached to none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HourCost {
    /// All text cached.
    pub least: Money,
    /// No cache. Long talks without a pause cost a speech-to-speech model more.
    pub most: Money,
}

impl HourCost {
    /// Prices `work`, given with each model's name in the price list.
    ///
    /// # Errors
    /// The models without a price.
    pub fn of(options: &BudgetOptions, work: &[(Work, String)]) -> Result<Self, Vec<String>> {
        let has_price = |model: &String| options.prices.contains_key(model);
        let unpriced = work.iter().map(|(_, model)| model).filter(|model| !has_price(model));
        let unpriced: Vec<String> = unpriced.cloned().collect();
        if !unpriced.is_empty() {
            return Err(unpriced);
        }
        let sum = |cached: u64| {
            let cost = |(work, model): &(Work, String)| options.cost(model, used(*work, cached));
            work.iter().map(cost).sum()
        };
        Ok(Self { least: sum(ANSWERS * READ), most: sum(0) })
    }
}

fn used(work: Work, cached_tokens: u64) -> Consumption {
    let characters = MINUTES_SPOKEN * CHARACTERS_A_MINUTE;
    let none = Consumption::default();
    match work {
        Work::Talks(a_second) => Consumption {
            input_tokens: ANSWERS * READ,
            cached_tokens,
            audio_in: MINUTES_RECEIVED * 60 * u64::from(a_second.received),
            audio_out: MINUTES_SPOKEN * 60 * u64::from(a_second.spoken),
            ..none
        },
        Work::Thinks => Consumption {
            input_tokens: ANSWERS * READ,
            cached_tokens,
            output_tokens: characters / CHARACTERS_A_TOKEN,
            ..none
        },
        Work::Opens => Consumption {
            input_tokens: ANSWERS * READ,
            cached_tokens,
            output_tokens: ANSWERS * OPENER,
            ..none
        },
        Work::Speaks => {
            let seconds = Duration::from_mins(MINUTES_SPOKEN).as_secs_f64();
            Consumption { characters, seconds, ..none }
        }
    }
}

impl fmt::Display for HourCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |money: Money| format!("{:.2}", money.units());
        let (least, most) = (shown(self.least), shown(self.most));
        if self.most == Money::ZERO {
            f.write_str("nothing")
        } else if most == "0.00" {
            f.write_str("less than 0.01")
        } else if least == most {
            write!(f, "about {most}")
        } else {
            write!(f, "about {least} to {most}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::logic::budget::Price;

    const LARGE: Price = Price {
        input: 4.0,
        cached_input: 0.4,
        cache_write: 5.0,
        output: 24.0,
        audio_input: 32.0,
        audio_cached: 0.4,
        audio_output: 64.0,
        characters: 0.0,
        minute: 0.0,
        picture: 0.0,
        request: 0.0,
    };

    /// Token rates as OpenAI counts them.
    const TALKS: Work = Work::Talks(SoundTokens { received: 10, spoken: 20, with_words: true });

    fn told(prices: &[(&str, Price)], work: &[(Work, &str)]) -> Result<String, Vec<String>> {
        let prices = prices.iter().map(|(model, price)| ((*model).to_owned(), *price));
        let options = BudgetOptions { prices: prices.collect(), ..BudgetOptions::default() };
        let work: Vec<_> = work.iter().map(|(work, model)| (*work, (*model).to_owned())).collect();
        HourCost::of(&options, &work).map(|cost| cost.to_string())
    }

    #[test]
    fn hour_costs_what_the_page_of_engines_says() {
        let talks = [(TALKS, "large")];
        assert_eq!(told(&[("large", LARGE)], &talks).unwrap(), "about 1.18 to 2.26");
        let without_text = Price { input: 0.0, cached_input: 0.0, ..LARGE };
        assert_eq!(told(&[("large", without_text)], &talks).unwrap(), "about 1.06");
    }

    #[test]
    fn hour_of_sound_costs_what_its_service_counts() {
        let price = Price { audio_input: 3.0, audio_output: 12.0, ..Price::default() };
        let cost = |work| told(&[("live", price)], &[(work, "live")]).unwrap();
        let even = Work::Talks(SoundTokens { received: 25, spoken: 25, with_words: false });
        // 22,500 tokens heard and 15,000 spoken, compared with 9,000 and 12,000.
        assert_eq!((cost(even), cost(TALKS)), ("about 0.25".to_owned(), "about 0.17".to_owned()));
    }

    #[test]
    fn hour_of_a_cascade_is_the_sum_of_its_parts() {
        let brain = Price { input: 1.0, cached_input: 0.1, output: 5.0, ..Price::default() };
        let voice = Price { characters: 15.0, ..Price::default() };
        let prices = [("brain", brain), ("voice", voice)];
        let both = [(Work::Thinks, "brain"), (Work::Speaks, "voice")];
        assert_eq!(told(&prices, &both).unwrap(), "about 0.18 to 0.45");
        assert_eq!(told(&prices, &both[1..]).unwrap(), "about 0.14");
        let by_minute = Price { minute: 0.03, ..Price::default() };
        assert_eq!(told(&[("voice", by_minute)], &both[1..]).unwrap(), "about 0.30");
        let cheap = Price { input: 0.001, ..Price::default() };
        assert_eq!(told(&[("brain", cheap)], &both[..1]).unwrap(), "less than 0.01");
        assert_eq!(told(&[], &[]).unwrap(), "nothing");
    }

    #[test]
    fn hour_of_a_sentence_cascade_has_both_models() {
        let fast = Price { input: 0.1, cached_input: 0.01, output: 0.4, ..Price::default() };
        let strong = Price { input: 1.0, cached_input: 0.1, output: 5.0, ..Price::default() };
        let prices = [("fast", fast), ("strong", strong)];
        let both = [(Work::Opens, "fast"), (Work::Thinks, "strong")];
        assert_eq!(told(&prices, &both).unwrap(), "about 0.05 to 0.34");
        assert_eq!(told(&prices, &both[1..]).unwrap(), "about 0.04 to 0.31");
    }

    #[test]
    fn hour_without_a_price_costs_no_known_sum() {
        let work = [(TALKS, "large"), (Work::Speaks, "voice")];
        assert_eq!(told(&[("large", LARGE)], &work).unwrap_err(), ["voice"]);
        assert_eq!(
            HourCost::of(&BudgetOptions { prices: BTreeMap::new(), ..Default::default() }, &[]),
            Ok(HourCost::default())
        );
    }
}
