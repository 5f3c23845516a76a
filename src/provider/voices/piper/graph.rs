//! The node inside a Piper network at which sound begins to be made.
//!
//! Entry function: [`decoder_input`]. A network's last part, HiFi-GAN, turns a row of vectors into
//! sound and sees only a few of them around each, so that it can work in pieces. Its input has no
//! name that is the same in all voices, but what reads it has: that is looked up in the ONNX file.
//! **Never**: reads weights; anything that is not understood means "there is none".

use crate::provider::voices::neural::fields::{Fields, GRAPH, NODE, node};

/// The end of the reader's name.
const READER: &[u8] = b"dec/conv_pre/Conv";

/// The name of what the sound-making part of the ONNX file `bytes` reads.
pub fn decoder_input(bytes: &[u8]) -> Option<&str> {
    let graph = Fields::of(bytes).bytes(GRAPH).next()?;
    let reads = |it: &&[u8]| Fields::of(it).bytes(node::NAME).any(|name| name.ends_with(READER));
    let reader = Fields::of(graph).bytes(NODE).find(reads)?;
    let input = Fields::of(reader).bytes(node::INPUT).next()?;
    std::str::from_utf8(input).ok()
}
