//! ALOG: golden files, small files of our own in `tests/data/alog`, arbitrary content, damage.
//!
//! After a wanted change run with `REGENERATE=1` and read the difference.

use crate::legacy::{alog_files, assert_stored, clog1_and, data, small_log, written};
use proptest::prelude::*;
use trace_formats::alog::*;
use trace_formats::clog1;

/// The copy of a file by way of its lines, and what ended the reading.
fn copied(file: &[u8]) -> (Vec<u8>, Result<(), AlogError>) {
    let mut copy = Vec::new();
    for line in AlogReader::new(file).lines() {
        match line.map(|line| line.content) {
            Ok(LineContent::Event(event)) => event.write(&mut copy).unwrap(),
            Ok(LineContent::Comment(comment)) => {
                copy.extend_from_slice(comment);
                copy.push(b'\n');
            }
            Err(error) => return (copy, Err(error)),
        }
    }
    (copy, Ok(()))
}

#[test]
fn files_are_copied_byte_for_byte() {
    for (name, file) in alog_files() {
        let (copy, result) = copied(&file);
        result.unwrap();
        assert!(copy == file, "{name}");
        assert!(recognises(&file), "{name}");
        check(&AlogReader::new(&file)).unwrap();
    }
}

/// `spec/alog.md` section 3: -2 counts the lines that are no header, -5 their types where the writer knows it.
#[test]
fn files_count_their_events() {
    for (name, file) in alog_files() {
        let reader = AlogReader::new(&file);
        let header = check(&reader).unwrap();
        let events: Vec<i32> = reader
            .lines()
            .filter_map(|line| match line.unwrap().content {
                LineContent::Event(event) if !event.is_header() => Some(event.etype),
                _ => None,
            })
            .collect();
        assert_eq!(header.counts[0], Some(events.len() as i32), "{name}");
        let types: std::collections::BTreeSet<i32> = events.into_iter().collect();
        let printed = header.counts[3].unwrap();
        assert!(
            printed == 0 || printed == types.len() as i32,
            "{name}: {printed}"
        );
    }
}

#[test]
fn goldens_are_what_clog2alog_makes() {
    for (name, clog, expected) in clog1_and(|name| format!("alog/{name}_from_clog.alog")) {
        let mut made = Vec::new();
        from_clog1(&clog1::Clog1Reader::new(&clog).unwrap(), &mut made).unwrap();
        assert!(made == expected, "{name}");
    }
}

#[test]
fn definitions_of_a_log_by_p4() {
    let file = std::fs::read(data("alog/p4.log")).unwrap();
    let header = check(&AlogReader::new(&file)).unwrap();
    assert_eq!(header.creator, b"P4 Nov-24-26");
    assert_eq!(header.counts, [Some(24), Some(4), Some(1), Some(6)]);
    assert_eq!(header.rollover, 4294967295.0);
    assert_eq!(header.events[0], (1, b"Begin mesh".to_vec()));
    assert_eq!(header.formats.len(), 6);
    let state = AlogStateDef {
        start: 3,
        end: 4,
        color: b"red".to_vec(),
        bitmap: b"gray3".to_vec(),
        name: b"solve".to_vec(),
    };
    assert_eq!(header.states[1], state);
}

#[test]
fn stored_files_stay_the_same() {
    let clog = written(&small_log(), clog1::Clog1Layout::default());
    let mut made = Vec::new();
    from_clog1(&clog1::Clog1Reader::new(&clog).unwrap(), &mut made).unwrap();
    assert_stored("alog/small_from_clog.alog", &made);
    let (copy, result) = copied(&made);
    result.unwrap();
    assert_eq!(copy, made);
}

