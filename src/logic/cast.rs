//! Finds the NPC that a name means.
//!
//! Entry function: [`find_npc`]. **Never**: guesses between two.

use std::borrow::Borrow;

use super::words::fold;
use crate::domain::Npc;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpcError {
    #[error("unknown npc '{name}' (known: {known})")]
    Unknown { name: String, known: String },
    #[error("'{name}' could mean {candidates} (use the full name)")]
    Ambiguous { name: String, candidates: String },
}

/// Finds an NPC and its index by full name, alias, or a part of a name that is unique.
///
/// # Errors
/// No NPC matches, or several do.
pub fn find_npc<'n, N: Borrow<Npc>>(
    npcs: &'n [N],
    name: &str,
) -> Result<(usize, &'n Npc), NpcError> {
    let wanted = fold(name);
    let names = |npc: &'n Npc| std::iter::once(&npc.name).chain(&npc.aliases);
    let exact = |npc: &&(usize, &'n Npc)| names(npc.1).any(|known| fold(known) == wanted);
    let part = |npc: &&(usize, &'n Npc)| fold(&npc.1.name).split(' ').any(|word| word == wanted);
    let all: Vec<(usize, &Npc)> = npcs.iter().map(Borrow::borrow).enumerate().collect();
    let mut found: Vec<_> = all.iter().filter(exact).copied().collect();
    if found.is_empty() {
        found = all.iter().filter(part).copied().collect();
    }
    let list = |found: &[(usize, &Npc)]| {
        found.iter().map(|(_, npc)| npc.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let name = || name.to_owned();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(NpcError::Unknown { name: name(), known: list(&all) }),
        several => Err(NpcError::Ambiguous { name: name(), candidates: list(several) }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn names_aliases_and_parts_of_one_name_are_found() {
        let npcs = ["Bartok the Barkeep", "Mira the Elder", "Aldo the Elder"].map(|name| {
            let aliases =
                if name.starts_with("Mira") { vec!["Old Mira".to_owned()] } else { vec![] };
            Arc::new(Npc { aliases, ..Npc::plain(name) })
        });
        let seat = |name: &str| find_npc(&npcs, name).map(|(seat, _)| seat);
        assert_eq!(seat("BARTOK"), Ok(0));
        assert_eq!(seat("old mira"), Ok(1));
        assert_eq!(
            seat("elder").unwrap_err().to_string(),
            "'elder' could mean Mira the Elder, Aldo the Elder (use the full name)"
        );
        let unknown = seat("Bartk").unwrap_err().to_string();
        assert!(unknown.starts_with("unknown npc 'Bartk' (known: Bart"));
    }
}
