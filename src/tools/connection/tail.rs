//! Last stderr lines of a child process, for reports.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use crate::domain::{one_line, redact};

/// Most lines kept.
pub const LINES: usize = 100;
/// Longest line kept, in characters.
const LONGEST: usize = 400;
/// Bytes read at once.
const READ: usize = 4 * 1024;
/// Longest wait for the last lines of a process that has just ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

#[derive(Default)]
pub struct Tail {
    lines: Mutex<VecDeque<String>>,
    ended: CancellationToken,
}

impl Tail {
    /// Oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// The last line that is not blank, once the writer has ended or after a short wait.
    pub async fn last_words(&self) -> Option<String> {
        let _ = tokio::time::timeout(LAST_WORDS, self.ended.cancelled()).await;
        self.lines().into_iter().rev().find(|line| !line.trim().is_empty())
    }

    /// Reads `from` to its end; calls `shown` for every line.
    pub async fn follow(self: Arc<Self>, mut from: impl AsyncRead + Unpin, shown: impl Fn(&str)) {
        let (mut bytes, mut line) = (vec![0; READ], Vec::new());
        while let Ok(count @ 1..) = from.read(&mut bytes).await {
            for byte in bytes.get(..count).unwrap_or_default() {
                match byte {
                    b'\n' => self.push(&mut line, &shown),
                    // A character has at most four bytes.
                    byte if line.len() < 4 * LONGEST => line.push(*byte),
                    _ => {}
                }
            }
        }
        if !line.is_empty() {
            self.push(&mut line, &shown);
        }
        self.ended.cancel();
    }

    fn push(&self, line: &mut Vec<u8>, shown: &impl Fn(&str)) {
        let text = redact::text(&one_line(&String::from_utf8_lossy(line), LONGEST));
        line.clear();
        shown(&text);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn last_lines_are_kept_short_and_plain() {
        let mut text = String::new();
        for number in 0..250 {
            text.push_str(&format!("\u{1b}[31mline {number}\t{}\n", "x".repeat(5_000)));
        }
        text.push_str("end");
        let tail = Arc::new(Tail::default());
        Arc::clone(&tail).follow(text.as_bytes(), |_| {}).await;
        let lines = tail.lines();
        assert_eq!(lines.len(), LINES);
        assert!(lines[0].starts_with("[31mline 151 xxx"), "{}", &lines[0][..20]);
        assert!(lines.iter().all(|line| line.chars().count() <= LONGEST));
        assert_eq!(tail.last_words().await.as_deref(), Some("end"));
    }
}