/// Times before the first one wrap around, the time of ENDLOG is none.
#[test]
fn clog2alog_has_its_odd_times() {
    let records = [
        crate::legacy::raw(2.5, 0, 11, 1, ""),
        crate::legacy::raw(2.0, 0, 12, 1, ""),
        crate::legacy::raw(-0.5, 0, 11, 1, ""),
        crate::legacy::raw(1e6, 0, 12, 1, "x"),
    ];
    let clog = written(&records, clog1::Clog1Layout::default());
    let reader = clog1::Clog1Reader::with_layout(&clog, clog1::Clog1Layout::default());
    let mut made = Vec::new();
    from_clog1(&reader, &mut made).unwrap();
    let text = String::from_utf8(made).unwrap();
    let body: Vec<&str> = text.lines().skip(9).collect();
    assert_eq!(
        body,
        [
            "11 0 0 1 0 0 ",
            "12 0 0 1 0 18446744073709051616 ",
            "11 0 0 1 0 18446744073706551616 ",
            "12 0 0 1 0 0 x",
        ]
    );
    assert_eq!(
        check(&AlogReader::new(text.as_bytes())).unwrap().counts[0],
        Some(4)
    );
}

/// `spec/alog.md` section 1: what upshot and nupshot take.
#[test]
fn lines_are_read_with_tolerance() {
    let file = b"# made by hand\n\n  -11  0 0 0 0 4294967295   \n-13 0 1 2 0 0 light sky\n1\t0 0 7 1 12.5e3   two words  \n";
    let reader = AlogReader::new(file);
    let header = check(&reader).unwrap();
    let events: Vec<AlogEvent<'_>> = reader
        .lines()
        .filter_map(|line| match line.unwrap().content {
            LineContent::Event(event) => Some(event),
            LineContent::Comment(_) => None,
        })
        .collect();
    assert_eq!(events.len(), 3);
    assert_eq!(events[2].text(), b"two words");
    assert_eq!(events[2].time, Timestamp::Whole(12500));
    assert_eq!(header.seconds(&events[2]), 4294.979795);
    assert_eq!(header.states[0].color, b"light");
    assert_eq!(header.states[0].name, b"sky");
    assert!(recognises(file));
}

#[test]
fn errors_name_line_place_and_expectation() {
    let error = |file: &[u8]| check(&AlogReader::new(file)).unwrap_err().to_string();
    assert_eq!(
        error(b"-2 0 0 1 0 0\n11 0 zero 1 0 0 \n"),
        "byte 18: line 2: the task, a whole number of 32 bits, expected, found \"zero 1 0 0 \"; \
         a line is: type process task data cycle timestamp [string]"
    );
    assert_eq!(
        error(b"11 0 0 1 0\n"),
        "byte 10: line 1: the timestamp, a number, expected, found \"\"; \
         a line is: type process task data cycle timestamp [string]"
    );
    assert_eq!(
        error(b"-13 0 1 2 0 0 red:gray\n"),
        "byte 0: line 1: a state (-13) without a name, expected \"COLOR[:BITMAP] NAME\", found \"red:gray\""
    );
    assert_eq!(
        error(b"11 0 0 1 0 0 x"),
        "byte 0: line 1: the file ends in the middle of it, expected a line feed"
    );
    assert_eq!(
        error(b"-2 0 0 2 0 0\n11 0 0 1 0 0\n"),
        "byte 26: the file ends after 1 events, its -2 line announces 2"
    );
}

/// A count that is wrong is none that was cut off: the last event has the time of the end.
#[test]
fn wrong_counts_are_told_from_missing_events() {
    let file = |announced: i32, last: i32| {
        let head = format!("-2 0 0 {announced} 0 0\n-3 0 0 2 0 0\n-7 0 0 0 0 500\n");
        format!("{head}11 0 0 1 0 0\n12 0 0 1 0 {last}\n")
    };
    let check = |file: String| check(&AlogReader::new(file.as_bytes())).is_ok();
    assert!(check(file(2, 500)) && check(file(1, 400)) && check(file(6, 500)));
    assert!(!check(file(6, 499)) && !check(file(5, 500)) && !check(file(3, 500)));
}

