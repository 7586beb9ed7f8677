//! Pajé traces against the texts and the rules of pj_dump: reading, printing, copying, errors, damage.

use proptest::prelude::*;
use trace_formats::paje::{
    FieldDialect, PajeError, PajePrintOptions, PajeSource, PajeTrace, Printed, print, rewrite,
};
use trace_model::{Drawable, DrawableOrder, Source as _, Topology};

/// Everything that pj_dump takes, and its text (`pj_dump -n -u`).
const MIXED: &[u8] = include_bytes!("../../data/paje/mixed.trace");
const MIXED_TEXT: &str = include_str!("../../data/paje/mixed.txt");

fn golden(name: &str) -> Vec<u8> {
    test_support::golden::read(format!("paje/{name}"))
}

fn printed(trace: &PajeTrace<'_>, options: &PajePrintOptions) -> (String, Printed) {
    let mut out = Vec::new();
    let printed = print(trace, options, &mut out).expect("memory");
    (String::from_utf8_lossy(&out).into_owned(), printed)
}

fn text(trace: &[u8]) -> (String, Printed) {
    printed(&PajeTrace::new(trace), &PajePrintOptions::default())
}

/// Drawables as text: category, corners, info; and what was lost.
type Read = (Vec<String>, Vec<(String, u64)>);

fn drawables(trace: &[u8]) -> Result<Read, PajeError> {
    let source = PajeSource::new(PajeTrace::new(trace))?;
    let definitions = source.definitions();
    let mut found = Vec::new();
    let losses = source
        .for_each(&mut |drawable: &Drawable<'_>| {
            let category = definitions.category(drawable.category).expect("defined");
            assert_eq!(category.topology, drawable.topology);
            let corners: Vec<String> = drawable
                .vertices
                .iter()
                .map(|vertex| {
                    definitions.line(vertex.line).expect("defined");
                    format!("{}@{}", vertex.time, vertex.line)
                })
                .collect();
            let mut line = format!("{} {}", category.name.to_str(), corners.join(" "));
            for (key, value) in trace_model::info_values(category, drawable.info) {
                line += &format!(" {}{value:?}", key.to_str());
            }
            found.push(line);
            Ok(())
        })
        .expect("read once already");
    let losses = losses
        .iter()
        .map(|(what, n)| (what.to_owned(), n))
        .collect();
    Ok((found, losses))
}

#[test]
fn goldens_print_as_by_pj_dump() {
    for (trace, expected) in [
        ("mpi_sample.trace", "mpi_sample.pj_dump.txt"),
        ("mpi_sample_2003names.trace", "mpi_sample.pj_dump.txt"),
    ] {
        let (found, printed) = text(&golden(trace));
        assert_eq!(found, String::from_utf8(golden(expected)).expect("UTF-8"));
        assert!(printed.error.is_none() && printed.warnings.is_empty());
    }
}

#[test]
fn both_dialects_and_all_that_may_stand_in_a_trace_print_as_by_pj_dump() {
    let options = PajePrintOptions {
        user_defined: true,
        header: true,
        ..PajePrintOptions::default()
    };
    let (found, printed) = printed(&PajeTrace::new(MIXED), &options);
    let header = "Container, Parent, Type, Start, End, Duration, Name\n\
        Link, Container, Type, Start, End, Duration, Value, StartContainer, EndContainer, Tag, Size, Note\n\
        Event, Container, Variable, Value, Start, Value, Text\n\
        State, Container, Type, Start, End, Duration, Imbrication, Value\n\
        Variable, Container, Type, Start, End, Duration, Value, Unit\n";
    assert_eq!(found, format!("{header}{MIXED_TEXT}"));
    assert!(printed.error.is_none());
    assert_eq!(
        printed.warnings,
        ["1 x event on a container that was destroyed before"]
    );
    let with_returns = String::from_utf8_lossy(MIXED).replace('\n', "\r\n");
    let plain = text(MIXED).0;
    assert_eq!(text(with_returns.as_bytes()).0, plain);
    assert!(plain.contains("Event, rank-1, Mark, 2.000000, a b\n"));
}

#[test]
fn decimals_are_as_asked_for() {
    let options = PajePrintOptions {
        precision: 2,
        ..PajePrintOptions::default()
    };
    let found = printed(&PajeTrace::new(MIXED), &options).0;
    assert!(found.contains("\nVariable, rank-0, Free memory, 2.00, 3.00, 1.00, 16777216.20\n"));
    assert!(found.contains("\nContainer, machine one, Process, 0.001, 3.5, 3.499, rank-2\n"));
}

