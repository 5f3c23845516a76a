//! Where inside a Piper network sound begins to be made.
//!
//! Entry function: [`decoder_input`]. A network's last part, HiFi-GAN, turns a row of vectors into
//! sound and sees only a few of them around each, so that it can work in pieces. Its input has no
//! name that is the same in all voices, but what reads it has: that is looked up in the ONNX file.
//! **Never**: reads weights; anything that is not understood means "there is none".

/// The end of the reader's name.
const READER: &[u8] = b"dec/conv_pre/Conv";
/// ModelProto.graph, GraphProto.node, NodeProto.input and NodeProto.name in onnx.proto.
const GRAPH: u64 = 7;
/// See [`GRAPH`].
const NODE: u64 = 1;
/// See [`GRAPH`].
const INPUT: u64 = 1;
/// See [`GRAPH`].
const NAME: u64 = 3;

/// The name of what the sound-making part of the ONNX file `bytes` reads.
pub fn decoder_input(bytes: &[u8]) -> Option<&str> {
    let graph = fields(bytes).find(|(number, _)| *number == GRAPH)?.1;
    let nodes = fields(graph).filter(|(number, _)| *number == NODE);
    let reads =
        |node: &&[u8]| fields(node).any(|(number, name)| number == NAME && name.ends_with(READER));
    let reader = nodes.map(|(_, node)| node).find(|node| reads(node))?;
    let input = fields(reader).find(|(number, _)| *number == INPUT)?.1;
    std::str::from_utf8(input).ok()
}

/// The fields of a message that have a length, up to where it cannot be read.
fn fields(mut rest: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let key = number(&mut rest)?;
            let length = match key & 7 {
                0 => {
                    number(&mut rest)?;
                    continue;
                }
                1 => 8,
                2 => usize::try_from(number(&mut rest)?).ok()?,
                5 => 4,
                _ => return None,
            };
            let (value, after) = rest.split_at_checked(length)?;
            rest = after;
            if key & 7 == 2 {
                return Some((key >> 3, value));
            }
        }
        None
    })
}

/// The number that `rest` begins with, seven bits a byte.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (first, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(first & 0x7f) << (7 * place).min(63);
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
