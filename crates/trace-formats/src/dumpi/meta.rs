//! The `.meta` file of a run, and the names of its files (`spec/dumpi.md` section 1, `spec/dumpi-tools.md` section 1).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::time::{self, Zone};
use super::types::Version;

/// Content of a `.meta` file. Texts are bytes as the system has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Host of the rank that wrote the file.
    pub hostname: Vec<u8>,
    /// Number of ranks, and of `.bin` files: as the file claims, which nothing proves.
    pub numprocs: u32,
    /// `<none>` if unknown.
    pub username: Vec<u8>,
    /// Seconds since 1970. The file spells its key `startime`.
    pub starttime: u64,
    /// Names of the `.bin` files up to the rank's number, see [`prefix`].
    pub fileprefix: Vec<u8>,
    /// Version of the writer.
    pub version: Version,
    /// Stretches of ranks that have no `.bin` file and need none, first and last one: they were not traced, or were left out.
    /// A key of libtrace's own, `absent`; without such ranks the file has no line for it.
    pub absent: Vec<(u32, u32)>,
    /// Ranks whose `.bin` files lie together in a folder, see [`bin_path_in_folder`]; 0 if all lie beside the `.meta` file. A key of
    /// libtrace's own, `ranksperfolder`; without folders the file has no line for it.
    pub ranks_per_folder: u32,
}

/// Why a `.meta` file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaError {
    /// A key without which no `.bin` file can be found.
    Missing(&'static str),
    /// A value that is not a number of the possible size.
    NotANumber {
        /// Line of the file, from 1.
        line: usize,
        /// The key.
        key: &'static str,
    },
}

impl fmt::Display for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(key) => write!(f, "no line \"{key}=…\""),
            Self::NotANumber { line, key } => write!(
                f,
                "line {line}: {key} is not a number that is possible here"
            ),
        }
    }
}

impl std::error::Error for MetaError {}

impl Meta {
    /// Reads the text of a `.meta` file. Only `numprocs` and `fileprefix` have to be there; unknown keys are ignored.
    pub fn parse(text: &[u8]) -> Result<Self, MetaError> {
        let mut meta = Self {
            hostname: Vec::new(),
            numprocs: 0,
            username: Vec::new(),
            starttime: 0,
            fileprefix: Vec::new(),
            version: Version::new(0, 0, 0),
            absent: Vec::new(),
            ranks_per_folder: 0,
        };
        let mut has_numprocs = false;
        for (i, line) in text.split(|b| *b == b'\n').enumerate() {
            let Some(eq) = line.iter().position(|b| *b == b'=') else {
                continue;
            };
            let (key, value) = (&line[..eq], &line[eq + 1..]);
            match key {
                b"hostname" => meta.hostname = value.to_vec(),
                b"numprocs" => {
                    meta.numprocs = number(value, i, "numprocs")?;
                    has_numprocs = true;
                }
                b"username" => meta.username = value.to_vec(),
                b"startime" => meta.starttime = number(value, i, "startime")?,
                b"fileprefix" => meta.fileprefix = value.to_vec(),
                b"version" => meta.version.major = number(value, i, "version")?,
                b"subversion" => meta.version.minor = number(value, i, "subversion")?,
                b"subsubversion" => meta.version.patch = number(value, i, "subsubversion")?,
                b"absent" => meta.absent = stretches(value, i, "absent")?,
                b"ranksperfolder" => meta.ranks_per_folder = number(value, i, "ranksperfolder")?,
                _ => {}
            }
        }
        if !has_numprocs {
            return Err(MetaError::Missing("numprocs"));
        }
        if meta.fileprefix.is_empty() {
            return Err(MetaError::Missing("fileprefix"));
        }
        Ok(meta)
    }

    /// The text of the `.meta` file.
    pub fn text(&self) -> Vec<u8> {
        let Version {
            major,
            minor,
            patch,
        } = self.version;
        let numprocs = self.numprocs.to_string();
        let starttime = self.starttime.to_string();
        let (major, minor, patch) = (major.to_string(), minor.to_string(), patch.to_string());
        let lines: [(&str, &[u8]); 8] = [
            ("hostname", &self.hostname),
            ("numprocs", numprocs.as_bytes()),
            ("username", &self.username),
            ("startime", starttime.as_bytes()),
            ("fileprefix", &self.fileprefix),
            ("version", major.as_bytes()),
            ("subversion", minor.as_bytes()),
            ("subsubversion", patch.as_bytes()),
        ];
        let mut text = Vec::new();
        for (key, value) in lines {
            text.extend_from_slice(key.as_bytes());
            text.push(b'=');
            text.extend_from_slice(value);
            text.push(b'\n');
        }
        if !self.absent.is_empty() {
            let stretch = |&(first, last): &(u32, u32)| match first == last {
                true => first.to_string(),
                false => format!("{first}-{last}"),
            };
            let all: Vec<String> = self.absent.iter().map(stretch).collect();
            text.extend_from_slice(format!("absent={}\n", all.join(",")).as_bytes());
        }
        if self.ranks_per_folder > 0 {
            let line = format!("ranksperfolder={}\n", self.ranks_per_folder);
            text.extend_from_slice(line.as_bytes());
        }
        text
    }

