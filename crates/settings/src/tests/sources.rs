//! Tests of where settings come from: variables, `TRACE_SETTINGS`, files, and which of them wins.

use super::*;
use std::os::unix::ffi::OsStrExt;

#[test]
fn variables_win_over_lines_and_lines_over_files() {
    let conf: &[u8] = b"timestamp cpu\nchildren 3\nleaf 4096\ntmpdir /file\nMPI_Send success\ntracing disable\ndebug all\n";
    let (settings, complaints) = load(
        &[
            ("TRACE_TIMESTAMP", " full "),
            ("TRACE_CHILDREN", ""),
            (
                "TRACE_SETTINGS",
                "timestamp none; leaf 8K;MPI_Send disable # x;debug libdumpi",
            ),
            ("TMPDIR", "/everybody"),
            ("TRACE_TRACING", "disable,exit"),
        ],
        &[("dumpi.conf", conf)],
    );
    assert_eq!(complaints, [""; 0]);
    let expected = Settings {
        timestamp: Timestamp::Full,
        children: 3,
        leaf: Some(8192),
        tmpdir: "/file".into(),
        tracing: AnnotationTracing {
            enter: false,
            exit: true,
        },
        debug: DebugSet {
            libdumpi: true,
            ..DebugSet::NONE
        },
        functions: [("MPI_Send".into(), Setting::Disable)].into(),
        ..Settings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn files_of_run_user_and_site_are_put_together() {
    let files: [(&str, &[u8]); 3] = [
        ("dumpi.conf", b"children 3\ndebug traceio\n"),
        (
            "/x/libtrace.conf",
            b"children 4\nleaf 4096\nMPI_Send disable\ndebug libdumpi\n",
        ),
        (
            "/etc/libtrace.conf",
            b"leaf 8192\nrank-bits 20\nMPI_Send success\ntmpdir /scratch\n",
        ),
    ];
    let (settings, complaints) = load(
        &[
            ("XDG_CONFIG_HOME", "/x"),
            ("HOME", "/h"),
            ("TMPDIR", "/everybody"),
        ],
        &files,
    );
    assert_eq!(complaints, [""; 0]);
    let expected = Settings {
        children: 3,
        leaf: Some(4096),
        rank_bits: 20,
        tmpdir: "/scratch".into(),
        debug: DebugSet {
            traceio: true,
            ..DebugSet::NONE
        },
        functions: [("MPI_Send".into(), Setting::Disable)].into(),
        ..Settings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn the_users_file_is_in_the_folder_for_configurations() {
    let file: (&str, &[u8]) = ("/h/.config/libtrace.conf", b"children 7");
    let children = |variables: &[(&str, &str)]| load(variables, &[file]).0.children;
    assert_eq!(children(&[("HOME", "/h")]), 7);
    assert_eq!(children(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "")]), 7);
    // A path that begins nowhere does not count.
    assert_eq!(children(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")]), 7);
    let usual = Settings::default().children;
    assert_eq!(
        children(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]),
        usual
    );
    assert_eq!(children(&[("HOME", "h")]), usual);
    assert_eq!(children(&[]), usual);
}

#[test]
fn the_source_of_each_setting_is_known() {
    let env = |name: &str| match name {
        "HOME" => Some("/h".to_owned()),
        "TMPDIR" => Some("/everybody".to_owned()),
        "MPE_SYNC_FREQUENCY" => Some("5".to_owned()),
        "TRACE_SETTINGS" => Some("quiet yes; leaf 4096".to_owned()),
        _ => None,
    };
    let read = |path: &Path, _| match path.to_str() {
        Some("/h/.config/libtrace.conf") => Ok(b"\nchildren 3\nleaf 1\nMPI_Send disable".to_vec()),
        Some("/etc/libtrace.conf") => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let loaded = Settings::load(&env, &read, &known);
    let origins = loaded.origins.iter();
    let origins: Vec<String> = origins
        .map(|(key, place)| format!("{key} {place}"))
        .collect();
    assert_eq!(
        origins,
        [
            "MPI_Send /h/.config/libtrace.conf:4",
            "children /h/.config/libtrace.conf:2",
            "leaf TRACE_SETTINGS",
            "quiet TRACE_SETTINGS",
            "sync-probes MPE_SYNC_FREQUENCY",
            "tmpdir TMPDIR",
        ]
    );
    assert!(
        loaded.is_ordered("leaf") && !loaded.is_ordered("tmpdir") && !loaded.is_ordered("output")
    );
    let files = loaded.files.iter();
    let states: Vec<(&str, bool)> = files
        .map(|file| {
            (
                file.path.to_str().unwrap_or_default(),
                file.state == FileState::Read,
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            ("dumpi.conf", false),
            ("/h/.config/libtrace.conf", true),
            ("/etc/libtrace.conf", false)
        ]
    );
    let complaints: Vec<String> = loaded.complaints.iter().map(Complaint::to_string).collect();
    assert_eq!(
        complaints,
        [
            "trace: /etc/libtrace.conf: cannot be read: permission denied; using what other sources say"
        ]
    );
}

#[test]
fn the_former_name_of_a_setting_is_read() {
    for variable in ["TRACE_HIDDEN_LIMIT", "TRACE_MATCHING_ONLY_LIMIT"] {
        let (settings, complaints) = load(&[(variable, "1M")], &[]);
        assert_eq!(complaints, [""; 0]);
        assert_eq!(settings.matching_only_limit, Some(1 << 20), "{variable}");
    }
}

#[test]
fn mpes_variables_mean_what_they_mean_there() {
    let (settings, complaints) = load(
        &[
            ("MPE_LOGFILE_PREFIX", "run 1/50%"),
            ("MPE_TMPDIR", "/mpe"),
            ("TMPDIR", "/tmpdir"),
            ("MPE_CLOCKS_SYNC", "yes"),
            ("MPE_SYNC_FREQUENCY", "5"),
            ("MPE_DELETE_LOCALFILE", "FALSE"),
            ("CLOG_BLOCK_SIZE", "131072"),
        ],
        &[("dumpi.conf", b"tmpdir /file")],
    );
    assert_eq!(complaints, [""; 0]);
    let expected = Settings {
        output: "run%x201/50%%".into(),
        tmpdir: "/mpe".into(),
        clock_sync: ClockSync::Yes,
        sync_probes: 5,
        keep_blocks: true,
        clog2_block: 131_072,
        ..Settings::default()
    };
    assert_eq!(settings, expected);
    let names = NameValues {
        program: "",
        job: "",
        task: "",
        date: "",
        host: "",
        ranks: 1,
        rank: 0,
        pid: 1,
    };
    assert_eq!(expand(&settings.output, &names), "run 1/50%");

    let tmpdir = |variables: &[(&str, &str)]| load(variables, &[]).0.tmpdir;
    assert_eq!(
        tmpdir(&[("TEMP", "/c"), ("TMP", "/b"), ("TMPDIR", "/a")]),
        "/a"
    );
    assert_eq!(tmpdir(&[("TEMP", "/c"), ("TMP", "/b")]), "/b");
    assert_eq!(tmpdir(&[("TEMP", "/c"), ("TMP", "")]), "/c");
    assert_eq!(tmpdir(&[]), "/tmp");

    for (text, clock_sync) in [
        ("true", ClockSync::Yes),
        ("NO", ClockSync::No),
        ("FALSE", ClockSync::No),
        ("auto", ClockSync::Auto),
    ] {
        let (settings, complaints) = load(&[("MPE_CLOCKS_SYNC", text)], &[]);
        assert_eq!(
            (settings.clock_sync, complaints.len()),
            (clock_sync, 0),
            "{text}"
        );
    }
    let (settings, complaints) = load(&[("MPE_DELETE_LOCALFILE", "maybe")], &[]);
    assert!(!settings.keep_blocks);
    assert_eq!(
        complaints,
        ["trace: MPE_DELETE_LOCALFILE: keep-blocks 'maybe': allowed are yes, no; using no"]
    );
}

#[test]
fn the_file_is_the_first_that_can_be_read() {
    let files: &[(&str, &[u8])] = &[
        ("dumpi.conf", b"children 3"),
        ("a.conf", b"children 4"),
        ("b.conf", b"children 5"),
    ];
    let children = |variables: &[(&str, &str)]| load(variables, files).0.children;
    assert_eq!(children(&[]), 3);
    assert_eq!(children(&[("DUMPI_CONF", "a.conf")]), 4);
    assert_eq!(
        children(&[("DUMPI_CONF", "a.conf"), ("TRACE_CONF", "b.conf")]),
        5
    );
    assert_eq!(children(&[("DUMPI_CONF", "a.conf"), ("TRACE_CONF", "")]), 4);
    let (settings, complaints) = load(&[("DUMPI_CONF", "a.conf"), ("TRACE_CONF", "c.conf")], files);
    assert_eq!(settings.children, 4);
    assert_eq!(
        complaints,
        ["trace: c.conf: cannot be read: entity not found; using a.conf"]
    );
    let (settings, complaints) = load(&[("DUMPI_CONF", "c.conf")], &[]);
    assert_eq!(settings, Settings::default());
    assert_eq!(
        complaints,
        ["trace: c.conf: cannot be read: entity not found; using no configuration file"]
    );
}

#[test]
fn text_that_is_not_utf8_is_read_as_far_as_it_goes() {
    let (settings, complaints) = load(
        &[],
        &[("dumpi.conf", b"children 3\n# \xe9\ntimestamp cpu\n")],
    );
    assert_eq!((settings.children, settings.timestamp), (3, Timestamp::Cpu));
    assert_eq!(
        complaints,
        ["trace: dumpi.conf:2: not UTF-8 text; unreadable characters are replaced"]
    );
}

/// The folder of this crate.
fn own() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_file_that_is_too_large_or_no_file_is_an_error() {
    assert!(read_file(&own().join("src"), ConfigurationOrigin::ByName).is_err());
    assert!(read_file(&own().join("src/no such file"), ConfigurationOrigin::ByName).is_err());
    let own = own().join("src/tests.rs");
    assert_eq!(
        read_file(&own, ConfigurationOrigin::ByName).expect("this file"),
        std::fs::read(&own).expect("this file")
    );
    let large = std::env::temp_dir().join(format!("trace-settings-large-{}", std::process::id()));
    std::fs::write(&large, vec![b'#'; files::MAX_FILE_BYTES as usize + 1])
        .expect("a temporary file");
    let result = read_file(&large, ConfigurationOrigin::ByName);
    std::fs::remove_file(&large).expect("the temporary file");
    assert!(result.is_err_and(|error| error.to_string().contains("1 MiB")));
}

#[test]
fn a_temporary_folder_whose_name_is_no_text_is_passed_over() {
    let name = [
        &b"settings-m\xFCller-"[..],
        std::process::id().to_string().as_bytes(),
    ]
    .concat();
    let folder = std::env::temp_dir().join(std::ffi::OsStr::from_bytes(&name));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let variables = [
        ("TRACE_TMPDIR".into(), "".into()),
        ("MPE_TMPDIR".into(), "".into()),
        ("TMPDIR".into(), folder.clone().into_os_string()),
        ("TMP".into(), "/var/tmp".into()),
    ];
    let loaded = Settings::of_child(&variables, &known);
    std::fs::remove_dir(&folder).expect("the folder");
    assert_eq!(loaded.settings.tmpdir, "/var/tmp");
}

/// Runs itself again with an environment, and reads what the child's `of_process` found.
#[test]
fn a_process_reads_its_own_environment_and_file() {
    const CHILD: &str = "SETTINGS_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let loaded = Settings::of_process(&known);
        assert!(!loaded.is_ordered("tmpdir"));
        for complaint in &loaded.complaints {
            println!("{complaint}");
        }
        print!("{}", loaded.settings.to_text());
        return;
    }
    let folder = std::env::temp_dir().join(format!("trace-settings-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    std::fs::write(folder.join("dumpi.conf"), b"children 5\nrank-bits many\n").expect("a file");
    let module = module_path!()
        .split_once("::")
        .expect("a crate and a module")
        .1;
    let output = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "--nocapture"])
        .arg(format!(
            "{module}::a_process_reads_its_own_environment_and_file"
        ))
        .current_dir(&folder)
        .env_clear()
        .envs([
            (CHILD, "1"),
            ("TRACE_DIR", "/a b"),
            ("TRACE_QUEIT", "yes"),
            ("TMPDIR", "/no such folder"),
            ("TMP", "/var/tmp"),
        ])
        .env("TRACE_OUTPUT", std::ffi::OsStr::from_bytes(b"a\xFF"))
        .output()
        .expect("the child");
    std::fs::remove_dir_all(&folder).expect("the folder");
    let text = String::from_utf8_lossy(&output.stdout);
    for line in [
        "trace: dumpi.conf:2: rank-bits 'many': allowed are 8 to 32; using 24",
        "trace: TRACE_OUTPUT: not UTF-8 text; unreadable characters are replaced",
        "trace: environment: unknown key 'TRACE_QUEIT', left out; did you mean TRACE_QUIET?",
        "children       5    # default: 2",
        "directory      /a%x20b    # default: .",
        "tmpdir         /var/tmp    # default: /tmp",
    ] {
        assert!(
            text.lines().any(|there| there == line),
            "{line:?} in\n{text}"
        );
    }
}

/// Whatever the name of the configuration file leads to, there is an answer at once, and defaults or a message.
#[test]
fn hostile_files_do_no_harm() {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::fs::symlink;

    let folder = std::env::temp_dir().join(format!("settings-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name);
    let large = fs::File::create(path("large")).expect("a file");
    large.set_len(1 << 30).expect("a sparse file");
    let fifo = CString::new(path("fifo").as_os_str().as_bytes()).expect("a name");
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    fs::create_dir_all(path("directory")).expect("a folder");
    symlink(path("loop"), path("loop")).expect("a link");
    let refused = |name: &Path| {
        let named = name.display().to_string();
        let env = |variable: &str| (variable == "TRACE_CONF").then(|| named.clone());
        let missing = |path: &Path, asked: ConfigurationOrigin| match asked
            == ConfigurationOrigin::ByNobody
        {
            true => Err(io::ErrorKind::NotFound.into()),
            false => read_file(path, asked),
        };
        let loaded = Settings::load(&env, &missing, &known);
        assert_eq!(loaded.settings, Settings::default(), "{named}");
        loaded
            .complaints
            .iter()
            .map(Complaint::to_string)
            .collect::<Vec<_>>()
    };
    for name in ["large", "fifo", "directory", "loop", "missing"] {
        let complaints = refused(&path(name));
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains(name), "{complaints:?}");
    }
    assert_eq!(refused(Path::new("/dev/zero")).len(), 1);
    assert_eq!(refused(Path::new("/dev/null")), [""; 0]);
    assert_eq!(refused(Path::new("a\0b")).len(), 1);
    fs::remove_dir_all(&folder).expect("own folder");

    // A file may hold anything.
    for (bytes, complaints) in [
        (&b"quiet yes\0\n\0\0\0"[..], 2),
        (b"\xef\xbb\xbfquiet yes\r\n\r\n# \r\n", 0),
        (b"\xff\xfeq\0u\0i\0e\0t\0", 2),
        (b"quiet\n=\n\t\n", 1),
    ] {
        let (_, found) = load(&[], &[("dumpi.conf", bytes)]);
        assert_eq!(found.len(), complaints, "{bytes:?}: {found:?}");
        let place = |line: &String| line.starts_with("trace: dumpi.conf:");
        assert!(found.iter().all(place), "{found:?}");
    }
}

/// A file that nobody has named counts only if nobody else can have put it there, or written to it.
#[test]
fn a_file_that_others_may_have_written_is_left_out() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    let folder = std::env::temp_dir().join(format!("settings-others-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("dumpi.conf");
    fs::write(&path, "quiet yes\n").expect("own folder");
    let with = |mode| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("own file");
        assert!(
            read_file(&path, ConfigurationOrigin::ByName).is_ok(),
            "{mode:o}: it is an order"
        );
        read_file(&path, ConfigurationOrigin::ByNobody)
    };
    for mode in [0o600, 0o644, 0o444, 0o755] {
        assert!(with(mode).is_ok(), "{mode:o}");
    }
    for mode in [0o666, 0o646, 0o622] {
        let printed = with(mode).expect_err("others can write").to_string();
        assert!(printed.contains("TRACE_CONF"), "{printed}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("own file");
    let link = folder.join("link");
    symlink(&path, &link).expect("own folder");
    assert!(
        read_file(&link, ConfigurationOrigin::ByNobody).is_ok(),
        "a link of one's own"
    );
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        const OTHER: Option<u32> = Some(65534);
        std::os::unix::fs::lchown(&link, OTHER, OTHER).expect("root may");
        assert!(
            read_file(&link, ConfigurationOrigin::ByNobody).is_err(),
            "another user's link"
        );
        chown(&path, OTHER, OTHER).expect("root may");
        assert!(
            read_file(&path, ConfigurationOrigin::ByNobody).is_err(),
            "another user's file"
        );
        assert!(
            read_file(&path, ConfigurationOrigin::ByName).is_ok(),
            "it is an order"
        );
    } else {
        test_support::skip("only root can make files of another user");
    }
    fs::remove_dir_all(&folder).expect("own folder");
}

#[test]
fn names_have_no_control_characters() {
    for line in [
        "settings-dump a%x0Ab",
        "output a%x1bb",
        "counts \u{7f}",
        "directory %x07",
    ] {
        let (settings, complaints) = load(&[], &[("dumpi.conf", line.as_bytes())]);
        assert_eq!(settings, Settings::default(), "{line:?}");
        assert_eq!(complaints.len(), 1, "{line:?}: {complaints:?}");
        assert!(
            complaints[0].contains("control characters"),
            "{complaints:?}"
        );
    }
    let (settings, complaints) = load(&[("TRACE_OUTPUT", "a\nb")], &[]);
    assert_eq!((settings, complaints.len()), (Settings::default(), 1));
    // A percent sign that is written as one begins no code.
    let (settings, complaints) = load(&[], &[("dumpi.conf", b"output a%%x0Ab")]);
    assert_eq!((settings.output.as_str(), complaints.len()), ("a%%x0Ab", 0));
}
