//! Preview statistics: how much of each stretch of time is spent in each kind of interval (`spec/slog1.md` section 7).

use super::cursor::Slog1Cursor;
use super::error::Slog1Error;
use super::profile;
use super::record::Slog1Record;
use std::collections::HashMap;

/// Bytes of a label, its line feed included.
const LABEL: usize = 35;

/// The statistics of a file.
#[derive(Clone, Copy, Debug)]
pub struct Slog1Statistics<'a> {
    /// Start of the first bin, seconds; −1 in files that have none.
    pub start: f64,
    /// End of the last bin, seconds; −1 in files that have none.
    pub end: f64,
    /// Number of bins in a set.
    pub bins: u32,
    /// Number of sets.
    pub count: u32,
    sets: Slog1Cursor<'a>,
}

/// The bins of one kind of interval. Its values add up over records: a bin that two of them fill has 2.
#[derive(Clone, Copy, Debug)]
pub struct StatisticsSet<'a> {
    /// Always 0.
    pub rectype: u16,
    /// Type of the intervals.
    pub intvltype: u16,
    /// The field of the label, with all bytes.
    pub(super) label: &'a [u8],
    bins: &'a [u8],
}

impl<'a> Slog1Statistics<'a> {
    /// Reads the statistics at the front of `from`; `None` if there are no sets or no bins.
    pub(super) fn decode(mut from: Slog1Cursor<'a>) -> Result<Option<Self>, Slog1Error> {
        let (count, bins) = (from.u32()?, from.u32()?);
        if count == 0 || bins == 0 {
            return Ok(None);
        }
        Ok(Some(Slog1Statistics {
            start: from.f64()?,
            end: from.f64()?,
            bins,
            count,
            sets: from,
        }))
    }

    /// The sets, up to the first that is damaged.
    pub fn sets(&self) -> impl Iterator<Item = Result<StatisticsSet<'a>, Slog1Error>> + use<'a> {
        let mut from = self.sets;
        let mut left = self.count;
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let set = StatisticsSet::decode(&mut from);
            if set.is_err() {
                left = 0;
            }
            Some(set)
        })
    }

    /// Seconds of a bin.
    pub fn bin_width(&self) -> f64 {
        (self.end - self.start) / f64::from(self.bins)
    }

    /// Appends the bytes before the sets.
    pub(super) fn encode_head(&self, out: &mut Vec<u8>) {
        encode_head(self.count, self.bins, self.start, self.end, out);
    }
}

fn encode_head(count: u32, bins: u32, start: f64, end: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&count.to_be_bytes());
    out.extend_from_slice(&bins.to_be_bytes());
    out.extend_from_slice(&start.to_be_bytes());
    out.extend_from_slice(&end.to_be_bytes());
}

impl<'a> StatisticsSet<'a> {
    fn decode(from: &mut Slog1Cursor<'a>) -> Result<Self, Slog1Error> {
        let (rectype, intvltype, size) = (from.u16()?, from.u16()?, from.u16()?);
        let label = from.take(size.into())?;
        let bins = from.u32()?;
        from.need(u64::from(bins) * 8)?;
        Ok(StatisticsSet {
            rectype,
            intvltype,
            label,
            bins: from.take(bins as usize * 8)?,
        })
    }

    /// Name of the intervals.
    pub fn label(&self) -> &'a [u8] {
        profile::string(self.label)
    }

    /// Share of the time of each bin that is spent in such intervals.
    pub fn bins(&self) -> impl ExactSizeIterator<Item = f64> + use<'a> {
        let bins = self.bins.chunks_exact(8);
        bins.map(|bin| f64::from_be_bytes(bin.first_chunk().copied().unwrap_or_default()))
    }

    /// Appends the bytes of the set.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.rectype.to_be_bytes());
        out.extend_from_slice(&self.intvltype.to_be_bytes());
        out.extend_from_slice(&(self.label.len() as u16).to_be_bytes());
        out.extend_from_slice(self.label);
        out.extend_from_slice(&(self.bins().len() as u32).to_be_bytes());
        for bin in self.bins() {
            out.extend_from_slice(&bin.to_be_bytes());
        }
    }
}

