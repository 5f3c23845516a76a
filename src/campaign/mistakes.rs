//! Mistakes in changed files, for faces that show them where they stand. Entry type: [`Mistakes`].

use std::sync::Arc;

use tokio::sync::watch;

/// A mistake in a file of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub file: String,
    /// From 1.
    pub line: u64,
    /// With the fix.
    pub text: String,
}

/// Mistakes that keep changed files from taking effect; none once they are fixed. Cloning shares
/// them.
#[derive(Clone)]
pub struct Mistakes(Arc<watch::Sender<Vec<Mistake>>>);

impl Default for Mistakes {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Vec::new())))
    }
}

impl Mistakes {
    pub fn set(&self, mistakes: Vec<Mistake>) {
        self.0.send_if_modified(|known| {
            let is_new = *known != mistakes;
            *known = mistakes;
            is_new
        });
    }

    pub fn now(&self) -> Vec<Mistake> {
        self.0.borrow().clone()
    }

    /// Notices changes from now on.
    pub fn follow(&self) -> watch::Receiver<Vec<Mistake>> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_once() {
        let mistakes = Mistakes::default();
        let mut told = mistakes.follow();
        let one = Mistake {
            file: "bartok.yaml".to_owned(),
            line: 3,
            text: "unknown key 'nmae' (did you mean 'name'?)".to_owned(),
        };
        for _ in 0..2 {
            mistakes.set(vec![one.clone()]);
        }
        assert!(told.has_changed().unwrap());
        assert_eq!(*told.borrow_and_update(), std::slice::from_ref(&one));
        mistakes.set(vec![one]);
        assert!(!told.has_changed().unwrap());
        mistakes.set(Vec::new());
        assert!(told.has_changed().unwrap() && mistakes.now().is_empty());
    }
}