#[test]
fn copies_are_the_same_bytes_and_dialects_differ_in_names_of_fields_only() {
    let copy = |bytes: &[u8], dialect| {
        let mut out = Vec::new();
        rewrite(bytes, dialect, &mut out).expect("good trace");
        String::from_utf8(out).expect("UTF-8")
    };
    assert_eq!(copy(MIXED, None).as_bytes(), MIXED);
    for dialect in [FieldDialect::Old, FieldDialect::New] {
        let other = copy(MIXED, Some(dialect));
        assert_ne!(other.as_bytes(), MIXED);
        assert_eq!(text(other.as_bytes()).0, text(MIXED).0);
        assert!(other.contains("ContainerType string"));
        assert_eq!(
            other.contains("%  SourceContainerType"),
            dialect == FieldDialect::Old
        );
        assert!(other.contains("%  Type string"));
        assert_eq!(
            other.contains("%  EntityType"),
            dialect == FieldDialect::Old
        );
    }
    for name in ["mpi_sample.trace", "mpi_sample_2003names.trace"] {
        let bytes = golden(name);
        assert_eq!(copy(&bytes, None).as_bytes(), bytes, "{name}");
    }
    let (new, old) = (
        golden("mpi_sample.trace"),
        golden("mpi_sample_2003names.trace"),
    );
    assert_eq!(copy(&new, Some(FieldDialect::Old)).as_bytes(), old);
    assert_eq!(copy(&old, Some(FieldDialect::New)).as_bytes(), new);
}

#[test]
fn drawables_have_lines_categories_and_the_fields_of_the_users_own() {
    let source = PajeSource::new(PajeTrace::new(MIXED)).expect("good trace");
    let definitions = source.definitions();
    let names: Vec<_> = definitions
        .lines
        .iter()
        .map(|line| (line.rank, line.host.clone(), line.name.clone()))
        .collect();
    let named = |rank, host: Option<&str>, name: &str| {
        (rank, host.map(str::to_owned), Some(name.to_owned()))
    };
    // The machine is the end of a link, so that not all names tell ranks.
    assert_eq!(
        names,
        [
            named(0, Some("machine one"), "machine one"),
            named(1, Some("machine one"), "rank-0"),
            named(2, Some("machine one"), "rank-1"),
            named(3, Some("machine one"), "rank-2"),
        ]
    );
    assert_eq!(definitions.program, "machine one");
    let (found, losses) = drawables(MIXED).expect("good trace");
    assert_eq!(found.len(), 13);
    for expected in [
        "undefined 0.75@1 2@1 CallID=0xHex(256)",
        "Waiting 0.5@1 2@1 CallID=0xHex(255)",
        "Waiting 4@2 123456.7895@2",
        "point to point 0.75@1 0.875@2 msg_tag=Integer(7) , msg_size=Integer(4096)",
        "x 1.25@1 1.125@0 msg_tag=Integer(9) , msg_size=Integer(1)",
        "hash 2@2 Text=Text([110, 111, 116, 32, 35, 32, 97, 32, 99, 111, 109, 109, 101, 110, 116])",
    ] {
        assert!(
            found.iter().any(|line| line == expected),
            "{expected} in {found:#?}"
        );
    }
    let expected = [
        ("event on a container that was destroyed before", 1),
        ("field at the end of a state or link", 5),
        ("value of a variable", 3),
    ];
    assert_eq!(losses, expected.map(|(what, n)| (what.to_owned(), n)));
}

const HEADER: &str = "%EventDef PajeDefineContainerType 0\n% Name string\n% Type string\n%EndEventDef\n\
    %EventDef PajeDefineStateType 1\n% Name string\n% Type string\n%EndEventDef\n\
    %EventDef PajeCreateContainer 2\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef\n\
    %EventDef PajePushState 3\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
    %EventDef PajePopState 4\n% Time date\n% Type string\n% Container string\n%EndEventDef\n\
    %EventDef PajeDestroyContainer 5\n% Time date\n% Name string\n% Type string\n%EndEventDef\n\
    %EventDef SomethingElse 6\n% Time date\n% Container string\n% Why string\n%EndEventDef\n\
    %EventDef PajeTraceFile 7\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n\
    %EventDef PajeDefineLinkType 8\n% Name string\n% Type string\n% StartContainerType string\n% EndContainerType string\n%EndEventDef\n\
    %EventDef PajeStartLink 9\n% Time date\n% Type string\n% Container string\n% StartContainer string\n% Value string\n% Key string\n%EndEventDef\n\
    %EventDef PajeSetVariable 10\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
    0 P /\n1 S P\n8 L P P P\n2 0 a P 0\n2 0 b P /\n";

