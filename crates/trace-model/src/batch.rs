//! Drawables as bytes, one after the other: for temporary files and for other threads.

use crate::{Drawable, Topology, Vertex};

/// Drawables in the order in which they were added.
#[derive(Debug, Default)]
pub struct DrawableBatch {
    bytes: Vec<u8>,
}

impl DrawableBatch {
    /// Adds a drawable.
    pub fn push(&mut self, drawable: &Drawable<'_>) {
        encode(drawable, &mut self.bytes);
    }

    /// Bytes of the drawables.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Gives all drawables to `put`.
    ///
    /// # Errors
    /// The first error of `put`; it gets nothing more then.
    pub fn for_each<E>(
        &self,
        mut put: impl FnMut(&Drawable<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut vertices = Vec::new();
        let mut rest = self.bytes.as_slice();
        while !rest.is_empty() {
            put(&decode(rest, &mut vertices))?;
            rest = rest.get(encoded_size(rest)..).unwrap_or_default();
        }
        Ok(())
    }
}

/// Topology, category, number of vertices, bytes of info.
pub(crate) const HEAD: usize = 1 + 4 + 4 + 4;
/// Time and line.
const VERTEX: usize = 12;

/// Appends a drawable.
pub(crate) fn encode(drawable: &Drawable<'_>, out: &mut Vec<u8>) {
    out.push(drawable.topology.number() as u8);
    out.extend_from_slice(&drawable.category.to_ne_bytes());
    out.extend_from_slice(&(drawable.vertices.len() as u32).to_ne_bytes());
    out.extend_from_slice(&(drawable.info.len() as u32).to_ne_bytes());
    for vertex in drawable.vertices {
        out.extend_from_slice(&vertex.time.to_ne_bytes());
        out.extend_from_slice(&vertex.line.to_ne_bytes());
    }
    out.extend_from_slice(drawable.info);
}

/// Bytes of the drawable whose head stands here.
pub(crate) fn encoded_size(head: &[u8]) -> usize {
    let number = |at: usize| {
        let bytes = head.get(at..).and_then(|rest| rest.first_chunk());
        u32::from_ne_bytes(bytes.copied().unwrap_or_default()) as usize
    };
    HEAD + number(5) * VERTEX + number(9)
}

/// The drawable at the beginning of some bytes, whose vertices replace those of the one before.
pub(crate) fn decode<'a>(mut rest: &'a [u8], vertices: &'a mut Vec<Vertex>) -> Drawable<'a> {
    let whole = encoded_size(rest).min(rest.len());
    let mut take = |size: usize| {
        let (part, behind) = rest.split_at(size.min(rest.len()));
        rest = behind;
        part
    };
    let head = take(HEAD);
    let int = |bytes: &[u8], at: usize| {
        let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
        i32::from_ne_bytes(bytes.copied().unwrap_or_default())
    };
    let topology = head.first().map(|&number| i32::from(number));
    let topology = topology.and_then(Topology::from_number);
    let category = int(head, 1);
    let count = int(head, 5) as usize;
    vertices.clear();
    for _ in 0..count {
        let bytes = take(VERTEX);
        let time = bytes.first_chunk().copied().unwrap_or_default();
        vertices.push(Vertex {
            time: f64::from_ne_bytes(time),
            line: int(bytes, 8),
        });
    }
    let info = take(whole.saturating_sub(HEAD + count * VERTEX));
    Drawable {
        topology: topology.unwrap_or(Topology::Event),
        category,
        info,
        vertices,
    }
}