/// Statistics that are being collected.
#[derive(Debug)]
pub(super) struct StatisticsBuilder {
    start: f64,
    end: f64,
    width: f64,
    bins: usize,
    sets: Vec<TimeBins>,
    /// Index of the set of a type.
    of_type: HashMap<u16, usize>,
}

#[derive(Debug)]
struct TimeBins {
    intvltype: u16,
    label: [u8; LABEL],
    bins: Vec<f64>,
}

impl StatisticsBuilder {
    /// Statistics with these bins and a set for each of these types and labels.
    pub(super) fn new<'a>(bins: u32, types: impl Iterator<Item = (u16, &'a [u8])>) -> Self {
        let sets: Vec<TimeBins> = types
            .map(|(intvltype, label)| {
                // Twice, because the label comes from the profile, where it was put into a field before.
                let mut label = profile::field(profile::string(&profile::field(label)));
                label[LABEL - 1] = b'\n';
                let bins = vec![0.0; bins as usize];
                TimeBins {
                    intvltype,
                    label,
                    bins,
                }
            })
            .collect();
        let mut of_type = HashMap::new();
        for (nth, set) in sets.iter().enumerate() {
            of_type.entry(set.intvltype).or_insert(nth);
        }
        StatisticsBuilder {
            start: -1.0,
            end: -1.0,
            width: 0.0,
            bins: bins as usize,
            sets,
            of_type,
        }
    }

    /// Sets the stretch of time of all bins.
    pub(super) fn span(&mut self, start: f64, end: f64) {
        (self.start, self.end) = (start, end);
        self.width = (end - start) / self.bins as f64;
    }

    /// Adds a record; the steps of the calculation are those of the original, so that the sums have the same bits.
    pub(super) fn add(&mut self, record: &Slog1Record<'_>) {
        let set = self.of_type.get(&record.key.intvltype);
        let Some(set) = set.and_then(|&nth| self.sets.get_mut(nth)) else {
            return;
        };
        let start = record.start - self.start;
        let end = start + record.duration;
        let (first, before) = place(start, self.width, self.bins);
        let (last, within) = place(end, self.width, self.bins);
        if last > first {
            set.bins[first] += 1.0 - before;
            set.bins[first + 1..last]
                .iter_mut()
                .for_each(|bin| *bin += 1.0);
            set.bins[last] += within;
        } else if last == first
            && let Some(bin) = set.bins.get_mut(first)
        {
            *bin += within - before;
        }
    }

    /// The bytes of the statistics.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let bins = self.bins as u32;
        encode_head(self.sets.len() as u32, bins, self.start, self.end, &mut out);
        for set in &self.sets {
            out.extend_from_slice(&[0, 0]);
            out.extend_from_slice(&set.intvltype.to_be_bytes());
            out.extend_from_slice(&(LABEL as u16).to_be_bytes());
            out.extend_from_slice(&set.label);
            out.extend_from_slice(&bins.to_be_bytes());
            for bin in &set.bins {
                out.extend_from_slice(&bin.to_be_bytes());
            }
        }
        out
    }
}

/// The bin that a time falls into, and how far into it, in bins. What lies outside of all is counted from the nearest.
fn place(time: f64, width: f64, bins: usize) -> (usize, f64) {
    let quotient = time / width;
    let last = bins as f64 - 1.0;
    let whole = if quotient.abs() < 2_147_483_648.0 {
        quotient.trunc()
    } else {
        // Result of the original's conversion for numbers that are too large or NaN.
        f64::from(i32::MIN)
    };
    let rest = quotient - whole;
    if whole < 0.0 {
        (0, rest + whole)
    } else if whole > last {
        (bins.saturating_sub(1), rest + (whole - last))
    } else {
        (whole as usize, rest)
    }
}