#[test]
fn every_truncation_gives_the_lines_before_it_and_an_error() {
    let file = std::fs::read(data("alog/small_from_clog.alog")).unwrap();
    let clog = std::fs::read(data("clog1/small.clog")).unwrap();
    for length in 0..file.len() {
        let (copy, result) = copied(&file[..length]);
        let error = result.unwrap_err();
        assert!(error.offset as usize <= length, "{error}");
        let whole = file[..length].iter().rposition(|&byte| byte == b'\n');
        assert_eq!(copy, file[..whole.map_or(0, |at| at + 1)]);
    }
    for length in clog1::HEADER_SIZE..clog.len() {
        let reader = clog1::Clog1Reader::new(&clog[..length]).unwrap();
        assert!(from_clog1(&reader, &mut Vec::new()).is_err(), "{length}");
    }
}

#[test]
fn other_files_are_not_recognised() {
    for other in [
        &b""[..],
        b"CLOG-02.44",
        b"%EventDef PajeDefineContainerType 0\n",
        b"ts=0.250000 type=loc  len=9, pid=0 srcid=901\n",
        b"MPI_Init entering at walltime 8412.112844318, cputime 0.004 seconds in thread 0.\n",
        b"1 2 3 4 5\n",
        b"1 0 33 11 0 0 0\n1 0 33 13 0 0 0\n4 0 2340 11 0 1\n",
        b"# only a comment\n",
        &[0; 100],
    ] {
        assert!(!recognises(other), "{:?}", String::from_utf8_lossy(other));
    }
}

fn any_event() -> impl Strategy<Value = (i32, [i32; 4], Result<u64, f64>, Vec<u8>)> {
    let time = prop_oneof![
        any::<u64>().prop_map(Ok),
        (-1e15..1e15).prop_map(|t: f64| Err(t + 0.5))
    ];
    (
        any::<i32>(),
        any::<[i32; 4]>(),
        time,
        prop::collection::vec(any::<u8>(), 0..30),
    )
}

fn read_all(file: &[u8]) {
    let _ = check(&AlogReader::new(file));
    let _ = copied(file);
    let _ = recognises(file);
}

proptest! {
    #[test]
    fn any_content_is_read_as_it_was_written(
        events in prop::collection::vec(any_event(), 1..40),
    ) {
        let mut file = Vec::new();
        let mut texts = Vec::new();
        for (_, _, _, text) in &events {
            let mut rest = b" ".to_vec();
            rest.extend(text.iter().filter(|&&byte| byte != b'\n'));
            texts.push(rest);
        }
        let made: Vec<AlogEvent<'_>> = events.iter().zip(&texts).map(|((etype, n, time, _), rest)| {
            AlogEvent {
                // Counts of events would have to be right.
                etype: if *etype == etype::EVENTS { 1 } else { *etype },
                process: n[0],
                task: n[1],
                data: n[2],
                cycle: n[3],
                time: match *time {
                    Ok(whole) => Timestamp::Whole(whole),
                    Err(real) if real.fract() == 0.0 && real >= 0.0 => Timestamp::Whole(real as u64),
                    Err(real) => Timestamp::Real(real),
                },
                rest,
            }
        }).collect();
        for event in &made {
            event.write(&mut file).unwrap();
        }
        let read: Result<Vec<_>, _> = AlogReader::new(&file).lines().collect();
        let read: Vec<LineContent<'_>> = match read {
            Ok(lines) => lines.iter().map(|line| line.content).collect(),
            Err(error) => {
                prop_assert!(made.iter().all(AlogEvent::is_header), "{}", error);
                return Ok(());
            }
        };
        let expected: Vec<LineContent<'_>> = made.iter().map(|event| LineContent::Event(*event)).collect();
        prop_assert_eq!(read, expected);
        prop_assert_eq!(copied(&file).0, file);
    }

    #[test]
    fn flipped_bytes_do_not_panic(
        changes in prop::collection::vec((0usize..1200, any::<u8>()), 1..12),
        length in 0usize..1200,
    ) {
        let mut file = std::fs::read(data("alog/small_from_clog.alog")).unwrap();
        for (at, byte) in changes {
            if let Some(to) = file.get_mut(at) {
                *to = byte;
            }
        }
        read_all(&file);
        read_all(&file[..length.min(file.len())]);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }
}
