//! The `.meta` file of a run, and the names of its files (spec section 1, dumpi-tools 1).

use std::fmt;
use std::path::{Path, PathBuf};

use super::time::{self, Zone};
use super::types::Version;

/// What a `.meta` file says. Texts are bytes as the system has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Host of the rank that wrote the file.
    pub hostname: Vec<u8>,
    /// Number of ranks, and of `.bin` files.
    pub numprocs: u32,
    /// `<none>` if unknown.
    pub username: Vec<u8>,
    /// Seconds since 1970. The file spells its key `startime`.
    pub starttime: u64,
    /// Names of the `.bin` files up to the rank's number, see [`prefix`].
    pub fileprefix: Vec<u8>,
    /// Version of the writer.
    pub version: Version,
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
        text
    }

    /// The `.bin` files of the run in the order of ranks, given the path of its `.meta` file; ranks whose file is not
    /// there are `None`.
    ///
    /// Looks beside the metafile for the prefix as it stands, then for its last component (a run's files are often
    /// moved), then for the prefix relative to the working directory; each with ranks of at least four digits, then
    /// more, then fewer, until a place has rank 0 or, failing that, any rank.
    pub fn rank_files(&self, meta_path: &Path) -> Vec<Option<PathBuf>> {
        let dir = meta_path.parent().unwrap_or(Path::new(""));
        let prefix = crate::os::name(self.fileprefix.clone());
        let prefix = Path::new(&prefix);
        let mut places = vec![dir.join(prefix)];
        if let Some(last) = prefix.file_name() {
            places.push(dir.join(last));
        }
        places.push(prefix.to_owned());
        const WIDTHS: [usize; 10] = [4, 5, 6, 7, 8, 9, 3, 2, 1, 0];
        let found = |first_only: bool| {
            for place in &places {
                for width in WIDTHS {
                    let ranks = if first_only { 1 } else { self.numprocs };
                    if (0..ranks).any(|rank| bin_path(place, rank, width).is_file()) {
                        return Some((place, width));
                    }
                }
            }
            None
        };
        let Some((place, width)) = found(true).or_else(|| found(false)) else {
            return Vec::new();
        };
        let path = |rank| Some(bin_path(place, rank, width)).filter(|p| p.is_file());
        (0..self.numprocs).map(path).collect()
    }
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

/// What the names of a run's files begin with: the root, a hyphen and the second in which rank 0's recorder started.
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

/// The `.meta` file of a run.
pub fn meta_path(prefix: &Path) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(".meta");
    PathBuf::from(name)
}
