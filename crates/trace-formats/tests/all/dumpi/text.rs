//! Texts of dumpi2ascii back to files: printed again they are the same text, and what ascii2dumpi made of them is what
//! we make.

use proptest::prelude::*;
use test_support::golden;
use trace_formats::dumpi::clock::{RecordAxis, RecordTicker};
use trace_formats::dumpi::from_text::{
    Expected, FromTextError, FromTextOptions, FromTextResult, Zone, from_text,
};
use trace_formats::dumpi::functions;
use trace_formats::dumpi::print::{Sections, print};
use trace_formats::dumpi::read::DumpiReader;

const UTC: FromTextOptions = FromTextOptions {
    zone: Zone::Utc,
    as_ascii2dumpi: false,
};

fn make(
    text: &[u8],
    options: &FromTextOptions,
) -> Result<(Vec<u8>, FromTextResult), FromTextError> {
    from_text(text, Vec::new(), options)
}

fn printed(file: &[u8], sections: Sections) -> Vec<u8> {
    let reader = DumpiReader::open(file).expect("a sound file");
    let mut text = Vec::new();
    print(&reader, sections, Zone::Utc, &mut text).expect("a sound file");
    text
}

fn assert_same(name: &str, ours: &[u8], theirs: &[u8]) {
    let lines = |text: &[u8]| -> Vec<String> {
        text.split(|b| *b == b'\n')
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect()
    };
    for (nth, (a, b)) in lines(ours).iter().zip(&lines(theirs)).enumerate() {
        assert_eq!(a, b, "{name}, line {}", nth + 1);
    }
    assert_eq!(ours, theirs, "{name}");
}

#[test]
fn texts_of_the_reference_come_back() {
    let mut count = 0;
    for path in golden::files("dumpi", ".bin") {
        let text = golden::read(path.with_extension("txt"));
        let name = path.display().to_string();
        let (file, made) = make(&text, &UTC).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(made.losses.is_empty(), "{name}: {}", made.losses);
        assert_same(&name, &printed(&file, Sections::ALL), &text);
        count += 1;
    }
    assert!(count > 70, "{count} files");
}

#[test]
fn the_stream_alone_gives_labels_and_counts() {
    for path in golden::files("dumpi", ".bin") {
        let original = golden::read(&path);
        let name = path.display().to_string();
        let text = printed(&original, Sections::STREAM);
        let (file, _) = make(&text, &UTC).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_same(&name, &printed(&file, Sections::STREAM), &text);
        let reader = DumpiReader::open(&file).expect("sound");
        let footer = reader.footer().expect("sound").expect("a footer");
        let records = reader.records().count() as u32;
        let total = footer.called[usize::from(functions::ALL_FUNCTIONS)];
        let pseudo = reader
            .records()
            .flatten()
            .filter(|r| r.function.id > 290)
            .count() as u32;
        assert_eq!(total, records - pseudo, "{name}");
    }
}

#[test]
fn what_ascii2dumpi_made_is_made_again() {
    for (text, file) in [
        (
            "coll-n1-default/dumpi-2026.11.20.05.42.28-0000.txt",
            "tools/a2d/coll-n1.bin",
        ),
        ("tools/a2d/in-thr.txt", "tools/a2d/thr.bin"),
    ] {
        let text = golden::read(format!("dumpi/{text}"));
        let theirs = golden::read(format!("dumpi/{file}"));
        let options = FromTextOptions {
            as_ascii2dumpi: true,
            ..UTC
        };
        let (ours, made) = make(&text, &options).expect("made");
        assert!(made.records > 0);
        assert!(
            ours == theirs,
            "{file}: {} and {} bytes",
            ours.len(),
            theirs.len()
        );
    }
}

#[test]
fn every_kind_of_field_comes_back() {
    let file = crate::dumpi::common::every_kind().expect("made");
    let text = printed(&file, Sections::ALL);
    let (again, made) = make(&text, &UTC).expect("parsed");
    assert!(made.losses.is_empty(), "{}", made.losses);
    assert_same("every kind", &printed(&again, Sections::ALL), &text);
}

