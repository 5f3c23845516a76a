//! Finds the node of a Piper network where sound synthesis begins.
//!
//! Entry function: [`decoder_input`]. A network's last part, HiFi-GAN, turns a row of vectors into
//! sound and sees only a few vectors around each, so it can work in pieces. Its input has different
//! names in different voices, but its reader does not: that is looked up in the ONNX file. Anything
//! unclear means `None`.

use crate::provider::voices::neural::fields::{Fields, GRAPH, NODE, node};

const READER: &[u8] = b"dec/conv_pre/Conv";

pub fn decoder_input(bytes: &[u8]) -> Option<&str> {
    let graph = Fields::of(bytes).bytes(GRAPH).next()?;
    let reads = |it: &&[u8]| Fields::of(it).bytes(node::NAME).any(|name| name.ends_with(READER));
    let reader = Fields::of(graph).bytes(NODE).find(reads)?;
    let input = Fields::of(reader).bytes(node::INPUT).next()?;
    std::str::from_utf8(input).ok()
}
