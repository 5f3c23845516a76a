//! Removes from the published network what only costs time.
//!
//! Entry function: [`floats`]. The activations of the published network are rounded to 8 bits and
//! back (QuantizeLinear, DequantizeLinear). The runtime computes in floats anyway, so this costs 40
//! % of the time and makes the answer unsteady: one bit of noise moves it by up to 0.45. Weights
//! stay. ONNX is protobuf, of which only names change, so fields are copied. **Never**: trusts a
//! length.

use std::collections::HashMap;

/// The network's only output.
const OUTPUT: &[u8] = b"logits";

// Field numbers of onnx.proto.
const MODEL_GRAPH: u64 = 7;
const GRAPH_NODE: u64 = 1;
const GRAPH_VALUE_INFO: u64 = 13;
const NODE_INPUT: u64 = 1;
const NODE_OUTPUT: u64 = 2;
const NODE_OP: u64 = 4;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not an ONNX network")]
pub struct Malformed;

/// One field of a message.
#[derive(Clone, Copy)]
struct Field<'a> {
    number: u64,
    /// Including its tag.
    whole: &'a [u8],
    /// A string, bytes or a message; empty for numbers.
    content: &'a [u8],
}

/// One operation.
struct Node<'a>(Vec<Field<'a>>);

impl<'a> Node<'a> {
    /// The first field with this number.
    fn first(&self, number: u64) -> &'a [u8] {
        self.0.iter().find(|it| it.number == number).map(|it| it.content).unwrap_or_default()
    }

    fn is(&self, operation: &[u8]) -> bool {
        self.first(NODE_OP) == operation
    }

    /// A copy with other names of its inputs and outputs.
    fn renamed(&self, name: impl Fn(&'a [u8]) -> &'a [u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for field in &self.0 {
            match field.number {
                NODE_INPUT | NODE_OUTPUT => put(&mut out, field.number, name(field.content)),
                _ => out.extend_from_slice(field.whole),
            }
        }
        out
    }
}

/// The network `onnx` without the rounding of its activations.
pub fn floats(onnx: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::with_capacity(onnx.len());
    for field in fields(onnx)? {
        if field.number == MODEL_GRAPH {
            put(&mut out, MODEL_GRAPH, &graph(field.content)?);
        } else {
            out.extend_from_slice(field.whole);
        }
    }
    Ok(out)
}

fn graph(graph: &[u8]) -> Result<Vec<u8>, Malformed> {
    let all = fields(graph)?;
    let nodes = all.iter().filter(|it| it.number == GRAPH_NODE);
    let nodes: Vec<_> =
        nodes.map(|it| Ok(Node(fields(it.content)?))).collect::<Result<_, Malformed>>()?;
    // Inputs of the roundings by their outputs, then by the outputs of the dequantisations.
    let rounding = nodes.iter().filter(|it| it.is(b"QuantizeLinear"));
    let rounded: HashMap<_, _> =
        rounding.map(|it| (it.first(NODE_OUTPUT), it.first(NODE_INPUT))).collect();
    let back = nodes.iter().filter(|it| it.is(b"DequantizeLinear"));
    let instead: HashMap<_, _> = back
        .filter_map(|it| Some((it.first(NODE_OUTPUT), *rounded.get(it.first(NODE_INPUT))?)))
        .collect();
    // The output keeps its name: its producer takes it over.
    let last = resolve(&instead, OUTPUT)?;
    let mut out = Vec::with_capacity(graph.len());
    let mut nodes = nodes.iter();
    for field in &all {
        match field.number {
            GRAPH_NODE => {
                let node = nodes.next().ok_or(Malformed)?;
                let output = node.first(NODE_OUTPUT);
                if rounded.contains_key(output) || instead.contains_key(output) {
                    continue;
                }
                let mut names = HashMap::new();
                for named in
                    node.0.iter().filter(|it| [NODE_INPUT, NODE_OUTPUT].contains(&it.number))
                {
                    let name = resolve(&instead, named.content)?;
                    names.insert(named.content, if name == last { OUTPUT } else { name });
                }
                let name = |name| names.get(name).copied().unwrap_or(name);
                put(&mut out, GRAPH_NODE, &node.renamed(name));
            }
            // Types that no longer hold.
            GRAPH_VALUE_INFO => {}
            _ => out.extend_from_slice(field.whole),
        }
    }
    Ok(out)
}

/// Follows `instead` to its end, if it has one.
fn resolve<'a>(
    instead: &HashMap<&'a [u8], &'a [u8]>,
    mut name: &'a [u8],
) -> Result<&'a [u8], Malformed> {
    for _ in 0..=instead.len() {
        match instead.get(name) {
            Some(source) => name = source,
            None => return Ok(name),
        }
    }
    Err(Malformed)
}

/// The fields of a message, in their order.
fn fields(message: &[u8]) -> Result<Vec<Field<'_>>, Malformed> {
    let mut out = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let whole = rest;
        let tag = varint(&mut rest)?;
        let content = match tag & 7 {
            0 => {
                varint(&mut rest)?;
                &[][..]
            }
            1 => take(&mut rest, 8)?,
            2 => {
                let length = varint(&mut rest)?;
                take(&mut rest, usize::try_from(length).map_err(|_| Malformed)?)?
            }
            5 => take(&mut rest, 4)?,
            _ => return Err(Malformed),
        };
        let (whole, _) = whole.split_at(whole.len() - rest.len());
        out.push(Field { number: tag >> 3, whole, content });
    }
    Ok(out)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], Malformed> {
    let (content, after) = rest.split_at_checked(length).ok_or(Malformed)?;
    *rest = after;
    Ok(content)
}

fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?.first().copied().ok_or(Malformed)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed)
}

fn put(out: &mut Vec<u8>, number: u64, content: &[u8]) {
    put_varint(out, number << 3 | 2);
    put_varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        let [low, ..] = value.to_le_bytes();
        out.push(low | 0x80);
        value >>= 7;
    }
    let [low, ..] = value.to_le_bytes();
    out.push(low);
}
