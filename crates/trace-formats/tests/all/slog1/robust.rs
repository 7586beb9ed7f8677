//! SLOG-1 readers on damaged files: never a panic, errors that say where, and what is whole before the damage is read.

use crate::slog1::common::*;
use proptest::prelude::*;
use trace_formats::slog1::*;
use trace_model::Source as _;

/// Runs everything that reads, and gives the number of drawables of what can be salvaged.
fn read_all(file: &[u8]) -> usize {
    let (text, _) = printed(file, "damaged");
    // A byte of the file can only be printed once, or a frame's records as often as there are bytes for them.
    assert!(text.len() <= 4000 + 200 * file.len());
    let Ok(reader) = Slog1Reader::new(file) else {
        return 0;
    };
    let mut copied = Vec::new();
    let _ = copy(&reader, &mut copied);
    assert!(copied.len() <= 2 * file.len());
    let (source, _) = Slog1Source::salvaged(reader);
    let mut count = 0;
    let result = source.for_each(&mut |_| {
        count += 1;
        Ok(())
    });
    result.expect("what was read once is read again");
    count
}

#[test]
fn every_truncation_gives_an_error_and_the_records_before_it() {
    let file = small_file();
    let all = small_records().len();
    let reader = Slog1Reader::new(&file).expect("header");
    // Ends of the real records of each frame: current, then incoming.
    let mut ends = Vec::new();
    for frame in reader.frames() {
        let frame = frame.expect("frame");
        let mut at = frame.entry.offset as usize + FRAME_HEADER_SIZE;
        for sector in [Sector::Current, Sector::Incoming] {
            for record in frame.records(sector) {
                at += record.expect("record").size();
                ends.push(at);
            }
        }
    }
    assert_eq!(ends.len(), all);
    for length in 0..file.len() {
        let cut = &file[..length];
        let (_, result) = printed(cut, "cut");
        let error = result.expect_err("cut off");
        assert!(
            is_cut(&error) && error.offset <= file.len() as u64,
            "{length}: {error}"
        );
        assert!(error.to_string().contains("byte"), "{error}");
        assert!(Slog1Source::new(cut).is_err());
        let found = read_all(cut);
        let first_frame = ends[0] - FRAME_HEADER_SIZE;
        if length >= first_frame {
            let expected = ends.iter().filter(|&&end| end <= length).count();
            assert_eq!(found, expected, "cut to {length} bytes");
        }
    }
    assert_eq!(read_all(&file), all);
}

#[test]
fn hostile_numbers_are_refused() {
    let file = small_file();
    let header = *Slog1Reader::new(&file).expect("header").header();
    let changed = |at: u64, bytes: &[u8]| {
        let mut file = file.clone();
        let at = at as usize;
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let error = |file: &[u8]| printed(file, "x").1.expect_err("damaged").kind;
    let most = [0xff; 4];
    for at in [
        header.threads,
        header.definitions,
        header.preview,
        header.profile,
    ] {
        let file = changed(at, &most);
        read_all(&file);
        assert!(matches!(
            error(&file),
            Slog1ErrorKind::Truncated { .. }
                | Slog1ErrorKind::Number { .. }
                | Slog1ErrorKind::Bebits(_)
        ));
    }
    // A directory with more entries than it has, a frame with more than fits, a frame that stands twice.
    let file = changed(header.directory + 16, &most);
    assert!(matches!(
        error(&file),
        Slog1ErrorKind::DirectoryCount { .. }
    ));
    let entries = header.directory + 20;
    let first = Slog1Reader::new(&file).expect("header").header().directory;
    assert_eq!(first, header.directory);
    let frame = u64::from_be_bytes(small_file()[entries as usize..][..8].try_into().expect("8"));
    assert!(matches!(
        error(&changed(frame, &most)),
        Slog1ErrorKind::FrameOverrun { .. }
    ));
    assert!(matches!(
        error(&changed(entries + 24, &frame.to_be_bytes())),
        Slog1ErrorKind::Backward { what: "frame", .. }
    ));
    // A directory that is its own successor, a record of no bytes, one of no known kind.
    assert!(matches!(
        error(&changed(
            header.directory + 8,
            &header.directory.to_be_bytes()
        )),
        Slog1ErrorKind::Backward {
            what: "frame directory",
            ..
        }
    ));
    let record = frame + FRAME_HEADER_SIZE as u64;
    assert!(matches!(
        error(&changed(record, &[0, 0])),
        Slog1ErrorKind::RecordSize { found: 0, .. }
    ));
    assert!(matches!(
        error(&changed(record + 2, &[1, 0])),
        Slog1ErrorKind::RecordType(256)
    ));
    assert!(matches!(
        error(&changed(record + 4, &[9, 9])),
        Slog1ErrorKind::Undefined(_)
    ));
    assert!(matches!(
        error(&changed(record + 6, &[4])),
        Slog1ErrorKind::Bebits(4)
    ));
    // As many records as there are, in fewer bytes.
    assert!(matches!(
        error(&changed(frame + 4, &[0, 0, 0, 1])),
        Slog1ErrorKind::SectorSize { .. }
    ));
}

#[test]
fn a_directory_can_have_a_successor() {
    let mut file = small_file();
    let header = *Slog1Reader::new(&file).expect("header").header();
    let whole = read_all(&file);
    // The last two frames into a directory of their own at the end of the file.
    let at = header.directory as usize;
    let used = u32::from_be_bytes(file[at + 16..at + 20].try_into().expect("4"));
    let entry = |nth: u32| at + 20 + 24 * nth as usize;
    let moved = file[entry(used - 2)..entry(used)].to_vec();
    let next = file.len() as u64;
    file[at + 8..at + 16].copy_from_slice(&next.to_be_bytes());
    file[at + 16..at + 20].copy_from_slice(&(used - 2).to_be_bytes());
    file.extend(header.directory.to_be_bytes());
    file.extend(0u64.to_be_bytes());
    file.extend(2u32.to_be_bytes());
    file.extend(moved);
    let entries = header.frames_per_directory as usize;
    file.resize(file.len() + 24 * (entries - 2), 0);
    assert_eq!(read_all(&file), whole);
    let reader = Slog1Reader::new(&file).expect("header");
    assert_eq!(reader.frames().count(), used as usize);
    assert_eq!(reader.directories().count(), 2);
    let mut again = Vec::new();
    copy(&reader, &mut again).expect("copied");
    assert_same("copy", &again, &file);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn flipped_bytes_do_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = small_file();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        read_all(&file);
        if let Some(cut) = cut {
            read_all(&file[..cut.index(file.len())]);
        }
    }

    #[test]
    fn any_bytes_behind_a_header_are_read_or_refused(
        pointers in prop::collection::vec(0u64..700, 6),
        frame_size in 0u32..200,
        frames in 0u32..20,
        rest in prop::collection::vec(0u8..5, 0..700),
    ) {
        let mut file = vec![0, 0, 0, 0, 0, 0, 0, 9];
        file.extend(frame_size.to_be_bytes());
        file.extend(0u32.to_be_bytes());
        file.extend(frames.to_be_bytes());
        file.extend([0, 0, 0, 1, 0, 0]);
        for pointer in pointers {
            file.extend(pointer.to_be_bytes());
        }
        prop_assert_eq!(file.len(), HEADER_SIZE);
        file.extend(rest);
        read_all(&file);
    }
}