    /// Sets [`absent`](Self::absent) to all ranks but `present`, which are in order.
    pub fn set_present(&mut self, present: impl IntoIterator<Item = u32>) {
        self.absent = gaps(present.into_iter().map(|rank| (rank, rank)), self.numprocs).collect();
    }

    /// The `.bin` files of the run that are there, given the path of its `.meta` file.
    ///
    /// Looks beside the metafile for the prefix as it stands, then for its last component (a run's files are often
    /// moved), then for the prefix relative to the working directory; each with ranks of at least four digits, then
    /// more, then fewer, until a place has rank 0 or, failing that, any rank. The work is that of listing these folders,
    /// whatever `numprocs` claims. A file of a rank that the metafile says to have none is of another run.
    pub fn rank_files(&self, meta_path: &Path) -> RankFiles {
        let dir = meta_path.parent().unwrap_or(Path::new(""));
        let prefix = trace_model::os::name(self.fileprefix.clone());
        let prefix = Path::new(&prefix);
        let mut places = vec![dir.join(prefix)];
        if let Some(last) = prefix.file_name() {
            places.push(dir.join(last));
        }
        places.push(prefix.to_owned());
        const WIDTHS: [usize; 10] = [4, 5, 6, 7, 8, 9, 3, 2, 1, 0];
        let numbered = |place: &PathBuf| match self.ranks_per_folder {
            0 => numbered_files(place),
            ranks => files_in_folders(place, ranks),
        };
        let there: Vec<Vec<(String, PathBuf)>> = places.iter().map(numbered).collect();
        let present: Vec<(u32, u32)> = gaps(self.absent.iter().copied(), self.numprocs).collect();
        let is_present = |rank: u32| {
            let next = present.partition_point(|&(_, last)| last < rank);
            present.get(next).is_some_and(|&(first, _)| first <= rank)
        };
        let ranked = |files: &[(String, PathBuf)], width: usize| -> BTreeMap<_, _> {
            let rank = |(number, path): &(String, PathBuf)| {
                let rank: u32 = number.parse().ok()?;
                let fits = is_present(rank) && format!("{rank:0width$}") == *number;
                (fits && path.is_file()).then(|| (rank, path.clone()))
            };
            files.iter().filter_map(rank).collect()
        };
        let mut any = BTreeMap::new();
        for files in &there {
            for width in WIDTHS {
                let found = ranked(files, width);
                if found.contains_key(&0) {
                    return RankFiles {
                        ranks: self.numprocs,
                        found,
                        absent: self.absent.clone(),
                    };
                }
                if any.is_empty() {
                    any = found;
                }
            }
        }
        RankFiles {
            ranks: self.numprocs,
            found: any,
            absent: self.absent.clone(),
        }
    }
}

/// The `.bin` files of a run that are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankFiles {
    /// Number of ranks that the `.meta` file claims. Nothing may be allocated or walked by it alone.
    ranks: u32,
    found: BTreeMap<u32, PathBuf>,
    /// Ranks that the `.meta` file says to have no file, in order.
    absent: Vec<(u32, u32)>,
}

impl RankFiles {
    /// The ranks that have a file, in order, each with its file.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Path)> {
        self.found
            .iter()
            .map(|(rank, path)| (*rank, path.as_path()))
    }

    /// Number of ranks that the `.meta` file claims. Nothing may be allocated or walked by it alone.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Whether no rank has a file.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Number of ranks without a file that should have one.
    pub fn missing(&self) -> u32 {
        let length = |(first, last): (u32, u32)| last - first + 1;
        self.gaps().map(length).fold(0, u32::saturating_add)
    }

    /// The ranks without a file that should have one as stretches, first and last one: at most one more than there are files
    /// and stretches of absent ranks.
    pub fn gaps(&self) -> impl Iterator<Item = (u32, u32)> {
        let found = self.found.keys().map(|&rank| (rank, rank));
        let mut known: Vec<(u32, u32)> = found.chain(self.absent.iter().copied()).collect();
        known.sort_unstable();
        gaps(known, self.ranks)
    }

    /// The ranks of the run that the `.meta` file says to have no file, as stretches, first and last one.
    pub fn absent(&self) -> impl Iterator<Item = (u32, u32)> {
        let ranks = self.ranks;
        let stretches = self.absent.iter().filter(move |(first, _)| *first < ranks);
        stretches.map(move |&(first, last)| (first, last.min(ranks - 1)))
    }
}

