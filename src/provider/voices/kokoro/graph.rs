//! Rewrites Kokoro's network to operations that the runtime has.
//!
//! Entry function: [`spelled_out`]. The file was written for another runtime and has a product
//! whose first factor is transposed (com.microsoft FusedMatMul); rten has that as two operations.
//! The node is replaced inside the bytes, so that weights are neither parsed nor copied. Products
//! that two operations cannot express are errors.

use std::ops::Range;

use crate::provider::voices::neural::fields::{
    Field, Fields, GRAPH, NODE, Value, node, write_bytes, write_length, write_number,
};

const FUSED: &[u8] = b"FusedMatMul";
/// Limit of replaced nodes; each moves all bytes after it.
const MOST: usize = 16;
/// Order of the transposed factor's axes: the last two swap.
const TURNED: [u64; 3] = [0, 2, 1];
/// Fields of AttributeProto in onnx.proto (name, f, i, ints, type), and the type of ints.
const NAME: u64 = 1;
const FLOAT: u64 = 2;
const INT: u64 = 3;
const INTS: u64 = 8;
const TYPE: u64 = 20;
const TYPE_INTS: u64 = 7;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum GraphError {
    #[error("it is not a complete ONNX file")]
    NotOnnx,
    /// A product without exactly two factors.
    #[error("it contains an unsupported multiplication ('{0}')")]
    Product(String),
    #[error("it has more than \"{MOST}\" fused products")]
    TooMany,
}

/// Replaces fused products in the ONNX file `bytes`. Fails unless it is Kokoro's network.
pub fn spelled_out(bytes: &mut Vec<u8>) -> Result<(), GraphError> {
    let mut fields = Fields::of(bytes);
    let graph = fields.by_ref().find(|field| field.number == GRAPH);
    let Some(Field { held: Value::Bytes(inside), place, .. }) = graph else {
        return Err(GraphError::NotOnnx);
    };
    let from = place.end - inside.len();
    let (replaced, mut length) = (replacements(inside)?, inside.len());
    if replaced.is_empty() {
        return Ok(());
    }
    let place = place.start..from;
    // From the last to the first, so that earlier places stay valid.
    for Replaced { place: Range { start, end }, nodes } in replaced.into_iter().rev() {
        length = length + nodes.len() - (end - start);
        bytes.splice(from + start..from + end, nodes);
    }
    let mut head = Vec::new();
    write_length(&mut head, GRAPH, length);
    bytes.splice(place, head);
    Ok(())
}

struct Replaced {
    place: Range<usize>,
    nodes: Vec<u8>,
}

fn replacements(graph: &[u8]) -> Result<Vec<Replaced>, GraphError> {
    let mut found = Vec::new();
    let mut fields = Fields::of(graph);
    for field in fields.by_ref() {
        let Value::Bytes(bytes) = field.held else { continue };
        let is_fused = |name: &[u8]| name == FUSED;
        if field.number == NODE && Fields::of(bytes).bytes(node::OPERATION).any(is_fused) {
            found.push(Replaced { place: field.place, nodes: Product::read(bytes)?.nodes() });
        }
        if found.len() > MOST {
            return Err(GraphError::TooMany);
        }
    }
    if fields.is_at_end() { Ok(found) } else { Err(GraphError::NotOnnx) }
}

struct Product<'a> {
    factors: [&'a [u8]; 2],
    made: &'a [u8],
    name: &'a [u8],
    /// True for each factor that is transposed before the product.
    turned: [bool; 2],
}

impl<'a> Product<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, GraphError> {
        let all = |wanted| Fields::of(bytes).bytes(wanted).collect::<Vec<_>>();
        let name = all(node::NAME).first().copied().unwrap_or_default();
        let other =
            || GraphError::Product(String::from_utf8_lossy(name).chars().take(80).collect());
        let factors = all(node::INPUT).try_into().map_err(|_| other())?;
        let [made] = all(node::OUTPUT).try_into().map_err(|_| other())?;
        let mut product = Self { factors, made, name, turned: [false, false] };
        for attribute in all(node::ATTRIBUTE) {
            product.take(attribute).ok_or_else(other)?;
        }
        Ok(product)
    }

    /// Takes one attribute; `None`: two operations cannot express it.
    fn take(&mut self, attribute: &[u8]) -> Option<()> {
        let held = |wanted| Fields::of(attribute).find(move |field| field.number == wanted);
        let is_set = match held(INT).map(|field| field.held) {
            None | Some(Value::Number(0)) => false,
            Some(Value::Number(1)) => true,
            Some(_) => return None,
        };
        match Fields::of(attribute).bytes(NAME).next()? {
            b"transA" => self.turned[0] = is_set,
            b"transB" => self.turned[1] = is_set,
            b"alpha" if held(FLOAT)?.held == Value::Word(1.0_f32.to_le_bytes()) => {}
            b"transBatchA" | b"transBatchB" if !is_set => {}
            _ => return None,
        }
        Some(())
    }

    /// The replacing nodes, each in a field: a transposition for each transposed factor, then the
    /// product.
    fn nodes(&self) -> Vec<u8> {
        let mut nodes = Vec::new();
        let mut factors = self.factors.map(<[u8]>::to_vec);
        for (n, factor) in factors.iter_mut().enumerate().filter(|(n, _)| self.turned[*n]) {
            let made = [self.made, b" turned ", n.to_string().as_bytes()].concat();
            let mut node = Vec::new();
            write_bytes(&mut node, node::INPUT, factor);
            write_bytes(&mut node, node::OUTPUT, &made);
            write_bytes(&mut node, node::NAME, &made);
            write_bytes(&mut node, node::OPERATION, b"Transpose");
            write_bytes(&mut node, node::ATTRIBUTE, &turning());
            write_bytes(&mut nodes, NODE, &node);
            *factor = made;
        }
        let mut node = Vec::new();
        for factor in &factors {
            write_bytes(&mut node, node::INPUT, factor);
        }
        write_bytes(&mut node, node::OUTPUT, self.made);
        write_bytes(&mut node, node::NAME, self.name);
        write_bytes(&mut node, node::OPERATION, b"MatMul");
        write_bytes(&mut nodes, NODE, &node);
        nodes
    }
}

