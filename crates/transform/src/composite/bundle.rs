//! Composites on their way through the sorter, which knows drawables only: as the bytes of an info.

use trace_model::{Drawable, Topology, Vertex};

/// Maximum number of parts of a composite: SLOG2 stores their number in 16 bits.
pub(super) const MAX_PARTS: usize = i16::MAX as usize;

/// A drawable that waits for others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BundlePart {
    pub(super) topology: Topology,
    pub(super) category: i32,
    pub(super) info: Vec<u8>,
    pub(super) vertices: Vec<Vertex>,
}

impl BundlePart {
    pub(super) fn of(drawable: &Drawable<'_>) -> Self {
        BundlePart {
            topology: drawable.topology,
            category: drawable.category,
            info: drawable.info.to_vec(),
            vertices: drawable.vertices.to_vec(),
        }
    }

    pub(super) fn drawable(&self) -> Drawable<'_> {
        Drawable {
            topology: self.topology,
            category: self.category,
            info: &self.info,
            vertices: &self.vertices,
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.topology.number() as u8);
        out.extend_from_slice(&self.category.to_ne_bytes());
        push_bytes(out, &self.info);
        out.extend_from_slice(&(self.vertices.len() as u32).to_ne_bytes());
        for vertex in &self.vertices {
            out.extend_from_slice(&vertex.time.to_ne_bytes());
            out.extend_from_slice(&vertex.line.to_ne_bytes());
        }
    }

    /// The next one; `None` at the end.
    pub(super) fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let [topology] = take(bytes)?;
        let category = i32::from_ne_bytes(take(bytes)?);
        let info = take_bytes(bytes)?;
        let count = u32::from_ne_bytes(take(bytes)?);
        let mut vertices = Vec::new();
        for _ in 0..count {
            vertices.push(Vertex {
                time: f64::from_ne_bytes(take(bytes)?),
                line: i32::from_ne_bytes(take(bytes)?),
            });
        }
        Some(BundlePart {
            topology: Topology::from_number(topology.into())?,
            category,
            info,
            vertices,
        })
    }
}

/// A composite.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bundle {
    pub(super) info: Vec<u8>,
    pub(super) parts: Vec<BundlePart>,
}

impl Bundle {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push_bytes(&mut out, &self.info);
        for part in &self.parts {
            part.encode(&mut out);
        }
        out
    }

    pub(super) fn decode(mut bytes: &[u8]) -> Self {
        Bundle {
            info: take_bytes(&mut bytes).unwrap_or_default(),
            parts: std::iter::from_fn(|| BundlePart::decode(&mut bytes)).collect(),
        }
    }
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_ne_bytes());
    out.extend_from_slice(bytes);
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

fn take_bytes(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let size = u32::from_ne_bytes(take(bytes)?) as usize;
    let (taken, rest) = bytes.split_at_checked(size)?;
    *bytes = rest;
    Some(taken.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_come_out_as_they_went_in() {
        let part = |category: i32, corners: usize| BundlePart {
            topology: Topology::Arrow,
            category,
            info: vec![7; category as usize],
            vertices: vec![
                Vertex {
                    time: 0.5,
                    line: -3
                };
                corners
            ],
        };
        let bundle = Bundle {
            info: vec![1, 2, 3],
            parts: vec![part(0, 1), part(400, 2)],
        };
        assert_eq!(Bundle::decode(&bundle.encode()), bundle);
        assert_eq!(Bundle::decode(&[]), Bundle::default());
    }
}