#[test]
fn errors_name_line_and_expectation() {
    for (lines, expected) in [
        (
            "99 x\n",
            "line 66: event \"99\", expected the number of an event definition above",
        ),
        (
            "3 1 S a\n",
            "3 values, expected 4 as in the event's definition",
        ),
        (
            "3 soon S a x\n",
            "Time \"soon\", expected a number of seconds",
        ),
        (
            "3 nan S a x\n",
            "Time \"nan\", expected a number of seconds",
        ),
        (
            "3 1 S nobody x\n",
            "Container \"nobody\", expected one that was made above",
        ),
        (
            "3 1 X a x\n",
            "Type \"X\", expected one that was made above",
        ),
        ("3 1 P a x\n", "Type \"P\", expected a type of kind State"),
        (
            "3 1 S 0 x\n",
            "Type \"S\", expected a type below \"0\", the type of the container",
        ),
        ("3 1 S \"a x\n", "a \" without a second one"),
        ("2 0 a P 0\n", "container \"a\": the name is taken"),
        ("2 0 0 P 0\n", "container \"0\": the name is taken"),
        ("0 S 0\n", "type \"S\": the name is taken"),
        ("0 0 P\n", "type \"0\": the name is taken"),
        (
            "9 1 L a 0 v k\n",
            "StartContainer \"0\", expected a container of type \"P\"",
        ),
        (
            "%EventDef PajeNewEvent 1\n",
            "event definition \"1\" is there already",
        ),
        (
            "%EventDef PajeNewEvent 11\n% Time date\n%EndEventDef\n",
            "definition of PajeNewEvent: expected a field Type",
        ),
        (
            "%EventDef PajeNewEvent 11\n% Time date\n",
            "expected a field or %EndEventDef, found \"4\"",
        ),
        (
            "%EventDef PajeNewEvent 11\n% Time when\n",
            "field type \"when\", expected date",
        ),
        (
            "%EventDef PajeNewEvent 11\n% Type string\n% ContainerType string\n",
            "field ContainerType a second time",
        ),
        (
            "%EventDef PajeNewEvent 11\n3 1 S a x\n",
            "expected a field or %EndEventDef",
        ),
        (
            "%EventDef PajeNewEvent\n",
            "expected %EventDef <event name> <number>",
        ),
        ("%Time date\n", "expected %EventDef <event name> <number>"),
    ] {
        let trace = format!("{HEADER}{lines}4 1 S a\n");
        let error = text(trace.as_bytes()).1.error.expect(lines).to_string();
        assert!(error.contains(expected), "{error:?} for {lines:?}");
        let source = PajeSource::new(PajeTrace::new(trace.as_bytes()));
        assert!(source.is_err_and(|error| error.to_string().contains(expected)));
    }
    for (trace, expected) in [
        (
            "%EventDef PajeNewEvent 1\n% Time date\n",
            "line 2: the file ends where %EndEventDef was expected",
        ),
        ("", "byte 0: line 1: not a Pajé trace: expected %EventDef"),
        ("# nothing\n\n", "not a Pajé trace"),
        ("1 2 3\n", "byte 0: line 1: not a Pajé trace"),
    ] {
        let error = text(trace.as_bytes()).1.error.expect("none").to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(
            PajeTrace::recognises(trace.as_bytes()),
            trace.starts_with('%')
        );
    }
    assert!(PajeTrace::recognises(MIXED) && PajeTrace::recognises(HEADER.as_bytes()));
}

/// Faults at which pj_dump stops and after which reading can go on.
#[test]
fn broken_rules_are_told_after_the_text() {
    for (lines, expected, loss) in [
        (
            "4 1 S a\n",
            "PajePopState without a state",
            "PajePopState without a state",
        ),
        (
            "9 1 L a a v k\n",
            "link without its other end",
            "link without its other end",
        ),
        (
            "9 1 L a a v k\n5 2 a P\n",
            "link without its other end",
            "link without its other end",
        ),
    ] {
        // A link's type is below the type of its container.
        let trace = format!("{HEADER}0 Q P\n{lines}3 2 S b last\n");
        let (text, printed) = text(trace.as_bytes());
        assert!(
            text.contains("State, b, S, 2.000000, 2.000000, 0.000000, 0.000000, last\n"),
            "{text}"
        );
        let error = printed.error.expect(lines).to_string();
        assert!(error.contains(expected), "{error}");
        let (_, losses) = drawables(trace.as_bytes()).expect("can be read");
        assert!(losses.contains(&(loss.to_owned(), 1)), "{losses:?}");
    }
    let trace = format!("{HEADER}9 1 L a a v k\n");
    let options = PajePrintOptions {
        ignore_incomplete_links: true,
        ..PajePrintOptions::default()
    };
    assert!(
        printed(&PajeTrace::new(trace.as_bytes()), &options)
            .1
            .error
            .is_none()
    );
}