/// Ranks below `ranks` that the stretches `known`, in order of their first ranks, leave out.
fn gaps(
    known: impl IntoIterator<Item = (u32, u32)>,
    ranks: u32,
) -> impl Iterator<Item = (u32, u32)> {
    let mut next = 0;
    let ends = known.into_iter().chain([(ranks, ranks)]);
    ends.filter_map(move |(first, last)| {
        let first = first.min(ranks);
        let gap = (next < first).then(|| (next, first - 1));
        next = next.max(last.saturating_add(1));
        gap
    })
}

/// Files of a folder whose names have digits alone between `PLACE-` and `.bin`, each with these digits.
fn numbered_files(place: &Path) -> Vec<(String, PathBuf)> {
    numbered(place, "-", ".bin")
}

/// As [`numbered_files`], in the folders of a run that has them ([`bin_path_in_folder`]). A file in another folder than that of its rank is
/// none of the run.
fn files_in_folders(place: &Path, ranks_per_folder: u32) -> Vec<(String, PathBuf)> {
    let Some(last) = place.file_name() else {
        return Vec::new();
    };
    let files = |(folder, path): (String, PathBuf)| {
        let mut files = numbered_files(&path.join(last));
        files.retain(|(number, _)| {
            let rank = number.parse::<u32>();
            rank.is_ok_and(|rank| (rank / ranks_per_folder).to_string() == folder)
        });
        files
    };
    numbered(place, ".", "")
        .into_iter()
        .flat_map(files)
        .collect()
}

/// Entries of a folder whose names have digits alone between that of `place` with `head` behind it and `tail`, each with these digits.
fn numbered(place: &Path, head: &str, tail: &str) -> Vec<(String, PathBuf)> {
    let Some(last) = place.file_name() else {
        return Vec::new();
    };
    let folder = match place.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let begin = [last.as_encoded_bytes(), head.as_bytes()].concat();
    let number = |name: &OsStr| {
        let digits = name.as_encoded_bytes();
        let digits = digits
            .strip_prefix(&begin[..])?
            .strip_suffix(tail.as_bytes())?;
        let digits = std::str::from_utf8(digits).ok()?;
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| digits.to_owned())
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    names
        .filter_map(|name| Some((number(&name)?, place.with_file_name(&name))))
        .collect()
}

/// Stretches of ranks as the text of a value: `1,4-7`.
fn stretches(value: &[u8], line: usize, key: &'static str) -> Result<Vec<(u32, u32)>, MetaError> {
    let mut all = Vec::new();
    for stretch in value.split(|byte| *byte == b',') {
        let dash = stretch.iter().position(|byte| *byte == b'-');
        let (first, last) = match dash {
            Some(at) => (&stretch[..at], &stretch[at + 1..]),
            None => (stretch, stretch),
        };
        let (first, last): (u32, u32) = (number(first, line, key)?, number(last, line, key)?);
        if first > last {
            let line = line + 1;
            return Err(MetaError::NotANumber { line, key });
        }
        all.push((first, last));
    }
    all.sort_unstable();
    Ok(all)
}

fn number<T: std::str::FromStr>(
    value: &[u8],
    line: usize,
    key: &'static str,
) -> Result<T, MetaError> {
    std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .ok_or(MetaError::NotANumber {
            line: line + 1,
            key,
        })
}

/// Prefix of the names of a run's files: the root, a hyphen and the second in which rank 0's recorder started.
pub fn prefix(root: &[u8], started: u64, zone: Zone) -> Vec<u8> {
    let mut name = root.to_vec();
    name.push(b'-');
    name.extend_from_slice(
        time::stamp(started, zone)
            .unwrap_or_else(|| started.to_string())
            .as_bytes(),
    );
    name
}

/// The `.bin` file of a rank, its number padded to `width` digits; writers use 4.
pub fn bin_path(prefix: &Path, rank: u32, width: usize) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!("-{rank:0width$}.bin"));
    PathBuf::from(name)
}

/// The `.bin` file of a rank of a run with so many ranks in a folder: the folder is named by the prefix, a dot, and its number from 0 on.
pub fn bin_path_in_folder(
    prefix: &Path,
    rank: u32,
    width: usize,
    ranks_per_folder: u32,
) -> PathBuf {
    let mut folder = prefix.as_os_str().to_owned();
    folder.push(format!(".{}", rank / ranks_per_folder.max(1)));
    let name = bin_path(prefix, rank, width);
    PathBuf::from(folder).join(name.file_name().unwrap_or_default())
}

/// The `.meta` file of a run.
pub fn meta_path(prefix: &Path) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(".meta");
    PathBuf::from(name)
}
