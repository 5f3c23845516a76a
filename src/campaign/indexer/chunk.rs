//! Groups lines into searchable items. Entry function: [`chunks`].
//! **Never**: groups lines that different NPCs heard.

use crate::{
    memory::{Item, ItemKind, Status, TranscriptLine},
    tools::framed_if,
};

/// Silence that ends an item, in ms.
pub const PAUSE: i64 = 45_000;
/// Most lines of an item.
const LINES: usize = 8;

pub struct Chunks {
    pub items: Vec<Item>,
    /// Some lines are left to which more may be added.
    pub waits: bool,
}

/// Groups the ordered `lines` of one session. Lines after `until` (Unix time in ms) may continue;
/// so may the last group unless `is_all`.
pub fn chunks(lines: &[TranscriptLine], until: i64, is_all: bool) -> Chunks {
    let mut groups: Vec<&[TranscriptLine]> = Vec::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let pairs = rest.iter().zip(rest.iter().skip(1)).take(LINES - 1);
        let more = pairs.take_while(|(one, next)| belong(first, one, next)).count();
        let (group, after) = rest.split_at(more + 1);
        groups.push(group);
        rest = after;
    }
    let goes_on = groups.last().is_some_and(|last| {
        let is_young = last.last().is_some_and(|line| line.said.at > until);
        last.len() < LINES && (is_young || !is_all)
    });
    if goes_on {
        groups.pop();
    }
    Chunks { items: groups.into_iter().filter_map(item).collect(), waits: goes_on }
}

/// True if `next` continues the group from `first` to `one`.
fn belong(first: &TranscriptLine, one: &TranscriptLine, next: &TranscriptLine) -> bool {
    next.seq == one.seq + 1
        && next.said.at.saturating_sub(one.said.at) <= PAUSE
        && next.said.present == first.said.present
        && next.said.visibility == first.said.visibility
}

fn item(lines: &[TranscriptLine]) -> Option<Item> {
    let (first, last) = (lines.first()?, lines.last()?);
    let told = lines.iter().map(|line| {
        let said = &line.said;
        format!("{}: {}", said.who(), framed_if(said.is_from_outside(), said.text.clone()))
    });
    Some(Item {
        id: format!("chunk:{}:{}", first.said.session, first.seq),
        kind: ItemKind::Chunk,
        text: told.collect::<Vec<_>>().join("\n"),
        session: Some(first.said.session.clone()),
        lines: Some((first.seq, last.seq)),
        visibility: first.said.visibility.clone(),
        status: Status::Accepted,
        made: last.said.at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Present, Utterance, Visibility};

    fn line(seq: u64, at: i64) -> TranscriptLine {
        let said = Utterance {
            session: "s".to_owned(),
            at,
            speaker: "Anna".to_owned(),
            text: format!("line {seq}"),
            ..Utterance::default()
        };
        TranscriptLine { seq, said, withdrawn: false }
    }

    fn ranges(lines: &[TranscriptLine], until: i64, is_all: bool) -> (Vec<(u64, u64)>, bool) {
        let Chunks { items, waits } = chunks(lines, until, is_all);
        (items.into_iter().filter_map(|item| item.lines).collect(), waits)
    }

    #[test]
    fn chunks_end_at_size_pause_gap_and_new_audience() {
        let lines: Vec<TranscriptLine> = (1..=10).map(|seq| line(seq, 0)).collect();
        assert_eq!(ranges(&lines, 0, true), (vec![(1, 8), (9, 10)], false));
        assert_eq!(ranges(&lines, -1, true), (vec![(1, 8)], true), "the last may go on");
        assert_eq!(ranges(&lines, 0, false), (vec![(1, 8)], true));
        assert_eq!(ranges(&lines[..8], -1, false), (vec![(1, 8)], false));
        let paused = [line(1, 0), line(2, PAUSE), line(3, 2 * PAUSE + 1)];
        assert_eq!(ranges(&paused, i64::MAX, true), (vec![(1, 2), (3, 3)], false));
        assert_eq!(ranges(&[line(1, 0), line(3, 0)], 0, true), (vec![(1, 1), (3, 3)], false));
        let mut left = [line(1, 0), line(2, 0), line(3, 0)];
        left[1].said.present = vec![Present { name: "Mira".to_owned(), player: None }];
        left[2].said.present = left[1].said.present.clone();
        left[2].said.visibility = Visibility::Dm;
        assert_eq!(ranges(&left, 0, true).0, [(1, 1), (2, 2), (3, 3)]);
        assert_eq!(chunks(&left, 0, true).items[2].visibility, Visibility::Dm);
        assert_eq!(chunks(&lines, 0, true).items[1].text, "Anna: line 9\nAnna: line 10");
    }
}
