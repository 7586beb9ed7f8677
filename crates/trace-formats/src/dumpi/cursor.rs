//! Big-endian values taken off the front of a byte slice, each bounds-checked.

/// A place in a byte slice. Every taking method returns `None`, and moves nothing, when too few bytes are left.
#[derive(Clone, Copy, Debug)]
pub(super) struct DumpiCursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

macro_rules! take {
    ($($name:ident: $type:ty),*) => {$(
        #[inline]
        pub fn $name(&mut self) -> Option<$type> {
            self.array().map(<$type>::from_be_bytes)
        }
    )*};
}

impl<'a> DumpiCursor<'a> {
    /// A cursor at `pos`, which may lie behind the end.
    pub fn at(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos }
    }

    /// Offset of the next byte.
    pub fn pos(&self) -> usize {
        self.pos
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.pos..)?.first_chunk::<N>()?;
        self.pos += N;
        Some(*taken)
    }

    take!(u8: u8, i8: i8, u16: u16, i16: i16, u32: u32, i32: i32, u64: u64, i64: i64);

    /// The next `len` bytes.
    #[inline]
    pub fn slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.pos..)?.get(..len)?;
        self.pos += len;
        Some(taken)
    }

    /// A u32 count and that many elements of `width` bytes.
    #[inline]
    pub fn counted(&mut self, width: usize) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let len = (ahead.u32()? as usize).checked_mul(width)?;
        let taken = ahead.slice(len)?;
        *self = ahead;
        Some(taken)
    }

    /// A short string: u16 length and bytes.
    pub fn short_string(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let len = ahead.u16()?;
        let taken = ahead.slice(usize::from(len))?;
        *self = ahead;
        Some(taken)
    }

    /// Number of bytes left.
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.pos)
    }

    /// The bytes taken since `from`.
    pub fn since(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..self.pos).unwrap_or(&[])
    }
}
