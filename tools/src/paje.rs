//! Pajé traces with the files that they name in PajeTraceFile.

use crate::input::Input;
use formats::paje::Trace;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A trace with the files that it names, and those that these name. They are looked for beside the file that names them;
/// what is not there the reader counts.
pub fn trace<'a>(input: &'a [u8], path: &Path) -> Trace<'a> {
    let mut trace = Trace::new(input);
    // The names in a part, and where the part is.
    let mut waiting = vec![(0, Trace::named_files(input), path.to_path_buf())];
    let mut known = vec![path.canonicalize().unwrap_or_default()];
    while let Some((part, names, path)) = waiting.pop() {
        let folder = path.parent().unwrap_or(Path::new(""));
        for name in names {
            let Ok(path) = folder.join(OsStr::from_bytes(&name)).canonicalize() else {
                continue;
            };
            if let Some(at) = known.iter().position(|known| *known == path) {
                trace.link(part, &name, at);
            } else if let Ok(input) = Input::open(&path) {
                let inner = Trace::named_files(&input);
                let number = trace.add(input);
                trace.link(part, &name, number);
                known.push(path.clone());
                waiting.push((number, inner, path));
            }
        }
    }
    trace
}
