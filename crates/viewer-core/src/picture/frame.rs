//! Frames: pictures as bytes, little-endian, so that a page can lay arrays over them without decoding.
//!
//! A header of 64 bytes, then 16 bytes for each section, then the data of the sections, each at a multiple of 8.

/// First bytes of a frame.
pub const MAGIC: [u8; 4] = *b"LTV1";
/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;

/// Flags of a frame.
pub mod flag {
    /// Everything in the window was looked at.
    pub const EXACT: u32 = 1;
    /// Parts are estimated from previews, or missing.
    pub const COARSE: u32 = 2;
    /// States, events and arrows are there one by one.
    pub const STATES: u32 = 4;
    /// There are more arrows than are given.
    pub const ARROWS_CUT: u32 = 8;
    /// Made from the index.
    pub const FROM_INDEX: u32 = 16;
    /// The waits of the states are known: a state of which none is given did not wait.
    pub const WAITS: u32 = 32;
}

/// Flags of an arrow.
pub mod arrow_flag {
    /// The arrow ends before it begins.
    pub const BACKWARD: u16 = 1;
    /// The arrow stands for several.
    pub const BUNDLE: u16 = 2;
}

/// Numbers of sections.
pub mod section {
    /// Cells: 0 for nothing, else one more than the kind; u8 or u16.
    pub const CATEGORY: u32 = 1;
    /// Cells: share that is taken, u8.
    pub const BUSY: u32 = 2;
    /// Cells: difference between the units of a timeline, u8.
    pub const DEVIATION: u32 = 3;
    /// Cells: 0 for no events, else 1 + log2 of their number, u8.
    pub const EVENTS: u32 = 4;
    /// Cells: hits of a search, likewise.
    pub const HITS: u32 = 5;
    /// Cells: second kind, its share, third kind, its share, share of the first.
    pub const STACK: [u32; 5] = [6, 7, 8, 9, 10];
    /// States: start, duration (f32 seconds from the start of the window), timeline (u32), kind, depth (u16).
    pub const STATES: [u32; 5] = [20, 21, 22, 23, 24];
    /// Waits of states: number of the state among those of the frame (u32), begin (f32 seconds from the start of the window), duration (f32).
    pub const WAITS: [u32; 3] = [25, 26, 27];
    /// Events: time (f32), timeline (u32), kind (u16).
    pub const POINTS: [u32; 3] = [30, 31, 32];
    /// Arrows: time of both ends (f32), timeline of both (u32), kind, flags (u16), count (u32), bytes (f32).
    pub const ARROWS: [u32; 8] = [40, 41, 42, 43, 44, 45, 46, 47];
}

/// Header of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameHeader {
    /// 1 for a picture.
    pub kind: u32,
    /// Columns of cells.
    pub columns: u32,
    /// Timelines of cells.
    pub timelines: u32,
    /// See [`flag`].
    pub flags: u32,
    /// The number that the question had.
    pub seq: u32,
    /// Position of the first timeline.
    pub first_timeline: u32,
    /// The window, in seconds.
    pub window: [f64; 2],
    /// Drawables in the window and the timelines.
    pub drawables: u64,
    /// Arrows that were found of those that are asked for, one by one in the frame or not.
    pub arrows: u64,
}

/// Makes a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameWriter {
    sections: Vec<(u32, u32, u64)>,
    data: Vec<u8>,
}

