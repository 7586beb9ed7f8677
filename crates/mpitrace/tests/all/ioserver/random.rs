//! The same random operations through the server and on a plain directory: every result and every byte must be the same.
//!
//! FSX_OPERATIONS and FSX_SEED set how many and which.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Files do not become larger.
const LARGEST: u64 = 200_000;
const NAMES: [&str; 3] = ["a", "b", "folder/c"];

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// One of the two directories, and the files that are open there.
struct Side {
    folder: PathBuf,
    open: Vec<Option<File>>,
}

/// Result of an operation, in numbers and bytes.
type Outcome = Result<(u64, Vec<u8>), i32>;

/// One operation, drawn before it is done on both sides.
#[derive(Debug)]
enum Action {
    Open {
        slot: usize,
        name: usize,
        append: bool,
        truncate: bool,
    },
    Close {
        slot: usize,
    },
    Read {
        slot: usize,
        at: u64,
        length: usize,
    },
    Write {
        slot: usize,
        at: u64,
        data: Vec<u8>,
    },
    Append {
        slot: usize,
        data: Vec<u8>,
    },
    Resize {
        slot: usize,
        size: u64,
    },
    ResizeByName {
        name: usize,
        size: u64,
    },
    Allocate {
        slot: usize,
        mode: u32,
        at: u64,
        length: u64,
    },
    Sync {
        slot: usize,
        data_only: bool,
    },
    Map {
        slot: usize,
        at: u64,
        data: Vec<u8>,
    },
    Rename {
        from: usize,
        to: usize,
    },
    Remove {
        name: usize,
    },
    Link {
        from: usize,
        to: usize,
    },
    Stat {
        name: usize,
    },
    End {
        slot: usize,
    },
    List,
}

const SLOTS: u64 = 4;

fn draw(random: &mut Random) -> Action {
    let slot = random.below(SLOTS) as usize;
    let name = random.below(3) as usize;
    let at = random.below(LARGEST - 40_000);
    // Small and large ones, and some that end or begin at a page.
    let length = match random.below(4) {
        0 => random.below(20),
        1 => random.below(1000),
        2 => 4096 * random.below(5),
        _ => random.below(40_000),
    };
    let at = if random.below(4) == 0 { at & !4095 } else { at };
    let mut data = |length: u64| -> Vec<u8> {
        let first = random.next();
        (0..length)
            .map(|i| (first.wrapping_add(i) % 251 + 1) as u8)
            .collect()
    };
    let data = data(length);
    match random.below(100) {
        0..8 => Action::Open {
            slot,
            name,
            append: random.below(4) == 0,
            truncate: random.below(6) == 0,
        },
        8..11 => Action::Close { slot },
        11..41 => Action::Read {
            slot,
            at,
            length: length as usize,
        },
        41..66 => Action::Write { slot, at, data },
        66..71 => Action::Append { slot, data },
        71..77 => Action::Resize { slot, size: at },
        77..79 => Action::ResizeByName { name, size: at },
        79..84 => Action::Allocate {
            slot,
            // Plain, with the size kept, a hole, zeros.
            mode: [0, 1, 3, 0x10, 0x11][random.below(5) as usize],
            at,
            length: length.max(1),
        },
        84..86 => Action::Sync {
            slot,
            data_only: random.below(2) == 0,
        },
        86..89 => Action::Map { slot, at, data },
        89..92 => Action::Rename {
            from: name,
            to: random.below(3) as usize,
        },
        92..94 => Action::Remove { name },
        94..95 => Action::Link {
            from: name,
            to: random.below(3) as usize,
        },
        95..98 => Action::Stat { name },
        98..99 => Action::End { slot },
        _ => Action::List,
    }
}

impl Side {
    fn path(&self, name: usize) -> PathBuf {
        self.folder.join(NAMES[name])
    }

    fn act(&mut self, action: &Action) -> Outcome {
        self.try_act(action)
            .map_err(|e| e.raw_os_error().unwrap_or(-1))
    }

    fn file(&self, slot: usize) -> io::Result<&File> {
        // No descriptor is there on either side.
        self.open[slot]
            .as_ref()
            .ok_or(io::Error::from_raw_os_error(libc::EBADF))
    }

