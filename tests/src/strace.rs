//! What strace saw: the bytes that each thread of a run wrote to files, a truth in which no code of ours has a part.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether strace works here: containers may forbid it. Prints a line where not.
pub fn works() -> bool {
    let mut command = Command::new("strace");
    let works = command
        .args(["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true"])
        .status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        crate::skip("strace is not installed or not allowed here");
    }
    works
}

/// Arguments of `/bin/sh` that run what follows under strace, in a rank. [`written`] reads what it leaves in the working directory.
pub const IN_A_RANK: [&str; 2] = [
    "-c",
    "exec strace -f --seccomp-bpf -qq --absolute-timestamps=format:unix,precision:ns -y -xx -s 16777216 \
     -e trace=write,writev,pwrite64,pwritev,pwritev2 \
     -o written.${PMI_RANK:-$OMPI_COMM_WORLD_RANK} \"$0\" \"$@\"",
];

/// A system call that wrote to a file.
#[derive(Debug)]
pub struct Written {
    /// Rank in whose process it happened.
    pub rank: u32,
    /// Start, ns since 1970.
    pub ns: u128,
    /// Name of the file, without folder.
    pub file: String,
    /// Offset in the file; `None` if the call wrote where the descriptor stood.
    pub offset: Option<u64>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What the ranks of a run in `folder` wrote to files whose names begin with `prefix`, in order of time.
#[track_caller]
pub fn written(folder: &Path, prefix: &str) -> Vec<Written> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("own folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(rank) = name.strip_prefix("written.") else {
            continue;
        };
        let rank: u32 = rank.parse().expect("files are named by rank");
        let text = fs::read_to_string(&path).expect("own folder");
        all.extend(
            text.lines()
                .filter_map(|line| line_written(rank, line, prefix)),
        );
    }
    all.sort_by_key(|call| call.ns);
    all
}

/// Bytes in strace's notation: `\x` and two digits each.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let byte = |digits: &str| u8::from_str_radix(digits, 16).ok();
    text.split("\\x").skip(1).map(byte).collect()
}

/// `PID SECONDS.NANOSECONDS NAME(FD<PATH>, BUFFERS, SIZE, OFFSET` and whatever follows. `None` if the line is no such call
/// on a file whose name begins with `prefix`.
fn line_written(rank: u32, line: &str, prefix: &str) -> Option<Written> {
    let (time, call) = line.split_once(' ')?.1.trim_start().split_once(' ')?;
    let (seconds, nanoseconds) = time.split_once('.')?;
    let (name, arguments) = call.split_once('(')?;
    let (path, arguments) = arguments.split_once('<')?.1.split_once(">, ")?;
    let path = String::from_utf8(from_hex(path)?).ok()?;
    let file = path
        .rsplit('/')
        .next()
        .filter(|file| file.starts_with(prefix))?;
    // A buffer stands between quotes, each of a list, too.
    let mut parts = arguments.split('"');
    let mut bytes = Vec::new();
    let mut last = parts.next()?;
    while let (Some(buffer), Some(behind)) = (parts.next(), parts.next()) {
        assert!(!behind.starts_with("..."), "a buffer is cut off: {path}");
        bytes.extend(from_hex(buffer)?);
        last = behind;
    }
    let end = last.split([')', '<']).next()?;
    let offset = || end.rsplit(", ").next()?.trim().parse().ok();
    Some(Written {
        rank,
        ns: seconds.parse::<u128>().ok()? * 1_000_000_000 + nanoseconds.parse::<u128>().ok()?,
        file: file.to_owned(),
        offset: if name.starts_with('p') {
            offset()
        } else {
            None
        },
        bytes,
    })
}

#[test]
fn calls_are_read_from_lines_of_strace() {
    let line = "1327  1795619100.312249070 pwritev(18<\\x2f\\x61>, [{iov_base=\"\\x01\\x02\", iov_len=2}, \
                {iov_base=\"\\x03\", iov_len=1}], 2, 200096) = 3";
    let read = line_written(3, line, "").expect("a call");
    assert_eq!((read.rank, read.ns), (3, 1_795_619_100_312_249_070));
    assert_eq!((read.file.as_str(), read.offset), ("a", Some(200_096)));
    assert_eq!(read.bytes, [1, 2, 3]);
    let line = "1 2.000000003 pwrite64(18<\\x2f\\x61>, \"\\xff\", 1, 77 <unfinished ...>";
    let read = line_written(0, line, "a").expect("a call");
    assert_eq!((read.offset, read.bytes), (Some(77), vec![255]));
    let line = "1 2.000000003 write(18<\\x2f\\x61>, \"\\xff\", 1) = 1";
    assert_eq!(line_written(0, line, "a").expect("a call").offset, None);
    assert!(line_written(0, "1 2.000000003 +++ exited with 0 +++", "").is_none());
}
