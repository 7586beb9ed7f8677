//! Tests with text of all kinds: the dump gives the same settings again, arbitrary text does no harm, the golden
//! traces' own files say what they said to SST-DUMPI.

use super::*;

#[test]
fn the_dump_shows_what_is_not_default() {
    let text = good("timestamp cpu\nPAPI A\nPAPI B\nMPI_Send disable").to_text();
    for line in [
        "timestamp      cpu    # default: wall",
        "PAPI           A    # default: none",
        "PAPI           B",
        "MPI_Send disable",
        "children       2",
    ] {
        assert!(
            text.lines().any(|there| there == line),
            "{line:?} in\n{text}"
        );
    }
}

/// A small generator of pseudo-random numbers (xorshift), so that failures repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn one_of<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }
}

/// Words that are likely to matter, so that arbitrary text gets past the first check.
fn words() -> Vec<&'static str> {
    let mut words: Vec<&str> = OPTIONS
        .iter()
        .map(|option| option.key)
        .chain(FUNCTIONS.iter().copied())
        .collect();
    words.extend([
        "enable", "disable", "success", "none", "all", "yes", "off", "wall", "enter", "auto", "0",
        "3", "16",
    ]);
    words.extend([
        "64K",
        "2-",
        "-8",
        "0-3,9",
        "1.5-2",
        "p2p",
        "send disable",
        "sample",
        "ignore",
        "newest",
        "parallel",
        "1G",
        "18446744073709551615G",
        "-1",
        "dumpi",
        "slog2,clog2",
        "auto",
        "record",
        "%p-%j",
        "%x20",
        "%",
        "é",
        "/a",
    ]);
    words.extend([
        " ", "\t", "=", "#", "\n", "\n", "\n", ";", "\r\n", "\0", "\u{feff}", "\u{fffd}", "PAPI_X",
        "MPI_",
    ]);
    words
}

#[test]
fn arbitrary_text_never_panics_and_what_it_gives_survives_the_dump() {
    let words = words();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut changed = 0;
    for _ in 0..1500 {
        let mut bytes = Vec::new();
        for _ in 0..random.below(40) {
            match random.below(20) {
                0 => bytes.push(random.below(256) as u8),
                _ => bytes.extend(random.one_of(&words).bytes()),
            }
            bytes.extend(random.one_of(&["", " ", " ", "\n"]).bytes());
        }
        let value = String::from_utf8_lossy(&bytes).into_owned();
        let variable = OPTIONS[random.below(OPTIONS.len())].variable();
        let variables = [
            (variable.as_str(), value.as_str()),
            ("TRACE_SETTINGS", random.one_of(&words)),
        ];
        let (settings, complaints) = load(&variables, &[("dumpi.conf", &bytes)]);
        assert!(
            complaints
                .iter()
                .all(|line| !line.contains(char::is_control)),
            "{complaints:?}"
        );
        let text = settings.to_text();
        assert_eq!(
            Settings::from_text(&text),
            (settings.clone(), vec![]),
            "{bytes:?} gave\n{text}"
        );
        changed += usize::from(settings != Settings::default());
    }
    assert!(changed > 500, "only {changed} texts set anything");
}

#[test]
fn each_value_of_each_option_survives_the_dump() {
    for option in OPTIONS {
        let mut taken = 0;
        for word in words() {
            let mut settings = Settings::default();
            if (option.take)(&mut settings, word).is_some() {
                taken += 1;
                assert_eq!(
                    Settings::from_text(&settings.to_text()),
                    (settings, vec![]),
                    "{} {word:?}",
                    option.key
                );
            }
        }
        assert!(taken > 0, "{} takes none of the words", option.key);
    }
}

#[test]
fn the_configuration_files_of_the_golden_traces_are_read_as_sst_dumpi_reads_them() {
    let folder = test_support::golden::path("dumpi/conf");
    let conf = |name: &str| {
        let (settings, complaints) = load(
            &[],
            &[("dumpi.conf", &std::fs::read(folder.join(name)).expect(name))],
        );
        assert_eq!(complaints, [""; 0], "{name}");
        settings
    };
    let functions = |list: &[(&str, Setting)]| {
        list.iter()
            .map(|(name, setting)| (name.to_string(), *setting))
            .collect()
    };
    let mut read = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a name");
        let expected = match name.as_str() {
            "bare.conf" => Settings {
                timestamp: Timestamp::None,
                fileroot: "bare".into(),
                tracing: AnnotationTracing {
                    enter: false,
                    exit: false,
                },
                functions: functions(
                    &["MPI_Comm_rank", "MPI_Comm_size", "MPI_Barrier"]
                        .map(|n| (n, Setting::Disable)),
                ),
                ..Settings::default()
            },
            "wall.conf" => Settings {
                statuses: Setting::Disable,
                ..Settings::default()
            },
            "select.conf" => {
                let success = ["MPI_Recv", "MPI_Iprobe"].map(|name| (name, Setting::Success));
                let enable = [
                    "MPI_Init",
                    "MPI_Finalize",
                    "MPI_Send",
                    "MPI_Isend",
                    "MPI_Allreduce",
                    "MPI_Gatherv",
                    "MPI_File_write_at_all",
                    "MPI_File_open",
                    "MPI_Waitall",
                ]
                .map(|name| (name, Setting::Enable));
                Settings {
                    fileroot: "sel".into(),
                    timestamp: Timestamp::Cpu,
                    default_function: Setting::Disable,
                    statuses: Setting::Success,
                    functions: functions(&[&success[..], &enable[..]].concat()),
                    ..Settings::default()
                }
            }
            _ => panic!("{name} is new: say here what it gives"),
        };
        assert_eq!(conf(&name), expected, "{name}");
        read.push(name);
    }
    assert!(read.len() >= 3, "{read:?}");
}
