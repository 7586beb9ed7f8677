//! The table against itself and against the descriptions in `spec/`.

use std::collections::{BTreeMap, HashSet};
use wrappers::{CType, Class, Kind, LengthRule, Table};

fn table() -> &'static Table {
    wrappers::table().unwrap_or_else(|e| panic!("{e}"))
}

/// A file of `spec/`.
fn spec(name: &str) -> String {
    let path = test_support::spec_folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The cells of the rows of Markdown tables whose first cell is a number.
fn numbered_rows(text: &str) -> Vec<(u16, Vec<&str>)> {
    text.lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
            Some((cells[0].parse().ok()?, cells))
        })
        .collect()
}

/// Of the functions that receive messages those have a short form that name source and tag and give a status. Heads of 16 bytes come
/// in front, and sizes are multiples of 4.
#[test]
fn short_forms() {
    let forms = table().functions.iter().filter_map(|f| {
        let form = f.short_form.as_ref()?;
        Some((
            f.name.as_str(),
            form.bytes(4),
            form.bytes(6),
            form.full_bytes(4),
        ))
    });
    let expected = [
        ("MPI_Recv", 20, 24, 21),
        ("MPI_Sendrecv", 24, 28, 37),
        ("MPI_Sendrecv_replace", 24, 28, 29),
    ];
    assert_eq!(forms.collect::<Vec<_>>(), expected);
}

#[test]
fn numbers_of_functions() {
    let table = table();
    let small = table.functions.iter().filter(|f| !f.large).count();
    // 531 of MPI 5.0 with a C binding that are no callbacks, 10 removed ones, MPI_Session_set_info.
    assert_eq!(small, 531 + 10 + 1);
    assert_eq!(table.functions.len() - small, 159);
    assert_eq!(
        table
            .functions
            .iter()
            .filter(|f| f.class == Class::Tool)
            .count(),
        51
    );
    assert_eq!(table.functions.iter().filter(|f| f.removed).count(), 10);
}

#[test]
fn ids_are_positions() {
    let table = table();
    for (position, f) in table.functions.iter().enumerate() {
        assert_eq!(f.id, position);
        assert_eq!(table.get(&f.name).map(|f| f.id), Some(position));
        if let Some(base) = f.base {
            assert_eq!(format!("{}_c", table.functions[base].name), f.name);
            assert!((f.dumpi, f.state) == (None, None) && f.large);
        }
    }
}

/// The fingerprint follows the meaning of records and nothing else.
#[test]
fn fingerprint() {
    let mut table = table().clone();
    let before = table.fingerprint();
    assert_eq!(before, self::table().fingerprint());
    // Block files of another number cannot be read: whoever changes the layout of records on purpose, changes it here.
    assert_eq!(format!("{before:016x}"), "41ed1a58dcf11d7c");
    table.functions[0].color = "green".into();
    assert_eq!(table.fingerprint(), before);
    table.functions[0].params.swap(1, 2);
    assert_ne!(table.fingerprint(), before);
}

/// The canonical text is made of words of the format, one line for each function and parameter.
#[test]
fn canonical_text() {
    let text = table().canonical();
    let entry = |name: &str| {
        let mut lines = text.lines().skip_while(|line| !line.starts_with(name));
        let first = lines.next().unwrap_or_default();
        let params = lines.take_while(|line| line.starts_with(' '));
        [first].into_iter().chain(params).collect::<Vec<_>>()
    };
    assert_eq!(
        entry("MPI_Waitsome "),
        [
            "MPI_Waitsome complete - errorcode - -",
            " incount in length int - - - - - - -",
            " array_of_requests inout request handle before(0) - - - - - -",
            " outcount out length int - - - - - - -",
            " array_of_indices out index int after(2) - - - - - -",
            " array_of_statuses out status status after(2) - - - MPI_STATUSES_IGNORE - -",
        ]
    );
    assert_eq!(
        entry("MPI_File_iread_at_all_c "),
        [
            "MPI_File_iread_at_all_c file_access read,explicit,collective,nonblocking errorcode 5 -",
            " fh in file handle - - - - - - -",
            " offset in offset offset - - - - - - -",
            " buf out buffer void - - - 3,4 - - -",
            " count in count count - - - - - - -",
            " datatype in datatype handle - - - - - - -",
            " request out request handle - - - - - - -",
        ]
    );
    // No Debug output of a Rust value: neither a variant with fields nor a struct.
    assert!(!text.contains("Some") && !text.contains(['{', '[', '"']));
}

