//! Definitions of a block file in words.

use super::values::one;
use blockfile::define::{CommDefinition, Definition};
use blockfile::runs::EvenRun;
use std::fmt::{self, Write as _};

/// Appends a definition to a line.
pub fn describe(line: &mut String, definition: &Definition) {
    // Writing to a String cannot fail.
    let _ = about_process(line, definition).unwrap_or_else(|| about_calls(line, definition));
}

/// A definition about the process below MPI: its files, what it has loaded, its counters. `None` for any other one.
fn about_process(line: &mut String, definition: &Definition) -> Option<fmt::Result> {
    Some(match definition {
        Definition::File(f) => write!(
            line,
            "descriptor {} is {}, device {:#x}, inode {}, flags {:#o}",
            f.fd,
            one(Some(f.path.as_bytes())),
            f.device,
            f.inode,
            f.flags
        ),
        Definition::View(v) => write!(
            line,
            "view of file {:#x}: displacement {}, etype {}, extent {}, {} bytes in {} pieces{}{}: {}",
            v.file,
            v.displacement,
            v.etype,
            v.extent,
            v.size,
            v.runs
                .iter()
                .fold(0_u64, |sum, run| sum.saturating_add(run.count)),
            if v.bounding_extent {
                ", bounding extent only"
            } else {
                ""
            },
            if v.converted { ", converted" } else { "" },
            runs(&v.runs)
        ),
        Definition::Position { file, etypes } => {
            write!(line, "position of file {file:#x}: {etypes} etypes")
        }
        Definition::LeftOut {
            file,
            collective,
            outlasts,
        } => write!(
            line,
            "accesses to file {file:#x} left out{}: {collective} collective ones since it was said last",
            if *outlasts {
                ", work of some goes on"
            } else {
                ""
            }
        ),
        Definition::Server(s) => write!(
            line,
            "{:?} {}: {}",
            s.role,
            s.number,
            one(Some(s.name.as_bytes()))
        ),
        Definition::Extents(e) => write!(
            line,
            "extents of {}, device {:#x}, inode {}: {:?}",
            one(Some(e.path.as_bytes())),
            e.device,
            e.inode,
            e.extents
        ),
        Definition::Module(m) => write!(
            line,
            "{} is loaded at {:#x}, code from {:#x} to {:#x}, build {}",
            one(Some(m.path.as_bytes())),
            m.base,
            m.start,
            m.end,
            m.build
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect::<String>()
        ),
        Definition::Choice { include, exclude } => write!(
            line,
            "functions shown: {}; not shown: {}",
            include.join(", "),
            exclude.join(", ")
        ),
        Definition::Settings(lines) => {
            let lines: Vec<&str> = lines.lines().collect();
            write!(line, "settings: {}", one(Some(lines.join("; ").as_bytes())))
        }
        Definition::Counters { names } => write!(line, "counters: {}", names.join(", ")),
        Definition::ThreadEnd => write!(line, "the thread has ended"),
        _ => return None,
    })
}

/// A definition about MPI calls and the clock; nothing for one that [`about_process`] describes.
fn about_calls(line: &mut String, definition: &Definition) -> fmt::Result {
    match definition {
        Definition::Function { number, name } => write!(line, "function {number} is {name}"),
        Definition::Comm(comm) => write_comm(line, comm),
        Definition::Neighbours(neighbours) => write!(
            line,
            "communicator {:#x}: neighbours {}",
            neighbours.comm,
            ranks(&neighbours.sources)
        ),
        Definition::Group(members) => write!(line, "group of {}", ranks(members)),
        Definition::Type(t) => write!(
            line,
            "datatype {:#x} {}: {} bytes, extent {}",
            t.handle, t.name, t.size, t.extent
        ),
        Definition::Predefined(p) => write!(line, "handle {:#x} is {}", p.handle, p.name),
        Definition::Constant { name, value } => write!(line, "constant {name} is {value}"),
        Definition::Clock(c) => write!(
            line,
            "clocks: {} ticks, {} ns monotonic, {} ns since 1970, {} ns of cpu",
            c.ticks, c.monotonic, c.realtime, c.cpu
        ),
        Definition::Sync(s) => write!(
            line,
            "comparison with rank 0 at {} ticks: add {} ns, round trip {} ns",
            s.ticks, s.shift, s.gap
        ),
        Definition::Process(p) => write!(
            line,
            "process: {} of {} on {}, kernel {}",
            p.program,
            one(Some(p.user.as_bytes())),
            p.host,
            p.boot
        ),
        Definition::Lost { count, reason } => write!(line, "{count} records lost: {reason}"),
        Definition::Ignored { function, calls } => {
            write!(line, "{calls} calls of function {function} counted only")
        }
        Definition::Skipped(s) => write!(
            line,
            "{} more calls of function {} that brought nothing, from {} to {} ticks",
            s.calls, s.function, s.first, s.last
        ),
        Definition::Messages { least, most } => {
            write!(line, "messages of {least} to {most} bytes are recorded")
        }
        Definition::Annotation { key, text } => {
            write!(line, "annotation {key}: {}", one(Some(text.as_bytes())))
        }
        Definition::UserCategory(c) => write!(
            line,
            "{:?} {} to {}: {}, colour {}, format {}",
            c.kind,
            c.number,
            c.end,
            one(Some(c.name.as_bytes())),
            one(Some(c.color.as_bytes())),
            one(Some(c.format.as_bytes()))
        ),
        _ => Ok(()),
    }
}

fn write_comm(line: &mut String, comm: &CommDefinition) -> std::fmt::Result {
    write!(
        line,
        "communicator {:#x} ({:?}, {:?} {:#x}): rank {} of {}",
        comm.handle,
        comm.kind,
        comm.origin,
        comm.parent,
        comm.rank,
        ranks(&comm.members)
    )?;
    if !comm.remote.is_empty() {
        write!(line, ", remote {}", ranks(&comm.remote))?;
    }
    Ok(())
}

/// `[0-3, 7]`.
fn ranks(all: &[i32]) -> String {
    let mut text = String::from("[");
    let mut rest = all;
    while let Some(&first) = rest.first() {
        let follows = |(i, &rank): (usize, &i32)| i64::from(rank) == i64::from(first) + i as i64;
        let run = rest.iter().enumerate().take_while(|&x| follows(x)).count();
        if text.len() > 1 {
            text.push_str(", ");
        }
        let _ = match run {
            1 | 2 => {
                rest = &rest[1..];
                write!(text, "{first}")
            }
            _ => {
                rest = &rest[run..];
                write!(text, "{first}-{}", i64::from(first) + run as i64 - 1)
            }
        };
    }
    text + "]"
}

/// Pieces as OFFSET+LENGTH, and runs of them with how many there are and how far apart.
fn runs(runs: &[EvenRun]) -> String {
    let mut text = String::new();
    for (nth, run) in runs.iter().enumerate() {
        let comma = if nth == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{}+{}", run.offset, run.length);
        if run.count != 1 {
            let _ = write!(text, " x {} every {}", run.count, run.stride);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_ranks_are_ranges() {
        assert_eq!(ranks(&[]), "[]");
        assert_eq!(ranks(&[0, 1]), "[0, 1]");
        assert_eq!(ranks(&[0, 1, 2, 3, 7, 5, 6, 7]), "[0-3, 7, 5-7]");
        assert_eq!(ranks(&[-1, -1, i32::MAX]), "[-1, -1, 2147483647]");
    }
}
