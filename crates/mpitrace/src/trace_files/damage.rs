//! What of the files of a trace cannot be read, while the rest of them can: block files and DUMPI files of processes that were killed, and
//! copies of files that are not complete.

use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::input::shown;
use crate::trace_files::trace::TraceInput;
use trace_formats::dumpi::read::DumpiReader;

/// Places of damage in a block file that are told one by one.
const MAX_SHOWN: usize = 10;

impl TraceInput {
    /// Says on stderr what of the files is damaged, once for a trace. What there is of them is read all the same.
    pub fn tell_damage(&self) {
        self.damage_told.get_or_init(|| {
            for (path, input) in &self.files {
                let name = shown(path).display();
                match self.format {
                    Format::Blocks => {
                        // A file that is none is refused by who reads it.
                        let damage = input.blocks().map_or(Vec::new(), |file| file.damage());
                        for damage in damage.iter().take(MAX_SHOWN) {
                            tell!("mpitrace: warning: {name}: {damage}; what there is is taken");
                        }
                        let more = damage.len().saturating_sub(MAX_SHOWN);
                        if more > 0 {
                            tell!("mpitrace: warning: {name}: and {more} places of damage more");
                        }
                    }
                    Format::Dumpi => {
                        if let Err(error) = DumpiReader::open(input)
                            && DumpiReader::salvage(input).is_ok()
                        {
                            tell!("mpitrace: warning: {name}: {error}; what there is is taken");
                        }
                    }
                    _ => {}
                }
            }
        });
    }
}
