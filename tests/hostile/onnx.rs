//! ONNX files made by hand: as much of onnx.proto as a small network needs.

/// Field numbers of `AttributeProto`, with the value of `type` that goes with them.
const INT: (u64, u64) = (3, 2);
const GRAPH: (u64, u64) = (6, 5);
/// `TensorProto.DataType`.
pub const FLOAT: u64 = 1;
const INT64: u64 = 7;

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// A field that is a number.
pub fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value, &mut out);
    out
}

/// A field that is a string, bytes or a message.
pub fn bytes(field: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let (mut out, content) = (Vec::new(), content.as_ref());
    varint(field << 3 | 2, &mut out);
    varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}

/// An operation, as a field of a graph.
pub fn node(operation: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|name| bytes(1, name)).collect();
    let parts = [inputs, bytes(2, output), bytes(4, operation), attributes.concat()];
    bytes(1, parts.concat())
}

/// An attribute that is a number, as a field of a node.
pub fn int(name: &str, value: u64) -> Vec<u8> {
    bytes(5, [bytes(1, name), number(INT.0, value), number(20, INT.1)].concat())
}

/// An attribute that is a graph, as a field of a node.
pub fn branch(name: &str, graph: &[u8]) -> Vec<u8> {
    bytes(5, [bytes(1, name), bytes(GRAPH.0, graph), number(20, GRAPH.1)].concat())
}

/// Numbers that are known, as a field of a graph.
pub fn integers(name: &str, values: &[i64]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor(name, &[values.len() as u64], INT64, &raw)
}

/// Anything that is known, or said to be, as a field of a graph.
pub fn tensor(name: &str, dimensions: &[u64], kind: u64, raw: &[u8]) -> Vec<u8> {
    let dimensions: Vec<u8> = dimensions.iter().flat_map(|size| number(1, *size)).collect();
    bytes(5, [dimensions, number(2, kind), bytes(8, name), bytes(9, raw)].concat())
}

/// A value that goes in (11) or comes out (12), as a field of a graph.
pub fn value(field: u64, name: &str, kind: u64) -> Vec<u8> {
    let kind = bytes(2, bytes(1, number(1, kind)));
    bytes(field, [bytes(1, name), kind].concat())
}

/// A network with what Piper's take in, and `output`.
pub fn voice(parts: &[Vec<u8>]) -> Vec<u8> {
    let values = [
        value(11, "input", INT64),
        value(11, "input_lengths", INT64),
        value(11, "scales", FLOAT),
        value(12, "output", FLOAT),
    ];
    let graph = [parts.concat(), bytes(2, "voice"), values.concat()].concat();
    let opset = bytes(8, [bytes(1, ""), number(2, 15)].concat());
    [number(1, 8), opset, bytes(7, graph)].concat()
}
