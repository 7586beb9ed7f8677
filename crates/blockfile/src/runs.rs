//! Pieces of bytes in the order of a type map. Pieces of equal length at equal distances are one run, however many there are:
//! for example the rows of a plane.

/// Pieces of one length at equal distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvenRun {
    /// Offset of the first piece, bytes.
    pub offset: i64,
    /// Bytes of a piece.
    pub length: u64,
    /// Number of pieces; at least one.
    pub count: u64,
    /// Distance between the beginnings of two pieces, bytes; more than `length` if there are several.
    pub stride: i64,
}

impl EvenRun {
    /// A single piece.
    pub fn piece(offset: i64, length: u64) -> EvenRun {
        EvenRun {
            offset,
            length,
            count: 1,
            stride: 0,
        }
    }

    /// Offset of the last piece, bytes; `None` if an i64 cannot hold it.
    pub fn last(&self) -> Option<i64> {
        let before = i64::try_from(self.count.checked_sub(1)?).ok()?;
        self.offset.checked_add(before.checked_mul(self.stride)?)
    }

    /// Whether the pieces go forward and leave gaps. A run made by [`Runs`] always does.
    pub fn is_sound(&self) -> bool {
        let has_gaps = self.stride > 0 && self.stride.unsigned_abs() > self.length;
        self.count == 1 || self.count > 1 && has_gaps && self.last().is_some()
    }

    /// Offset and length of each piece, bytes. For a run that is not sound, the pieces up to the last possible offset.
    pub fn pieces(self) -> impl Iterator<Item = (i64, u64)> {
        let mut next = Some(self.offset);
        (0..self.count).map_while(move |_| {
            let offset = next?;
            next = offset.checked_add(self.stride);
            Some((offset, self.length))
        })
    }
}

/// Builds runs from pieces in the order of a type map. Neighbouring pieces are joined.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    runs: Vec<EvenRun>,
    /// Number of parts that have been appended, joined or not.
    steps: usize,
}

impl Runs {
    /// Maximum number of runs.
    pub const MAX_RUNS: usize = 1 << 16;
    /// Maximum number of parts. The limit bounds the work where all of them join.
    const MAX_STEPS: usize = 1 << 20;

    /// The runs so far.
    pub fn runs(&self) -> &[EvenRun] {
        &self.runs
    }

    /// The runs; the builder is used up.
    pub fn into_vec(self) -> Vec<EvenRun> {
        self.runs
    }

    /// Appends `count` pieces of `length` bytes, the first at `offset`, each `stride` bytes after the previous one.
    /// `None` if there are too many parts or runs, or if an i64 cannot hold an offset.
    pub fn append(&mut self, offset: i64, length: u64, count: u64, stride: i64) -> Option<()> {
        let run = EvenRun {
            offset,
            length,
            count,
            stride,
        };
        if length == 0 || count == 0 {
            return Some(());
        }
        if count == 1 || i64::try_from(length) == Ok(stride) {
            return self.append_run(EvenRun::piece(offset, length.checked_mul(count)?));
        }
        if run.is_sound() {
            return self.append_run(run);
        }
        for nth in 0..count {
            let at = offset.checked_add(i64::try_from(nth).ok()?.checked_mul(stride)?)?;
            self.append_run(EvenRun::piece(at, length))?;
        }
        Some(())
    }

    /// Appends a sound run.
    fn append_run(&mut self, run: EvenRun) -> Option<()> {
        self.steps += 1;
        if self.steps > Self::MAX_STEPS {
            return None;
        }
        run.last()?.checked_add_unsigned(run.length)?;
        let Some(last) = self.runs.last_mut() else {
            self.runs.push(run);
            return Some(());
        };
        let begin = last.last()?;
        if begin.checked_add_unsigned(last.length)? == run.offset {
            // The last piece goes on.
            let length = last.length.checked_add(run.length)?;
            match last.count {
                1 => drop(self.runs.pop()),
                2 => *last = EvenRun::piece(last.offset, last.length),
                _ => last.count -= 1,
            }
            self.append_run(EvenRun::piece(begin, length))?;
            let rest = run.offset.checked_add(run.stride);
            return match run.count - 1 {
                0 => Some(()),
                1 => self.append_run(EvenRun::piece(rest?, run.length)),
                count => self.append_run(EvenRun {
                    offset: rest?,
                    count,
                    ..run
                }),
            };
        }
        let step = run.offset.checked_sub(begin)?;
        let fits = |one: &EvenRun| one.count == 1 || one.stride == step;
        let has_gap = step > 0 && step.unsigned_abs() > run.length;
        if last.length == run.length && has_gap && fits(last) && fits(&run) {
            last.stride = step;
            last.count = last.count.checked_add(run.count)?;
            return Some(());
        }
        if self.runs.len() == Self::MAX_RUNS {
            return None;
        }
        self.runs.push(run);
        Some(())
    }