/// A number of a section.
pub trait FrameElement: Copy {
    /// Bytes of the element.
    const SIZE: usize;
    /// Appends them.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! elements {
    ($($type:ty)*) => {$(
        impl FrameElement for $type {
            const SIZE: usize = size_of::<$type>();
            #[inline]
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

elements!(u8 u16 u32 f32);

impl FrameWriter {
    /// Adds a section.
    pub fn section<T: FrameElement>(
        &mut self,
        id: u32,
        elements: impl ExactSizeIterator<Item = T>,
    ) {
        self.sections
            .push((id, T::SIZE as u32, elements.len() as u64));
        self.data.reserve(elements.len() * T::SIZE + 8);
        elements.for_each(|element| element.put(&mut self.data));
        self.data.resize(self.data.len().next_multiple_of(8), 0);
    }

    /// Adds a section of bytes.
    pub fn bytes(&mut self, id: u32, bytes: &[u8]) {
        self.sections.push((id, 1, bytes.len() as u64));
        self.data.extend_from_slice(bytes);
        self.data.resize(self.data.len().next_multiple_of(8), 0);
    }

    /// Adds a channel of kinds, in bytes if they are few.
    pub fn kinds(&mut self, id: u32, kinds: &[u16], are_few: bool) {
        if are_few {
            let bytes: Vec<u8> = kinds.iter().map(|&kind| kind as u8).collect();
            self.bytes(id, &bytes);
        } else {
            self.section(id, kinds.iter().copied());
        }
    }

    /// The bytes of the frame.
    pub fn finish(self, header: &FrameHeader) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES + 16 * self.sections.len() + self.data.len());
        out.extend_from_slice(&MAGIC);
        let sections = self.sections.len() as u32;
        let FrameHeader {
            kind,
            columns,
            timelines,
            flags,
            seq,
            first_timeline,
            ..
        } = *header;
        for number in [
            kind,
            columns,
            timelines,
            sections,
            flags,
            seq,
            first_timeline,
        ] {
            number.put(&mut out);
        }
        header
            .window
            .iter()
            .for_each(|time| out.extend_from_slice(&time.to_le_bytes()));
        out.extend_from_slice(&header.drawables.to_le_bytes());
        out.extend_from_slice(&header.arrows.to_le_bytes());
        for (id, size, count) in self.sections {
            id.put(&mut out);
            size.put(&mut out);
            out.extend_from_slice(&count.to_le_bytes());
        }
        out.extend_from_slice(&self.data);
        out
    }
}

/// A frame that is read, for tests and exports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecodedFrame {
    /// Header of the frame.
    pub header: FrameHeader,
    /// Number, bytes of an element, and data of each section.
    pub sections: Vec<(u32, u32, Vec<u8>)>,
}

impl DecodedFrame {
    /// Reads a frame; `None` for what is none.
    pub fn read(bytes: &[u8]) -> Option<DecodedFrame> {
        let array = |at: usize| bytes.get(at..at + 4)?.try_into().ok();
        let u32_at = |at: usize| array(at).map(u32::from_le_bytes);
        let long = |at: usize| bytes.get(at..at + 8)?.try_into().ok();
        let f64_at = |at: usize| long(at).map(f64::from_le_bytes);
        let u64_at = |at: usize| long(at).map(u64::from_le_bytes);
        if array(0)? != MAGIC {
            return None;
        }
        let header = FrameHeader {
            kind: u32_at(4)?,
            columns: u32_at(8)?,
            timelines: u32_at(12)?,
            flags: u32_at(20)?,
            seq: u32_at(24)?,
            first_timeline: u32_at(28)?,
            window: [f64_at(32)?, f64_at(40)?],
            drawables: u64_at(48)?,
            arrows: u64_at(56)?,
        };
        let count = u32_at(16)? as usize;
        let mut at = HEADER_BYTES.checked_add(count.checked_mul(16)?)?;
        let mut sections = Vec::new();
        for nth in 0..count {
            let entry = HEADER_BYTES + 16 * nth;
            let (id, size) = (u32_at(entry)?, u32_at(entry + 4)?);
            let length = usize::try_from(u64_at(entry + 8)?)
                .ok()?
                .checked_mul(size as usize)?;
            let end = at.checked_add(length)?;
            sections.push((id, size, bytes.get(at..end)?.to_vec()));
            at = end.checked_next_multiple_of(8)?;
        }
        Some(DecodedFrame { header, sections })
    }

    /// The data of a section.
    pub fn section(&self, id: u32) -> Option<&[u8]> {
        let found = self.sections.iter().find(|section| section.0 == id);
        found.map(|section| section.2.as_slice())
    }

    /// The elements of a section of numbers of 16 bits, or of bytes.
    pub fn numbers(&self, id: u32) -> Vec<u32> {
        let found = self.sections.iter().find(|section| section.0 == id);
        let Some((_, size @ (1 | 2 | 4), data)) = found else {
            return Vec::new();
        };
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0, |n, &byte| n << 8 | u32::from(byte))
        };
        data.chunks_exact(*size as usize).map(number).collect()
    }

    /// The elements of a section of floating-point numbers.
    pub fn reals(&self, id: u32) -> Vec<f32> {
        self.numbers(id).into_iter().map(f32::from_bits).collect()
    }
}
