//! Size of the current event of a stream.

/// Counts the bytes of the current event. Finished comment lines, which keep connections alive, do
/// not count.
#[derive(Default)]
pub struct EventSize {
    /// Bytes of finished lines.
    lines: usize,
    /// Bytes of the current line.
    line: usize,
    is_comment: bool,
    /// A line feed after a carriage return ends no further line.
    was_return: bool,
}

impl EventSize {
    /// Adds `bytes`; returns the largest event size reached within them.
    pub fn add(&mut self, bytes: &[u8]) -> usize {
        let mut most = 0;
        for byte in bytes {
            let is_second = std::mem::take(&mut self.was_return) && *byte == b'\n';
            match byte {
                b'\n' if is_second => {}
                b'\n' | b'\r' => {
                    self.was_return = *byte == b'\r';
                    self.end_of_line();
                }
                _ => {
                    if self.line == 0 {
                        self.is_comment = *byte == b':';
                    }
                    self.line += 1;
                    most = most.max(self.lines + self.line);
                }
            }
        }
        most
    }

    fn end_of_line(&mut self) {
        match self.line {
            0 => self.lines = 0,
            _ if self.is_comment => {}
            // Lines are joined with a line feed.
            length => self.lines += length + 1,
        }
        self.line = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_grows_until_an_empty_line() {
        for (text, most) in [
            ("data: a\n\ndata: b\n\n", 7),
            ("data: a\r\n\r\ndata: b\r\n\r\n", 7),
            ("data: a\r\ndata: b\r\n\r\n", 15),
            ("data: a\rdata: b\r\r", 15),
            (": ping\n: ping\n: ping\n", 6),
            ("data: a\n: ping\ndata: b\n", 15),
            ("\n\r\n\n", 0),
        ] {
            assert_eq!(EventSize::default().add(text.as_bytes()), most, "{text:?}");
            let mut bytewise = EventSize::default();
            let each = text.bytes().map(|byte| bytewise.add(&[byte])).max();
            assert_eq!(each, Some(most), "{text:?} byte by byte");
        }
    }
}
