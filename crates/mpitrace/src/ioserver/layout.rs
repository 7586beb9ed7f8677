//! Layout of a file over data servers: stripes of equal size go round, and each server has its stripes one after the
//! other in a file of its own.

/// Number of servers and size of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeLayout {
    /// Servers; at least 1.
    pub servers: u64,
    /// Bytes of a stripe; at least 1.
    pub stripe: u64,
}

/// A part of a range that lies in one stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripePiece {
    /// Index of the server that has the piece.
    pub server: usize,
    /// Offset in the file.
    pub offset: u64,
    /// Offset in the server's part of the file.
    pub local: u64,
    /// Bytes.
    pub length: u64,
}

impl StripeLayout {
    /// The pieces of `length` bytes from `offset` on, in the order of the file.
    pub fn pieces(self, offset: u64, length: u64) -> impl Iterator<Item = StripePiece> {
        let end = offset.saturating_add(length);
        let mut at = offset;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (number, inside) = (at / self.stripe, at % self.stripe);
            let piece = StripePiece {
                server: (number % self.servers) as usize,
                offset: at,
                local: number / self.servers * self.stripe + inside,
                length: (self.stripe - inside).min(end - at),
            };
            at += piece.length;
            Some(piece)
        })
    }

    /// Bytes that server `server` has of the first `size` bytes of a file.
    pub fn local_size(self, server: usize, size: u64) -> u64 {
        let round = self.stripe * self.servers;
        let before = self.stripe * server as u64;
        size / round * self.stripe + (size % round).saturating_sub(before).min(self.stripe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_at_one_place() {
        for (servers, stripe) in [(1, 4), (2, 1), (3, 4), (4, 3), (3, 7)] {
            let layout = StripeLayout { servers, stripe };
            let mut parts = vec![0; servers as usize];
            for offset in 0..100 {
                let pieces: Vec<StripePiece> = layout.pieces(offset, 1).collect();
                let [piece] = pieces[..] else {
                    panic!("{pieces:?}");
                };
                // The bytes of a server's part come in their order, without holes.
                assert_eq!(piece.local, parts[piece.server]);
                parts[piece.server] += 1;
                for (server, &part) in parts.iter().enumerate() {
                    assert_eq!(layout.local_size(server, offset + 1), part);
                }
            }
            for (offset, length) in [(0, 0), (3, 5), (0, 100), (17, 40)] {
                let mut at = offset;
                for piece in layout.pieces(offset, length) {
                    assert_eq!(piece.offset, at);
                    let one = layout.pieces(at, 1).next().unwrap();
                    assert_eq!((piece.server, piece.local), (one.server, one.local));
                    at += piece.length;
                }
                assert_eq!(at, offset + length);
            }
        }
    }
}
