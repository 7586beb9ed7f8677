//! Pajé traces with the files that they name in PajeTraceFile.

use crate::trace_files::input::OpenedInput;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use trace_formats::paje::PajeTrace;

/// A trace with the files that it names, and those that these name. They are looked for beside the file that names them;
/// what is not there the reader counts.
pub fn trace<'a>(input: &'a [u8], path: &Path) -> PajeTrace<'a> {
    let mut trace = PajeTrace::new(input);
    // Paths of the parts.
    let mut paths = vec![path.to_path_buf()];
    let mut real = vec![path.canonicalize().unwrap_or_default()];
    loop {
        let mut is_complete = true;
        for (part, name) in trace.missing_files() {
            let folder = paths[part].parent().unwrap_or(Path::new(""));
            let path = folder.join(OsStr::from_bytes(&name));
            let Ok(found) = path.canonicalize() else {
                continue;
            };
            let number = match real.iter().position(|known| *known == found) {
                Some(number) => number,
                None => match OpenedInput::open(&found) {
                    Ok(input) => {
                        paths.push(path);
                        real.push(found);
                        trace.add(input)
                    }
                    Err(_) => continue,
                },
            };
            trace.link(part, &name, number);
            is_complete = false;
        }
        if is_complete {
            return trace;
        }
    }
}
