//! Expected names, in the form the service takes.
//!
//! Entry types: [`Names`], those that fit; [`Told`], those that one socket knows.

use std::sync::Arc;

use serde_json::{Value, json};

/// The likeliest first.
pub type Names = Arc<[String]>;

/// Most names, and most bytes of them: at most 500 tokens together, as a made-up name takes one for
/// about three letters.
const NAMES_MAX: usize = 100;
const BYTES_MAX: usize = 1_200;

/// The `names` that fit. A comma would split a name.
pub fn fitting(names: &[String]) -> Names {
    let mut bytes = 0;
    let plain = names.iter().map(|name| {
        let words = name.split(|c: char| c == ',' || c.is_whitespace() || c.is_control());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    });
    let fits = |name: &String| {
        bytes += name.len() + 1;
        bytes <= BYTES_MAX
    };
    plain.filter(|name| !name.is_empty()).take(NAMES_MAX).take_while(fits).collect()
}

/// Names known to a socket, with at most one change in flight.
#[derive(Debug)]
pub struct Told {
    names: Names,
    /// Names can change on an open socket.
    can: bool,
    /// A change is unanswered.
    waits: bool,
}

impl Told {
    /// For a socket opened with `names`; `can`: it accepts changes.
    pub fn new(names: Names, can: bool) -> Self {
        Self { names, can, waits: false }
    }

    /// Message that makes the socket expect `wanted`; `None`: no change, or none can be sent now.
    pub fn change(&mut self, wanted: &Names) -> Option<Value> {
        if !self.can || self.waits || self.names == *wanted {
            return None;
        }
        self.names = Arc::clone(wanted);
        self.waits = true;
        Some(json!({ "type": "Configure", "keyterms": wanted }))
    }

    pub fn answered(&mut self) {
        self.waits = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Names {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn likeliest_fit_and_are_plain() {
        let given = ["Mira, the quick", " Bartok\nthe  Barkeep ", ","].map(str::to_owned);
        assert_eq!(*fitting(&given), ["Mira the quick", "Bartok the Barkeep"]);
        let many: Vec<String> = (0..500).map(|it| format!("Größenwahn {it}")).collect();
        let fitted = fitting(&many);
        let bytes: usize = fitted.iter().map(|name| name.len() + 1).sum();
        assert!(fitted.len() > 50 && bytes <= BYTES_MAX && fitted[0] == many[0], "{bytes}");
    }

    #[test]
    fn one_change_at_a_time_is_on_its_way() {
        let (first, second) = (names(&["Mira"]), names(&["Hale"]));
        let mut told = Told::new(Arc::clone(&first), true);
        assert_eq!(told.change(&first), None);
        let change = told.change(&second).unwrap();
        assert_eq!(change, json!({ "type": "Configure", "keyterms": ["Hale"] }));
        assert_eq!(told.change(&first), None, "the first is not answered");
        told.answered();
        assert!(told.change(&first).is_some());
        assert_eq!(Told::new(first, false).change(&second), None);
    }
}
