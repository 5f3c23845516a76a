//! One file on its way into drafts, with what is reported of it.
//!
//! Entry type: [`Reading`].

use super::fault::Fault;
use crate::import::draft::{Drafts, LeftOut, Mistake};

/// Most mistakes of one file; more would not be read.
const MISTAKES_MAX: usize = 50;
/// Most fields of an odd type that are named.
const ODD_MAX: usize = 20;

pub struct Reading<'a> {
    /// Its name for people; "luna.charx!card.json" once it is known to be inside an archive.
    pub file: String,
    /// Where what it holds goes.
    pub drafts: &'a mut Drafts,
    mistakes: usize,
    /// Places of fields of an odd type.
    odd: Vec<String>,
}

impl<'a> Reading<'a> {
    pub fn new(file: &str, drafts: &'a mut Drafts) -> Self {
        Self { file: file.to_owned(), drafts, mistakes: 0, odd: Vec::new() }
    }

    /// Notes a fault, once.
    pub fn mistake(&mut self, fault: Fault) {
        let mistake = Mistake {
            file: self.file.clone(),
            place: fault.place,
            message: fault.message,
            way_out: fault.way_out.to_owned(),
        };
        let known = self.drafts.mistakes.len().saturating_sub(self.mistakes);
        let own = self.drafts.mistakes.get(known..).unwrap_or_default();
        if own.len() < MISTAKES_MAX && !own.contains(&mistake) {
            self.mistakes += 1;
            self.drafts.mistakes.push(mistake);
        }
    }

    pub fn left_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let file = self.file.clone();
        self.drafts.left_out.push(LeftOut { file, what: what.into(), why: why.into() });
    }

    /// Notes once that the field at `place` is left out for its type.
    pub fn odd(&mut self, place: &str, why: &str) {
        if self.odd.len() > ODD_MAX || self.odd.iter().any(|known| known == place) {
            return;
        }
        self.odd.push(place.to_owned());
        if self.odd.len() > ODD_MAX {
            self.left_out("further fields", "they are of another type than expected");
        } else {
            self.left_out(place, why);
        }
    }

    /// Notes `number` of these parts (singular, plural), unless there are none.
    pub fn left_out_counted(&mut self, number: usize, what: [&str; 2], why: &str) {
        let [one, many] = what;
        match number {
            0 => {}
            1 => self.left_out(format!("1 {one}"), why),
            _ => self.left_out(format!("{number} {many}"), why),
        }
    }
}