#[test]
fn sections_may_come_in_any_order_and_strings_may_hold_anything() {
    let text = b"Datatype 0 (MPI_DATATYPE_ERROR) has size 0
Datatype 1 (MPI_DATATYPE_NULL) has size 7
Performance counters: 1
    A=B
MPI_Init entering at walltime 7.000000100, cputime 0.000000000 seconds in thread 3.
Perfcounters: [A=B=-5]
int argc=2
string argv[2]=[\"a\"
\", \"b\", \"c\"]
MPI_Init returning at walltime 7.000000200, cputime 0.000000000 seconds in thread 3.
Perfcounters: [A=B=6]
MPI_Info_set entering at walltime 9.000000100, cputime 0.000000000 seconds in thread 0.
MPI_Info info=1 (user-info)
string key=\"\"
string value=\"x\"
\"
string value=\"1\"
MPI_Info_set returning at walltime 9.000000200, cputime 0.000000000 seconds in thread 0.
Function address 18446744073709551615 has label f(\"x\")
Total keyvals: 1
    k=v=w
meshdim=1
meshsize=[4]
meshcrd=[-1]
starttime=Fri Nov 20 05:32:58 2026
version=13.0.0
hostname=h
username=
MPI_Init called 4 times and ignored 3 times
";
    let (file, made) = make(text, &UTC).expect("parsed");
    assert_eq!((made.records, made.losses.is_empty()), (2, true));
    let reader = DumpiReader::open(&file).expect("sound");
    let trailer = reader.trailer().expect("sound");
    assert_eq!(trailer.type_sizes, [0, 7]);
    assert_eq!(trailer.perf_labels, [b"A=B"]);
    assert_eq!(trailer.address_labels[0].key, u64::MAX);
    assert_eq!(trailer.address_labels[0].label, b"f(\"x\")");
    assert_eq!(trailer.keyvals[0].value, b"v=w");
    assert_eq!(trailer.header.starttime, 1_795_152_778);
    assert_eq!(
        (trailer.footer.called[124], trailer.footer.ignored[124]),
        (4, 3)
    );
    let records: Vec<_> = reader.records().map(|r| r.expect("sound")).collect();
    assert_eq!(records[0].counters.iter().collect::<Vec<_>>(), [(-5, 6)]);
    assert_eq!(records[0].thread, 3);
    // The first candidate for the end of a string counts, so the key takes in what looks like the next line.
    let again = printed(&file, Sections::STREAM);
    let stream = &text[text.windows(8).position(|w| w == b"MPI_Init").unwrap_or(0)..];
    assert!(
        stream.starts_with(&again[..]),
        "{}",
        String::from_utf8_lossy(&again)
    );
}

/// The file has 16 bits of seconds, and its readers find the rest by the order of the records where no more than 18.2 hours lie between two.
#[test]
fn only_times_that_readers_cannot_find_again_are_lost() {
    let text = |seconds: &[i64]| -> Vec<u8> {
        let call = |at: &i64| {
            let times = |walltime: i64| {
                format!("at walltime {walltime}.5, cputime 0.000000000 seconds in thread 0.\n")
            };
            let (start, stop) = (times(*at), times(at + 1));
            format!(
                "MPI_Comm_rank entering {start}MPI_Comm comm=2 (MPI_COMM_WORLD)\nint rank=5\nMPI_Comm_rank returning {stop}"
            )
        };
        seconds.iter().map(call).collect::<String>().into_bytes()
    };
    let read = |file: &[u8]| -> Vec<i64> {
        let reader = DumpiReader::open(file).expect("sound");
        let mut ticker = RecordTicker::new(RecordAxis::Wall);
        let records = reader.records().map(|record| record.expect("sound"));
        let starts = records.map(|record| ticker.times(&record).0 / 1_000_000_000);
        starts.collect()
    };
    let told = [10, 60_000, 120_000, 180_000, 180_010];
    let (file, made) = make(&text(&told), &UTC).expect("parsed");
    assert_eq!(read(&file), told);
    assert!(made.losses.is_empty(), "{}", made.losses);
    let told = [10, 200_000];
    let (file, made) = make(&text(&told), &UTC).expect("parsed");
    assert_ne!(read(&file), told);
    // Start and end of the second record.
    let counts: Vec<u64> = made.losses.iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [2], "{}", made.losses);
}

#[test]
fn a_text_that_is_cut_off_gives_the_records_before() {
    let file = crate::dumpi::common::every_kind().expect("made");
    let text = printed(&file, Sections::STREAM);
    let whole = DumpiReader::open(&file).expect("sound").records().count() as u64;
    for length in 0..text.len() {
        let (made, outcome) = match make(&text[..length], &UTC) {
            Ok((bytes, made)) => (
                DumpiReader::open(&bytes).expect("sound").records().count(),
                made,
            ),
            // A cut within a string may look like another kind of damage, but never like another record.
            Err(FromTextError::Input(_)) => continue,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(made as u64, outcome.records);
        assert!(outcome.records < whole || length + 1 >= text.len());
    }
}

#[test]
fn wrong_texts_are_refused_with_line_and_expectation() {
    let head = "MPI_Comm_rank entering at walltime 7.000000100, cputime 0.1 seconds in thread 0.\n";
    for (text, line, expected) in [
        ("x\n\n", 1, Expected::Line),
        (
            "\nMPI_Sand entering at walltime 1.0, cputime 0.1 seconds in thread 0.\n",
            2,
            Expected::Function,
        ),
        (
            "MPI_Sand called 2 times and ignored 0 times\n",
            1,
            Expected::Function,
        ),
        (
            &format!("{head}MPI_Comm come=2 (x)\nint rank=1\n"),
            2,
            Expected::Text("comm".into()),
        ),
        (
            &format!("{head}MPI_Comm comm=99999999999 (x)\nint rank=1\n"),
            2,
            Expected::Number,
        ),
        (
            "Datatype 4000000000 (x) has size 1\n\n",
            1,
            Expected::Datatype,
        ),
        ("starttime=yesterday\n\n", 1, Expected::Date),
    ] {
        match make(text.as_bytes(), &UTC) {
            Err(FromTextError::Input(error)) => {
                assert_eq!(
                    (error.line, &error.expected),
                    (line, &expected),
                    "{text:?}: {error}"
                );
            }
            other => panic!("{text:?}: {:?}", other.map(|(_, made)| made)),
        }
    }
}

proptest! {
    #[test]
    fn damaged_texts_never_panic(at in 0usize..20_000, to: u8, cut in 0usize..20_000) {
        let mut text = printed(&crate::dumpi::common::every_kind().expect("made"), Sections::ALL);
        let length = text.len();
        text[at % length] = to;
        text.truncate(length - cut % 40);
        if let Ok((file, _)) = make(&text, &UTC) {
            let reader = DumpiReader::open(&file).expect("what we write can be read");
            prop_assert!(reader.records().all(|r| r.is_ok()));
        }
    }
}
