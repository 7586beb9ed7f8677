//! Tests of the settings as a whole; here: syntax, keys and complaints.

use std::{collections::BTreeMap, io, path::Path, time::Duration};

use super::{values::OptionKind, *};

mod round_trip;
mod sources;

const FUNCTIONS: &[&str] = &[
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Send",
    "MPI_Send_c",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Iprobe",
    "MPI_Allreduce",
    "MPI_Gatherv",
    "MPI_File_write_at_all",
    "MPI_File_open",
    "MPI_Waitall",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Barrier",
    "MPIO_Wait",
];

fn known(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Loads settings from `variables` and `files`. Gives complaints as lines.
fn load(variables: &[(&str, &str)], files: &[(&str, &[u8])]) -> (Settings, Vec<String>) {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    let files: BTreeMap<&Path, &[u8]> = files
        .iter()
        .map(|(name, bytes)| (Path::new(*name), *bytes))
        .collect();
    let env = |name: &str| variables.get(name).map(|value| value.to_string());
    let read = |path: &Path, _: ConfigurationOrigin| {
        files
            .get(path)
            .map(|bytes| bytes.to_vec())
            .ok_or(io::ErrorKind::NotFound.into())
    };
    let loaded = Settings::load(&env, &read, &known);
    let complaints = loaded.complaints.iter().map(Complaint::to_string);
    (loaded.settings, complaints.collect())
}

/// Loads a `dumpi.conf` of this content.
fn file(text: &str) -> (Settings, Vec<String>) {
    load(&[], &[("dumpi.conf", text.as_bytes())])
}

/// Loads a `dumpi.conf` of this content, which must have no faults.
fn good(text: &str) -> Settings {
    let (settings, complaints) = file(text);
    assert!(complaints.is_empty(), "{complaints:?}");
    settings
}

#[test]
fn defaults_are_what_the_table_can_read_back() {
    assert_eq!(load(&[], &[]), (Settings::default(), vec![]));
    for option in OPTIONS {
        let mut settings = Settings::default();
        for value in (option.get)(&Settings::default()) {
            assert_eq!(
                (option.take)(&mut settings, &value),
                Some(()),
                "{} {value}",
                option.key
            );
        }
        assert_eq!(settings, Settings::default(), "{}", option.key);
    }
}

#[test]
fn no_two_options_share_a_key_or_a_variable() {
    let mut names: Vec<String> = Vec::new();
    for option in OPTIONS {
        names.push(option.key.into());
        names.extend(option.synonyms.iter().map(|name| name.to_string()));
        names.push(option.variable());
        names.extend(
            option
                .variables
                .iter()
                .map(|variable| variable.name.to_string()),
        );
        assert_eq!(
            SettingsOption::named(option.key).map(|found| found.key),
            Some(option.key)
        );
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn separators_and_comments_are_dumpis() {
    for text in [
        "timestamp wall",
        "timestamp=cpu",
        "timestamp = cpu",
        "timestamp\tcpu",
        " \t=timestamp==cpu\r\n",
    ] {
        let expected = if text.ends_with("wall") {
            Timestamp::Wall
        } else {
            Timestamp::Cpu
        };
        assert_eq!(good(text).timestamp, expected, "{text:?}");
    }
    assert_eq!(
        good("# timestamp cpu\n\n  #\ntimestamp full# rest = x y\n").timestamp,
        Timestamp::Full
    );
    assert_eq!(good("\u{feff}timestamp none").timestamp, Timestamp::None);
    let long = format!("{}timestamp{}cpu", " ".repeat(2000), "\t".repeat(2000));
    assert_eq!(good(&long).timestamp, Timestamp::Cpu);
}

#[test]
fn every_key_reaches_its_field() {
    let settings = good(
        "start off\nMPI_Default success\ntimestamp none\nstatuses disable\ntracing disable\nextensions disable\n\
         conversions record\nPAPI PAPI_TOT_CYC\nPAPI_2 PAPI_L1_DCM\n\
         functions off\nfunctions-include f*,g\nfunctions-exclude h\nfunctions-min 7\nfunctions-limit 8\n\
         posix all\nposix-include /a/*.nc b/\nposix-exclude /c\nrusage on\nrank-bits 32\noutputs dumpi, slog2\n\
         directory /d\noutput o-%n\nfileroot f/r\ndumpi-folders yes\noverwrite yes\ntmpdir /t\nkeep-blocks yes\nblocks 64M\n\
         disk-limit 3M\nat-disk-limit newest\ndeadline 7\nclock-sync no\nclock-forward yes\nsync-probes 3\nclog2-block 1K\nleaf 2000\nchildren 4\n\
         class p2p disable\nclass send=success,env=disable\nranks 0-3, 8\ncomm-size 2-\nmessage-size -64K\n\
         merge parallel\nmatching-only-limit 1M\nfirst-calls 10\ncalls 5-6\ntime 0.25-60\npolling sample\npcontrol ignore\n\
         callids all\ndetails no\nreport yes\ndump-signal SIGUSR2\nquiet yes\ndebug traceio\ndebug mpicalls\ncounts c-%j\nsettings-dump -\n\
         MPI_Send enable\nMPIO_Wait disable\n",
    );
    let expected = Settings {
        start: false,
        default_function: Setting::Success,
        timestamp: Timestamp::None,
        statuses: Setting::Disable,
        tracing: AnnotationTracing {
            enter: false,
            exit: false,
        },
        extensions: false,
        conversions: Conversions::Record,
        counters: vec!["PAPI_TOT_CYC".into(), "PAPI_L1_DCM".into()],
        class: {
            let (mut classes, mut p2p) = (BTreeMap::new(), BTreeMap::new());
            filters::ClassSettings::take(&mut p2p, "p2p disable").expect("a group");
            assert_eq!(p2p.len(), 17);
            classes.extend(p2p);
            classes.insert(Class::Send, Setting::Success);
            classes.insert(Class::Env, Setting::Disable);
            classes
        },
        ranks: Some(vec![(0, 3), (8, 8)]),
        comm_size: Some((2, u64::MAX)),
        message_size: Some((0, 64 << 10)),
        matching_only_limit: Some(1 << 20),
        first_calls: Some(10),
        calls: Some((5, 6)),
        time: Some((250_000_000, 60_000_000_000)),
        polling: Polling::Sample,
        pcontrol: Pcontrol::Ignore,
        program_functions: false,
        functions_include: vec!["f*".into(), "g".into()],
        functions_exclude: vec!["h".into()],
        functions_min: 7,
        functions_limit: 8,
        posix: Posix::All,
        posix_include: vec!["/a/*.nc".into(), "b/".into()],
        posix_exclude: vec!["/c".into()],
        rusage: true,
        rank_bits: 32,
        outputs: OutputSet {
            dumpi: true,
            clog2: false,
            slog2: true,
            otf2: false,
            is_auto: false,
        },
        directory: "/d".into(),
        output: "o-%n".into(),
        fileroot: "f/r".into(),
        dumpi_folders: true,
        overwrite: true,
        tmpdir: "/t".into(),
        keep_blocks: true,
        blocks: 64 << 20,
        disk_limit: Some(3 << 20),
        at_disk_limit: AtLimit::Newest,
        deadline: Some(Duration::from_secs(7)),
        clock_sync: ClockSync::No,
        clock_forward: true,
        sync_probes: 3,
        merge: MergeWay::Parallel,
        clog2_block: 1024,
        leaf: Some(2000),
        children: 4,
        callids: CallIds::All,
        details: false,
        report: true,
        dump_signal: DumpSignal::Usr2,
        quiet: true,
        debug: DebugSet {
            traceio: true,
            mpicalls: true,
            libdumpi: false,
        },
        counts: Some("c-%j".into()),
        settings_dump: Some("-".into()),
        functions: [
            ("MPI_Send".into(), Setting::Enable),
            ("MPIO_Wait".into(), Setting::Disable),
        ]
        .into(),
    };
    assert_eq!(settings, expected);
    assert_eq!(Settings::from_text(&settings.to_text()), (expected, vec![]));
    let options_alone = Settings {
        functions: Default::default(),
        ..settings
    };
    assert_eq!(
        Settings::from_text(&options_alone.changes()),
        (options_alone, vec![])
    );
    assert_eq!(Settings::default().changes(), "");
}

#[test]
fn what_is_no_filter_is_complained_of() {
    for line in [
        "class p2p",
        "class disable",
        "class nothing disable",
        "class p2p disable send",
        "ranks 3-1",
        "ranks -",
        "ranks 1,x",
        "comm-size 3-2",
        "comm-size -",
        "message-size 1X-",
        "first-calls -1",
        "calls 1-2-3",
        "time 1.0000000001-",
        "time 1.x",
        "time -1.",
        "polling some",
        "pcontrol on",
    ] {
        let (settings, complaints) = file(line);
        assert_eq!(settings, Settings::default(), "{line}");
        let [complaint] = &complaints[..] else {
            panic!("{line}: {complaints:?}")
        };
        assert!(
            complaint.starts_with("trace: dumpi.conf:1: "),
            "{complaint}"
        );
    }
}

#[test]
fn a_function_follows_its_line_then_its_class() {
    let settings = good("class files local disable\nMPI_File_open success\nclass tool enable");
    let of = |name, class| settings.setting_of(name, Some(class));
    assert_eq!(of("MPI_File_open", Class::FileOpen), Setting::Success);
    assert_eq!(of("MPI_File_close", Class::FileClose), Setting::Disable);
    assert_eq!(of("MPI_T_init_thread", Class::Tool), Setting::Enable);
    assert_eq!(of("MPI_Send", Class::Send), Setting::Enable);
    // The variable takes what a line takes.
    let (variable, complaints) = load(&[("TRACE_CLASS", "files local disable, tool=enable")], &[]);
    assert_eq!((variable.class, complaints), (settings.class, vec![]));
}

#[test]
fn functions_follow_their_line_their_plain_form_or_the_default() {
    let settings = good("MPI_Send disable\nMPI_ALL_FUNCTIONS success\nMPI_Recv enable\n");
    assert_eq!(settings.setting_of("MPI_Send", None), Setting::Disable);
    assert_eq!(settings.setting_of("MPI_Send_c", None), Setting::Disable);
    assert_eq!(settings.setting_of("MPI_Barrier", None), Setting::Success);
    assert_eq!(
        good("MPI_Send disable\nMPI_Send_c enable").setting_of("MPI_Send_c", None),
        Setting::Enable
    );
    assert_eq!(
        [
            Setting::Disable as u8,
            Setting::Success as u8,
            Setting::Enable as u8
        ],
        [0, 1, 3]
    );
}

#[test]
fn the_first_occurrence_holds_and_lists_add_up() {
    let (settings, complaints) =
        file("fileroot a\nfileroot b\nfileroot a\nMPI_Send disable\nMPI_Send enable\n");
    assert_eq!(
        (
            settings.fileroot.as_str(),
            settings.setting_of("MPI_Send", None)
        ),
        ("a", Setting::Disable)
    );
    let expected = [
        "trace: dumpi.conf:2: fileroot 'b': given already at dumpi.conf:1, the first one holds; using a",
        "trace: dumpi.conf:5: MPI_Send 'enable': given already at dumpi.conf:4, the first one holds; using disable",
    ];
    assert_eq!(complaints, expected);
    for (text, enter, exit) in [
        ("tracing enter", true, true),
        ("tracing disable\ntracing enter", true, false),
        ("tracing disable\ntracing exit\ntracing enter", true, true),
        ("tracing enter\ntracing disable", false, false),
    ] {
        assert_eq!(
            good(text).tracing,
            AnnotationTracing { enter, exit },
            "{text:?}"
        );
    }
    assert_eq!(good("debug all\ndebug none").debug, DebugSet::NONE);
}

#[test]
fn bad_lines_are_told_and_the_program_goes_on() {
    let (settings, complaints) = file(
        "\n\ntimestamp sometimes\nMPI_send enable\ntimestmap cpu\nrank-bits 7\nblocks 12Q\nstatuses\n\
         MPI_Send yes\ndirectory /a b c\ncolour red\ndebug loud\nclog2-block 1001\ndeadline -1\nchildren 99999999999\n\
         outputs slog2 vampir\n\u{1b}[31m x\nPAPI a,b\n",
    );
    assert_eq!(
        settings,
        Settings {
            directory: "/a".into(),
            ..Settings::default()
        }
    );
    let expected = [
        "trace: dumpi.conf:3: timestamp 'sometimes': allowed are none, cpu, wall, full; using wall",
        "trace: dumpi.conf:4: unknown key 'MPI_send', left out; did you mean MPI_Send?",
        "trace: dumpi.conf:5: unknown key 'timestmap', left out; did you mean timestamp?",
        "trace: dumpi.conf:6: rank-bits '7': allowed are 8 to 32; using 24",
        "trace: dumpi.conf:7: blocks '12Q': allowed are 128K to 1G bytes; using 256K",
        "trace: dumpi.conf:8: statuses has no value: allowed are disable, success, enable; using enable",
        "trace: dumpi.conf:9: MPI_Send 'yes': allowed are disable, success, enable; using enable",
        "trace: dumpi.conf:10: directory: 'b c' behind the value is left out (a comment begins with #); using /a",
        "trace: dumpi.conf:11: unknown key 'colour', left out",
        "trace: dumpi.conf:12: debug 'loud': allowed are none, off, all, traceio, mpicalls, libdumpi; using none",
        "trace: dumpi.conf:13: clog2-block '1001': allowed are 256 to 1G bytes, multiples of 8; using 64K",
        "trace: dumpi.conf:14: deadline '-1': allowed are whole seconds, 0 (none); using 300",
        "trace: dumpi.conf:15: children '99999999999': allowed are 2 to 1024; using 2",
        "trace: dumpi.conf:16: outputs 'slog2,vampir': allowed are a comma list of dumpi, clog2, slog2, otf2; all, none, auto; \
         using auto",
        "trace: dumpi.conf:17: unknown key '\\u{1b}[31m', left out",
        "trace: dumpi.conf:18: PAPI 'a,b': allowed are 128 counter names shorter than 80 characters; using none",
    ];
    assert_eq!(complaints, expected);
}

#[test]
fn a_complaint_names_what_holds_in_the_end() {
    let text = b"timestamp sometimes\ntimestamp cpu\n";
    let (settings, complaints) = load(&[], &[("dumpi.conf", text)]);
    assert_eq!(settings.timestamp, Timestamp::Cpu);
    assert!(complaints[0].ends_with("using cpu"), "{complaints:?}");
    let (settings, complaints) = load(&[("TRACE_TIMESTAMP", "Full")], &[("dumpi.conf", text)]);
    assert_eq!(settings.timestamp, Timestamp::Cpu);
    let expected =
        "trace: TRACE_TIMESTAMP: timestamp 'Full': allowed are none, cpu, wall, full; using cpu";
    assert_eq!((complaints[0].as_str(), complaints.len()), (expected, 2));
}

#[test]
fn the_terminal_is_not_flooded() {
    let (_, complaints) = file(&"x y\n".repeat(1000));
    assert_eq!(complaints.len(), 21);
    assert_eq!(
        complaints[20],
        "trace: dumpi.conf: 980 further complaints left out"
    );
    let (_, complaints) = file(&"x".repeat(5000));
    assert!(complaints[0].len() < 200 && complaints[0].contains('…'));
}

/// DUMPI is left out of a large run unless somebody asks for it.
#[test]
fn auto_outputs_depend_on_the_number_of_ranks() {
    let dumpi = |text: &str, ranks| {
        let (settings, complaints) = Settings::from_text(text);
        assert!(complaints.is_empty());
        let outputs = settings.outputs.for_ranks(ranks);
        assert!(outputs.slog2);
        outputs.dumpi
    };
    assert!(dumpi("", 4096));
    assert!(!dumpi("", 4097));
    assert!(!dumpi("outputs auto", 1_000_000));
    assert!(dumpi("outputs slog2 dumpi", 4097));
    assert!(dumpi("outputs all", 4097));
}

/// An archive is made of SLOG2, and only where it is named.
#[test]
fn an_archive_needs_slog2() {
    let outputs = |text: &str| {
        let (settings, complaints) = Settings::from_text(text);
        assert!(complaints.is_empty(), "{complaints:?}");
        settings.outputs
    };
    let archive = OutputSet {
        slog2: true,
        otf2: true,
        ..OutputSet::NONE
    };
    assert_eq!(outputs("outputs otf2"), archive);
    let all = OutputSet {
        otf2: true,
        ..OutputSet::ALL
    };
    assert_eq!(outputs("outputs all otf2"), all);
    assert_eq!(outputs("outputs otf2 all"), all);
    assert!(!outputs("outputs all").otf2 && !outputs("outputs auto").otf2);
    let (_, complaints) = Settings::from_text("outputs none otf2");
    assert_eq!(complaints.len(), 1);
}