    fn try_act(&mut self, action: &Action) -> io::Result<(u64, Vec<u8>)> {
        let number = |n| Ok((n, Vec::new()));
        match *action {
            Action::Open {
                slot,
                name,
                append,
                truncate,
            } => {
                let mut options = OpenOptions::new();
                options.read(true).create(true);
                if append {
                    options.append(true);
                } else {
                    options.write(true).truncate(truncate);
                }
                self.open[slot] = Some(options.open(self.path(name))?);
            }
            Action::Close { slot } => self.open[slot] = None,
            Action::Read { slot, at, length } => {
                let mut buffer = vec![0; length];
                let moved = self.file(slot)?.read_at(&mut buffer, at)?;
                buffer.truncate(moved);
                return Ok((moved as u64, buffer));
            }
            Action::Write { slot, at, ref data } => {
                return number(self.file(slot)?.write_at(data, at)? as u64);
            }
            Action::Append { slot, ref data } => {
                let mut file = self.file(slot)?;
                let end = file.seek(SeekFrom::End(0))?;
                if end + data.len() as u64 <= LARGEST {
                    return number(file.write(data)? as u64);
                }
            }
            Action::Resize { slot, size } => self.file(slot)?.set_len(size)?,
            Action::ResizeByName { name, size } => {
                OpenOptions::new()
                    .write(true)
                    .open(self.path(name))?
                    .set_len(size)?;
            }
            Action::Allocate {
                slot,
                mode,
                at,
                length,
            } => {
                let mode = rustix::fs::FallocateFlags::from_bits_retain(mode);
                rustix::fs::fallocate(self.file(slot)?, mode, at, length)?;
            }
            Action::Sync {
                slot,
                data_only: true,
            } => self.file(slot)?.sync_data()?,
            Action::Sync { slot, .. } => self.file(slot)?.sync_all()?,
            Action::Map { slot, at, ref data } => {
                let file = self.file(slot)?;
                let size = file.metadata()?.len();
                let end = size.min(at + data.len() as u64);
                if at < end {
                    // SAFETY: nobody else makes the file shorter meanwhile.
                    let mut map = unsafe { memmap2::MmapMut::map_mut(file)? };
                    let part = &mut map[at as usize..end as usize];
                    part.copy_from_slice(&data[..part.len()]);
                    map.flush()?;
                }
            }
            Action::Rename { from, to } => fs::rename(self.path(from), self.path(to))?,
            Action::Remove { name } => fs::remove_file(self.path(name))?,
            Action::Link { from, to } => fs::hard_link(self.path(from), self.path(to))?,
            Action::Stat { name } => {
                let found = fs::metadata(self.path(name))?;
                return number(found.len() * 16 + found.nlink());
            }
            Action::End { slot } => return number(self.file(slot)?.seek(SeekFrom::End(0))?),
            Action::List => {
                let mut names: Vec<String> = fs::read_dir(&self.folder)?
                    .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                    .collect();
                names.sort();
                return Ok((names.len() as u64, names.concat().into_bytes()));
            }
        }
        number(0)
    }

    fn contents(&self) -> Vec<Option<Vec<u8>>> {
        let read = |name| fs::read(self.path(name)).ok();
        (0..NAMES.len()).map(read).collect()
    }
}

/// Does `count` operations in both directories. Gives how many of them did something.
fn compare(mount: &Path, plain: &Path, seed: u64, count: u64) -> u64 {
    let side = |folder: &Path| {
        fs::create_dir(folder.join("folder")).unwrap();
        Side {
            folder: folder.to_owned(),
            open: (0..SLOTS).map(|_| None).collect(),
        }
    };
    let mut sides = [side(mount), side(plain)];
    let mut random = Random(seed);
    let mut done = 0;
    for step in 0..count {
        let action = draw(&mut random);
        let [through, direct] = &mut sides;
        let (a, b) = (through.act(&action), direct.act(&action));
        done += u64::from(b.is_ok());
        if let (Ok((_, a)), Ok((_, b))) = (&a, &b)
            && a != b
        {
            let wrong: Vec<usize> = (0..a.len()).filter(|&i| a[i] != b[i]).collect();
            let (first, last) = (wrong[0], wrong[wrong.len() - 1]);
            println!(
                "{} bytes differ, from {first} on {:?} instead of {:?}, the last at {last}; again: {}",
                wrong.len(),
                &a[first..a.len().min(first + 8)],
                &b[first..b.len().min(first + 8)],
                through.act(&action).is_ok_and(|(_, again)| again == *b)
            );
        }
        let short = |outcome: &Outcome| outcome.as_ref().map(|(n, _)| *n).map_err(|e| *e);
        assert!(
            a == b,
            "seed {seed}, operation {step}: {:.120}: {:?} instead of {:?}",
            format!("{action:?}"),
            short(&a),
            short(&b)
        );
        if step % 1000 == 999 || step + 1 == count {
            assert!(
                through.contents() == direct.contents(),
                "seed {seed}, contents differ after operation {step}"
            );
        }
    }
    done
}

/// Runs the test against a server with these options.
pub fn run(name: &str, options: &[&str]) {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap(),
        Err(_) => default,
    };
    let count = number("FSX_OPERATIONS", 25_000);
    let seed = number("FSX_SEED", 0x5EED_1234_5678);
    let Some(instance) = super::instance::Instance::start(name, options) else {
        return;
    };
    let begun = std::time::Instant::now();
    let done = compare(&instance.mount(), &instance.plain(), seed, count);
    println!(
        "{name}: {count} operations, {done} of them without error, 0 differences, {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    // Most find an open file.
    assert!(done > count / 2);
    instance.unmount();
    let (operations, _) = super::instance::read(&instance.trace());
    assert!(operations.len() as u64 > done);
}