    /// Appends `count` copies of `element`, the first moved by `offset`, each `stride` bytes behind the one before it. `None` as
    /// for [`append`](Self::append).
    pub fn repeat(&mut self, element: &Runs, offset: i64, count: i64, stride: i64) -> Option<()> {
        let copies = u64::try_from(count).unwrap_or(0);
        let single = match element.runs[..] {
            [] => return Some(()),
            [run] => Some(run),
            _ => None,
        };
        if let Some(run) = single {
            let first = offset.checked_add(run.offset)?;
            if run.count == 1 {
                return self.append(first, run.length, copies, stride);
            }
            // Copies that continue the run.
            if i64::try_from(run.count).ok()?.checked_mul(run.stride) == Some(stride) {
                let all = run.count.checked_mul(copies)?;
                return self.append(first, run.length, all, run.stride);
            }
        }
        for copy in 0..count {
            let at = offset.checked_add(copy.checked_mul(stride)?)?;
            for run in &element.runs {
                let first = at.checked_add(run.offset)?;
                self.append(first, run.length, run.count, run.stride)?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: i64, length: u64) -> Runs {
        let mut piece = Runs::default();
        piece.append(offset, length, 1, 0).unwrap();
        piece
    }

    #[test]
    fn dense_repetitions_are_one_piece() {
        let mut out = Runs::default();
        let byte = piece(0, 8);
        out.repeat(&byte, 16, 1 << 40, 8).unwrap();
        assert_eq!(out.runs(), [EvenRun::piece(16, 1 << 43)]);
        out.repeat(&byte, 16 + (1 << 43), 2, 16).unwrap();
        let expected = [
            EvenRun::piece(16, (1 << 43) + 8),
            EvenRun::piece(32 + (1 << 43), 8),
        ];
        assert_eq!(out.runs(), expected);
    }

    #[test]
    fn rows_of_planes_are_a_run_each() {
        let mut plane = Runs::default();
        plane.repeat(&piece(0, 64), 0, 1000, 100).unwrap();
        let run = EvenRun {
            offset: 0,
            length: 64,
            count: 1000,
            stride: 100,
        };
        assert_eq!(plane.runs(), [run]);
        let mut cube = Runs::default();
        cube.repeat(&plane, 0, 3, 200_000).unwrap();
        let at = |offset| EvenRun { offset, ..run };
        assert_eq!(cube.runs(), [at(0), at(200_000), at(400_000)]);
        // All rows of all planes are alike.
        let mut cube = Runs::default();
        cube.repeat(&plane, 0, 1 << 40, 100_000).unwrap();
        assert_eq!(
            cube.runs(),
            [EvenRun {
                count: 1000 << 40,
                ..run
            }]
        );
    }

    #[test]
    fn too_many_are_given_up() {
        let most = Runs::MAX_RUNS as i64;
        let backward = |count| Runs::default().repeat(&piece(0, 1), 0, count, -2);
        assert_eq!(backward(most), Some(()));
        assert_eq!(backward(most + 1), None);
        assert_eq!(backward(i64::MAX), None);
        // Copies that join for ever.
        let mut pair = piece(0, 4);
        pair.append(8, 8, 1, 0).unwrap();
        assert_eq!(Runs::default().repeat(&pair, 0, i64::MAX >> 8, 16), None);
        assert_eq!(Runs::default().repeat(&piece(0, 1), 0, i64::MAX, 2), None);
    }

    /// Random pieces, put together one by one and as runs, are the pieces that neighbours make.
    #[test]
    fn pieces_come_back() {
        // Numbers from a fixed seed.
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..20_000 {
            let mut runs = Runs::default();
            let mut expected: Vec<(i64, u64)> = Vec::new();
            let mut at = 0;
            for _ in 0..next(8) {
                at += next(4) as i64 * 2 - next(2) as i64;
                let (length, count) = (1 + next(3), 1 + next(4));
                let stride = next(7) as i64 - 1;
                runs.append(at, length, count, stride).unwrap();
                for nth in 0..count as i64 {
                    let offset = at + nth * stride;
                    match expected.last_mut() {
                        Some((last, l)) if *last + *l as i64 == offset => *l += length,
                        _ => expected.push((offset, length)),
                    }
                }
                at = expected.last().map_or(0, |(last, l)| last + *l as i64);
            }
            assert!(runs.runs().iter().all(EvenRun::is_sound));
            let found: Vec<_> = runs.runs().iter().flat_map(|run| run.pieces()).collect();
            assert_eq!(found, expected);
        }
    }
}
