//! Bytes of an event stream, in whatever pieces -> JSON documents.
//!
//! Entry type: [`Decoder`]. Skips comments, event names, ids and retry hints. Returns a document
//! once its line is complete, without waiting for the blank line.

use serde_json::Value;

use crate::provider::bounds::{ANSWER, Bound, EVENT};

#[derive(Debug, PartialEq)]
pub enum Frame {
    Json(Value),
    Done,
    Unreadable,
    /// A document or the answer exceeds its bound; nothing after it is read.
    Over(Bound),
}

#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    data: String,
    /// Lines outside an event stream: a plain JSON answer, or a page.
    stray: String,
    size: usize,
}

impl Decoder {
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Frame> {
        self.size += bytes.len();
        if let Err(bound) = ANSWER.check(self.size) {
            return vec![Frame::Over(bound)];
        }
        let mut frames = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = bytes.split_at(end);
            if let Err(bound) = EVENT.check(self.held() + head.len()) {
                frames.push(Frame::Over(bound));
                return frames;
            }
            self.line.extend_from_slice(head);
            bytes = rest.split_first().map_or(&[], |(_, rest)| rest);
            let line = std::mem::take(&mut self.line);
            frames.extend(self.read_line(&String::from_utf8_lossy(&line)));
        }
        self.line.extend_from_slice(bytes);
        if let Err(bound) = EVENT.check(self.held()) {
            frames.push(Frame::Over(bound));
        }
        frames
    }

    const fn held(&self) -> usize {
        self.line.len() + self.data.len() + self.stray.len()
    }

    /// Ends the body: returns the unfinished document, or a body that was no event stream.
    pub fn finish(&mut self) -> Vec<Frame> {
        let line = std::mem::take(&mut self.line);
        let mut frames: Vec<Frame> =
            self.read_line(&String::from_utf8_lossy(&line)).into_iter().collect();
        frames.extend(self.read_line(""));
        let stray = std::mem::take(&mut self.stray);
        if let Ok(value) = serde_json::from_str(&stray) {
            frames.push(Frame::Json(value));
        } else if !stray.trim().is_empty() {
            frames.push(Frame::Unreadable);
        }
        frames
    }

    fn read_line(&mut self, line: &str) -> Option<Frame> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            // Only here a document over several lines is read, once.
            let data = std::mem::take(&mut self.data);
            let read = || serde_json::from_str(&data).map_or(Frame::Unreadable, Frame::Json);
            return (!data.is_empty()).then(read);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        match field.trim_start_matches('\u{feff}') {
            "data" => self.read_data(value.strip_prefix(' ').unwrap_or(value)),
            "" | "event" | "id" | "retry" => None,
            _ => {
                self.stray.push_str(line);
                self.stray.push('\n');
                None
            }
        }
    }

    fn read_data(&mut self, value: &str) -> Option<Frame> {
        if value.trim() == "[DONE]" {
            self.data.clear();
            return Some(Frame::Done);
        }
        if let Ok(whole) = serde_json::from_str::<Value>(value)
            && (self.data.is_empty() || whole.is_object())
        {
            self.data.clear();
            return Some(Frame::Json(whole));
        }
        // A document may be spread over several data lines.
        self.data.push_str(value);
        self.data.push('\n');
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn all(bytes: &[u8], step: usize) -> Vec<Frame> {
        let mut decoder = Decoder::default();
        let mut frames: Vec<Frame> =
            bytes.chunks(step.max(1)).flat_map(|piece| decoder.push(piece)).collect();
        frames.extend(decoder.finish());
        frames
    }

    #[test]
    fn comments_names_and_line_ends_are_skipped() {
        let stream = ": OPENROUTER PROCESSING\r\n\r\nevent: message\r\nid: 7\r\nretry: 10\r\n\
                      data: {\"a\":1}\r\n\r\ndata:{\"b\":2}\n\ndata: [DONE]\n\n";
        let expected = [Frame::Json(json!({"a": 1})), Frame::Json(json!({"b": 2})), Frame::Done];
        assert_eq!(all(stream.as_bytes(), 1), expected);
    }

    #[test]
    fn multiline_or_unterminated_data_is_read() {
        assert_eq!(all(b"data: {\"a\":1}\ndata: {\"b\":2}\n", 3).len(), 2);
        assert_eq!(all(b"data: {\"a\":\ndata: 1}\n\n", 4), [Frame::Json(json!({"a": 1}))]);
        assert_eq!(all(b"data: {\"a\":1}", 4), [Frame::Json(json!({"a": 1}))]);
    }

    #[test]
    fn invalid_json_is_reported_and_skipped() {
        let stream = b"data: not json\n\ndata: {\"a\":1}\n\n";
        assert_eq!(all(stream, 5), [Frame::Unreadable, Frame::Json(json!({"a": 1}))]);
        assert_eq!(all(b"<html>\n<p>hello</p>", 5), [Frame::Unreadable]);
        assert_eq!(all(b"", 1), []);
    }

    #[test]
    fn plain_json_body_is_one_document() {
        let pretty = serde_json::to_string_pretty(&json!({"error": {"code": 400}})).unwrap();
        assert_eq!(all(pretty.as_bytes(), 6), [Frame::Json(json!({"error": {"code": 400}}))]);
    }

    #[test]
    fn documents_over_a_bound_end_the_stream() {
        let long = format!("data: \"{}\"\n\n", "x".repeat(1 << 20));
        assert_eq!(all(long.as_bytes(), 8 << 10)[0], Frame::Over(EVENT));
        let lines = "data: 1,\n".repeat(400_000);
        assert_eq!(all(lines.as_bytes(), 64 << 10)[0], Frame::Over(EVENT));
        let comments = ": alive\n".repeat((1 << 20) + 1);
        assert_eq!(all(comments.as_bytes(), 64 << 10)[0], Frame::Over(ANSWER));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_frames(
            texts in prop::collection::vec("\\PC{0,12}", 0..5), step in 1_usize..40,
        ) {
            let documents = texts.iter().map(|text| json!({"t": text}));
            let stream: String = documents.clone().map(|d| format!("data: {d}\n\n")).collect();
            let expected: Vec<Frame> = documents.map(Frame::Json).collect();
            prop_assert_eq!(all(stream.as_bytes(), step), expected);
        }

        #[test]
        fn no_bytes_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200), step in 1_usize..20,
        ) {
            let _ = all(&bytes, step);
        }
    }
}