#[test]
fn events_that_come_too_late_are_sorted_in() {
    let trace = format!(
        "{HEADER}3 5 S a y\n4 6 S a\n3 1 S a x\n4 2 S a\n3 5 S a z\n2 7 c P 0\n3 6 S c w\n5 8 c P\n4 7 S a\n"
    );
    let (text, printed) = text(trace.as_bytes());
    let expected = [
        "State, a, S, 1.000000, 2.000000, 1.000000, 0.000000, x",
        "State, a, S, 5.000000, 7.000000, 2.000000, 0.000000, y",
        "State, a, S, 5.000000, 6.000000, 1.000000, 1.000000, z",
    ];
    assert!(
        text.ends_with(&format!("{}\n", expected.join("\n"))),
        "{text}"
    );
    assert!(text.contains("State, c, S, 6.000000, 8.000000, 2.000000, 0.000000, w\n"));
    assert!(printed.error.is_none());
    assert_eq!(printed.warnings.len(), 1, "{:?}", printed.warnings);
    assert!(printed.warnings[0].contains("line 68: event that comes too late"));
    let source = PajeSource::new(PajeTrace::new(trace.as_bytes())).expect("can be read");
    assert_eq!(source.order(), DrawableOrder::End);
    let (found, losses) = drawables(trace.as_bytes()).expect("can be read");
    assert_eq!(found, ["x 1@0 2@0", "z 5@0 6@0", "y 5@0 7@0", "w 6@1 8@1"]);
    assert!(losses.is_empty());
}

#[test]
fn events_of_other_names_are_kept() {
    let trace = format!("{HEADER}6 1.5 a \"no reason\"\n6 2 nobody x\n");
    let (text, printed) = text(trace.as_bytes());
    assert!(
        text.contains("Event, a, SomethingElse, 1.500000, SomethingElse\n"),
        "{text}"
    );
    assert_eq!(
        printed.warnings,
        ["1 x event of a name that the format does not know"]
    );
    let (found, losses) = drawables(trace.as_bytes()).expect("can be read");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("SomethingElse 1.5@0 Why=Text"));
    assert_eq!(
        losses,
        [(
            "event of a name that the format does not know".to_owned(),
            1
        )]
    );
}

#[test]
fn files_that_a_trace_names_are_read_where_they_are_named() {
    let main = format!("{HEADER}7 a P inner\n7 b P inner\n7 b P missing\n4 3 S a\n");
    // It may define numbers of its own.
    let inner = b"%EventDef PajePushState 1\n% Time date\n% Value string\n% Type string\n% Container string\n\
        %EndEventDef\n1 1 first S a\n3 2 S a second\n7 a P main\n".to_vec();
    let mut trace = PajeTrace::new(main.as_bytes());
    let name = |name: &[u8]| (0, name.to_vec());
    assert_eq!(
        trace.missing_files(),
        [name(b"inner"), name(b"inner"), name(b"missing")]
    );
    let number = trace.add(inner);
    trace.link(0, b"inner", number);
    trace.link(number, b"main", 0);
    let (text, printed) = printed(&trace, &PajePrintOptions::default());
    assert!(printed.error.is_none(), "{:?}", printed.error);
    assert!(
        text.contains("State, a, S, 1.000000, 3.000000, 2.000000, 0.000000, first\n"),
        "{text}"
    );
    assert!(text.contains("State, a, S, 2.000000, 3.000000, 1.000000, 1.000000, second\n"));
    assert_eq!(
        printed.warnings,
        ["1 x PajeTraceFile whose file is not there"]
    );
}