fn turning() -> Vec<u8> {
    let mut attribute = Vec::new();
    write_bytes(&mut attribute, NAME, b"perm");
    for axis in TURNED {
        write_number(&mut attribute, INTS, axis);
    }
    write_number(&mut attribute, TYPE, TYPE_INTS);
    attribute
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, value: Result<u64, f32>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_bytes(&mut bytes, NAME, name.as_bytes());
        match value {
            Ok(int) => write_number(&mut bytes, INT, int),
            Err(float) => {
                bytes.push(2 << 3 | 5);
                bytes.extend(float.to_le_bytes());
            }
        }
        bytes
    }

    fn product(inputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for input in inputs {
            write_bytes(&mut bytes, node::INPUT, input.as_bytes());
        }
        write_bytes(&mut bytes, node::OUTPUT, b"c");
        write_bytes(&mut bytes, node::NAME, b"product");
        write_bytes(&mut bytes, node::OPERATION, FUSED);
        for attribute in attributes {
            write_bytes(&mut bytes, node::ATTRIBUTE, attribute);
        }
        bytes
    }

    fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
        let (mut graph, mut file) = (Vec::new(), Vec::new());
        for node in nodes {
            write_bytes(&mut graph, NODE, node);
            write_bytes(&mut graph, 5, &[0; 300]);
        }
        write_number(&mut file, 1, 9);
        write_bytes(&mut file, GRAPH, &graph);
        write_bytes(&mut file, 8, b"behind");
        file
    }

    fn operations(file: &[u8]) -> Vec<(String, Vec<String>, Vec<String>)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let graph = Fields::of(file).bytes(GRAPH).next().unwrap();
        let read = |node: &[u8]| {
            let all = |wanted| Fields::of(node).bytes(wanted).map(text).collect::<Vec<_>>();
            (all(node::OPERATION).concat(), all(node::INPUT), all(node::OUTPUT))
        };
        Fields::of(graph).bytes(NODE).map(read).collect()
    }

    #[test]
    fn turned_factor_is_turned_by_itself() {
        let usual = [
            attribute("transBatchB", Ok(0)),
            attribute("transA", Ok(1)),
            attribute("alpha", Err(1.0)),
        ];
        let mut bytes = file(&[product(&["a", "b"], &usual), product(&["x", "y"], &[])]);
        spelled_out(&mut bytes).unwrap();
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(
            operations(&bytes),
            [
                ("Transpose".to_owned(), named(&["a"]), named(&["c turned 0"])),
                ("MatMul".to_owned(), named(&["c turned 0", "b"]), named(&["c"])),
                ("MatMul".to_owned(), named(&["x", "y"]), named(&["c"])),
            ]
        );
        let mut fields = Fields::of(&bytes);
        let numbers: Vec<u64> = fields.by_ref().map(|field| field.number).collect();
        assert!(fields.is_at_end() && numbers == [1, GRAPH, 8], "{numbers:?}");
        let before = bytes.clone();
        spelled_out(&mut bytes).unwrap();
        assert_eq!(bytes, before, "there is nothing left to replace");
    }

    #[test]
    fn unsupported_graphs_are_errors() {
        let other = |node: Vec<u8>| spelled_out(&mut file(&[node])).unwrap_err();
        let is_other = GraphError::Product("product".to_owned());
        assert_eq!(other(product(&["a"], &[])), is_other);
        for setting in [
            attribute("alpha", Err(0.5)),
            attribute("transBatchA", Ok(1)),
            attribute("transA", Ok(2)),
            attribute("later", Ok(0)),
        ] {
            assert_eq!(other(product(&["a", "b"], &[setting])), is_other);
        }
        let many = vec![product(&["a", "b"], &[]); MOST + 1];
        assert_eq!(spelled_out(&mut file(&many)), Err(GraphError::TooMany));
        for bytes in [&b""[..], b"no network", &[0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f]] {
            assert_eq!(spelled_out(&mut bytes.to_vec()), Err(GraphError::NotOnnx));
        }
    }

    #[test]
    fn no_bytes_break_it() {
        let usual = [attribute("transA", Ok(1)), attribute("transB", Ok(1))];
        let whole = file(&[product(&["a", "b"], &usual), product(&["x", "y"], &[])]);
        for at in 0..whole.len() {
            let _ = spelled_out(&mut whole[..at].to_vec());
            for value in [0, 0x7f, 0x80, 0xff, whole[at] ^ 1, whole[at] ^ 8] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let _ = spelled_out(&mut bytes);
                assert!(bytes.len() < 2 * whole.len());
            }
        }
    }
}