/// Whatever refers to another parameter refers to one that fits.
#[test]
fn references_fit() {
    for f in &table().functions {
        for p in &f.params {
            let at = |i: usize| &f.params[i];
            let context = format!("{} {}", f.name, p.name);
            let number = |i: usize| matches!(at(i).ctype, CType::Int | CType::Count | CType::Aint);
            match p.len {
                Some(
                    LengthRule::Param(i)
                    | LengthRule::Returned(i)
                    | LengthRule::InOut(i)
                    | LengthRule::Times(_, i)
                    | LengthRule::NulWithin(i)
                    | LengthRule::Chars(i),
                ) => assert!(number(i) && at(i).len.is_none(), "{context}"),
                Some(LengthRule::Sum(i) | LengthRule::Last(i)) => {
                    assert!(number(i) && at(i).len.is_some(), "{context}");
                }
                Some(LengthRule::Query(q) | LengthRule::Min(_, q)) => assert!(
                    matches!(at(q.of).kind, Kind::Comm | Kind::Datatype)
                        && q.rank.is_none_or(|r| at(r).kind == Kind::Rank),
                    "{context}"
                ),
                Some(
                    LengthRule::NullEnded | LengthRule::Nul | LengthRule::NulWithinConstant(_),
                )
                | None => {}
            }
            if let Some(extent) = p.extent {
                assert!(
                    extent.datatype.is_none_or(|d| at(d).kind == Kind::Datatype),
                    "{context}"
                );
            }
            if let Some(i) = p.inplace {
                assert_eq!(at(i).kind, Kind::Buffer, "{context}");
                assert!(
                    at(i).sentinels.contains(&wrappers::Sentinel::InPlace),
                    "{context}"
                );
            }
            if let Some(i) = p.set_if {
                assert!(
                    matches!(at(i).kind, Kind::Logical | Kind::Index),
                    "{context}"
                );
            }
            assert!(
                !p.root_only || f.first(Kind::Root).is_some(),
                "{context}: no root"
            );
        }
        let requests = f
            .creates
            .iter()
            .filter(|&&i| f.params[i].kind == Kind::Request)
            .count();
        let nonblocking = f
            .params
            .iter()
            .any(|p| p.kind == Kind::Request && p.direction == wrappers::Direction::Out);
        assert_eq!(requests == 1, nonblocking, "{}", f.name);
    }
}

/// Colours of classes are colours of MPE's states, so every viewer that opens MPE's files knows them.
#[test]
fn colors_are_known() {
    let table = table();
    let known: HashSet<&str> = (table.functions.iter())
        .filter(|f| f.state.is_some())
        .map(|f| f.color.as_str())
        .collect();
    for f in &table.functions {
        assert!(known.contains(f.color.as_str()), "{}: {}", f.name, f.color);
    }
}

/// Every DUMPI id from 0 to 281 belongs to one function; 128, MPI_Pcontrol, is never written. Names, variants and fields are
/// those of the description.
#[test]
fn dumpi_ids() {
    let table = table();
    let variant = |old: bool| if old { "D" } else { "W" };
    let ours: BTreeMap<u16, [&str; 3]> = (table.functions.iter())
        .filter_map(|f| Some((f.dumpi?, [&f.name, variant(f.dumpi_old), &f.dumpi_fields])))
        .collect();
    let expected: Vec<u16> = (0..=281).filter(|&id| id != 128).collect();
    assert_eq!(ours.keys().copied().collect::<Vec<_>>(), expected);
    let text = spec("dumpi.md");
    let rows: BTreeMap<u16, [&str; 3]> = (numbered_rows(&text).into_iter())
        .filter(|(_, cells)| cells.len() >= 4 && matches!(cells[2], "W" | "D"))
        .map(|(id, cells)| (id, [cells[1], cells[2], cells[3]]))
        .collect();
    assert_eq!(ours, rows);
}

/// MPE's states: id, name, colour, and on which communicator it logs them.
#[test]
fn mpe_states() {
    let table = table();
    let text = spec("clog2.md");
    let mut seen = 0;
    for (id, cells) in numbered_rows(&text) {
        let [_, events, name, color, _, _, comm, logged, ..] = cells[..] else {
            continue;
        };
        let name = name.trim_matches(['(', ')']);
        // MPI_Recv_idle is a name without a function; MPE_ states are MPE's own.
        let (true, Some(f)) = (
            events == format!("{}, {}", 2 * id, 2 * id + 1),
            table.get(name),
        ) else {
            assert!(
                !name.starts_with("MPI_") || name == "MPI_Recv_idle",
                "{name}"
            );
            continue;
        };
        assert_eq!((f.state, f.color.as_str()), (Some(id), color), "{name}");
        if logged == "yes" {
            assert_eq!(f.comm().is_some(), comm == "own", "{name}");
        }
        seen += 1;
    }
    assert_eq!(
        table.functions.iter().filter(|f| f.state.is_some()).count(),
        seen
    );
}

/// Every function that any MPI library was seen to have, but for extensions.
#[test]
fn functions_of_the_libraries() {
    let table = table();
    let text = spec("mpi-functions.tsv");
    let mut seen = 0;
    for row in text.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [name, class, large, _, variadic, returns, ..] = cells[..] else {
            panic!("short row {row}")
        };
        if class == "ext" {
            continue;
        }
        let f = table
            .get(name)
            .unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(f.large, large == "large", "{name}");
        assert_eq!(f.variadic, variadic == "y", "{name}");
        assert_eq!(f.removed, class == "removed", "{name}");
        let expected = match f.returns {
            Kind::ErrorCode | Kind::Int => "int",
            Kind::Double => "double",
            Kind::Aint => "MPI_Aint",
            Kind::Fint => "MPI_Fint/int",
            kind => kind.handle_type().unwrap_or("?"),
        };
        assert_eq!(expected, returns, "{name}");
        seen += 1;
    }
    assert_eq!(table.functions.len(), seen);
}