/// The rest of a trace that was cut off is read; a cut that shows is reported.
#[test]
fn traces_cut_off_anywhere_are_read_up_to_there() {
    let traces = [MIXED.to_vec(), golden("mpi_sample.trace")];
    for (trace, step) in traces.iter().zip([1, 5]) {
        for length in (0..trace.len()).step_by(step) {
            let part = &trace[..length];
            let whole_lines = part.is_empty() || part.ends_with(b"\n");
            let (text, printed) = text(part);
            match (drawables(part), &printed.error) {
                (Ok((_, losses)), Some(error)) => {
                    // A rule of pj_dump was broken, or the last line cut.
                    let lost = losses.iter().any(|(what, _)| {
                        what.starts_with("line that was cut")
                            || what == "colour that is none"
                            || what.starts_with("link without")
                    });
                    assert!(lost, "{error} at {length}: {losses:?}");
                    assert!(text.starts_with("Container, 0, 0, 0, "));
                    assert!(!(error.kind.cut && whole_lines));
                }
                (Err(error), _) => assert!(error.to_string().contains("expected"), "{error}"),
                (Ok(_), None) => {}
            }
        }
    }
}

#[test]
fn lines_and_values_have_limits() {
    let long = format!("{HEADER}3 1 S a \"{}\"\n", "x".repeat(1 << 20));
    let error = text(long.as_bytes())
        .1
        .error
        .expect("long line")
        .to_string();
    assert!(error.contains("a line of more than 1 MiB"), "{error}");
    let many = format!("{HEADER}3 1 S a x {}\n", "y ".repeat(59));
    let found = text(many.as_bytes()).1;
    assert!(found.error.is_none() && found.warnings[0].contains("more values than fields"));
    let more = format!("{HEADER}3 1 S a x {}\n", "y ".repeat(60));
    let error = text(more.as_bytes())
        .1
        .error
        .expect("many values")
        .to_string();
    assert!(error.contains("more than 64 values"), "{error}");
}

/// Containers in containers by the ten thousand, and as many types, take no stack and no time.
#[test]
fn deep_and_broad_traces_are_read() {
    let mut trace = HEADER.to_owned();
    for n in 0..20_000 {
        let (above, container) = match n {
            0 => ("0".to_owned(), "0".to_owned()),
            n => (format!("T{}", n - 1), format!("c{}", n - 1)),
        };
        trace +=
            &format!("0 T{n} {above}\n1 S{n} T{n}\n2 0 c{n} T{n} {container}\n3 1 S{n} c{n} v\n");
    }
    trace += "5 2 c0 T0\n";
    let (text, printed) = text(trace.as_bytes());
    assert!(printed.error.is_none());
    assert!(text.ends_with("State, c19999, S19999, 1.000000, 2.000000, 1.000000, 0.000000, v\nContainer, 0, P, 0, 2, 2, b\nContainer, 0, P, 0, 2, 2, a\n") || text.contains("State, c19999, S19999, 1.000000, 2.000000"));
    assert_eq!(drawables(trace.as_bytes()).expect("good").0.len(), 20_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn damage_is_an_error_or_another_trace(changes in proptest::collection::vec((0usize..MIXED.len(), any::<u8>()), 1..6)) {
        let mut trace = MIXED.to_vec();
        for (at, byte) in changes {
            trace[at] = byte;
        }
        let (_, printed) = text(&trace);
        match drawables(&trace) {
            Ok((found, _)) => prop_assert!(found.len() < 100),
            Err(error) => {
                prop_assert!(error.to_string().contains("line "));
                prop_assert!(printed.error.is_some());
            }
        }
        let _ = rewrite(&trace, Some(FieldDialect::Old), &mut Vec::new());
    }

    #[test]
    fn anything_at_all_is_no_trouble(bytes in proptest::collection::vec(any::<u8>(), 0..200), lines in "[0-9%\" #abPS\\n.]{0,200}") {
        for bytes in [&bytes[..], lines.as_bytes(), &[HEADER.as_bytes(), &bytes].concat(), format!("{HEADER}{lines}").as_bytes()] {
            let (_, printed) = text(bytes);
            let read = drawables(bytes);
            prop_assert!(printed.error.is_some() || read.is_ok());
        }
    }
}

/// A state per topology, so that none is left out by mistake.
#[test]
fn topologies_of_drawables() {
    let source = PajeSource::new(PajeTrace::new(MIXED)).expect("good trace");
    let mut counts = [0; 3];
    source
        .for_each(&mut |drawable| {
            counts[match drawable.topology {
                Topology::Event => 0,
                Topology::State => 1,
                Topology::Arrow => 2,
            }] += 1;
            Ok(())
        })
        .expect("good trace");
    assert_eq!(counts, [4, 6, 3]);
}
