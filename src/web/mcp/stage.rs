//! NPCs that the holder of a token learns of: a game master of all, players of those that are present
//! at a running table, and without a table of none. Entry function: [`seats`].

use crate::{
    campaign::Holder,
    session::{SeatStatus, Status},
};

/// NPCs at the table of `status` that `holder` learns of.
pub fn seats<'s>(status: &'s Status, holder: &Holder) -> impl Iterator<Item = &'s SeatStatus> {
    let is_dm = holder.is_dm();
    status.seats.iter().filter(move |seat| is_dm || seat.present)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{AccessRole, Owner},
        session::stand_in,
    };

    #[test]
    fn players_learn_of_present_npcs_alone() {
        let absent = SeatStatus { present: false, ..stand_in::seat("Mira") };
        let status = stand_in::status(vec![stand_in::seat("Bartok"), absent]);
        let (player, dm) = (AccessRole::Player, AccessRole::Dm);
        for (role, known) in [(player, &["Bartok"][..]), (dm, &["Bartok", "Mira"])] {
            let holder = Holder { id: "a".to_owned(), owner: Owner::Local, role, tools: None };
            let names: Vec<&str> = seats(&status, &holder).map(|seat| &*seat.name).collect();
            assert_eq!(names, known, "{role:?}");
        }
    }
}
