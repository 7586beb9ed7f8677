//! What of the files of a trace cannot be read, while the rest of them can: block files and DUMPI files of processes that were killed, and
//! copies of files that are not complete.

use crate::block_files::groups::missing_ranks;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::input::shown;
use crate::trace_files::trace::TraceInput;
use blockfile::file::BlockFileInfo;
use trace_formats::dumpi::read::DumpiReader;

/// Places of damage in a block file that are told one by one.
const MAX_SHOWN: usize = 10;

impl TraceInput {
    /// Says on stderr what of the files is damaged, once for a trace. What there is of them is read all the same.
    pub fn tell_damage(&self) {
        self.damage_told.get_or_init(|| {
            let mut infos = Vec::new();
            for (path, input) in &self.files {
                let name = shown(path).display();
                match self.format {
                    Format::Blocks => {
                        // A file that is none is refused by who reads it.
                        let Ok(file) = input.blocks() else { continue };
                        infos.push(file.info());
                        let damage = file.damage();
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
            if infos.len() == self.files.len()
                && let Some(missing) = ranks_without_a_file(infos)
            {
                let name = shown(self.name()).display();
                tell!("mpitrace: warning: {name}: no block file of rank {missing} of the run: what it did is missing");
            }
        });
    }
}

/// The ranks of a run that have none of these block files, as `1, 3-6`: `None` if all have, or nobody can tell.
fn ranks_without_a_file(mut infos: Vec<BlockFileInfo>) -> Option<String> {
    infos.sort_by_key(|info| info.rank);
    let (first, last) = (infos.first()?, infos.last()?);
    let is_of_one_run = infos.iter().all(|info| info.run == first.run);
    // A process that had no rank yet may be any of them.
    if !is_of_one_run || first.rank < 0 {
        return None;
    }
    let missing = missing_ranks(infos.iter().map(|info| info.rank), last.size);
    Some(missing).filter(|missing| !missing.is_empty())
}
