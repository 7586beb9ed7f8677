//! What of the files of a trace cannot be read, while the rest of them can: block files and DUMPI files of processes that were killed, and
//! copies of files that are not complete.

use crate::block_files::groups::missing_ranks;
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
            if let Some(missing) = self.missing_ranks() {
                let name = shown(self.name()).display();
                tell!("mpitrace: warning: {name}: no block file of rank {missing} of the run: what it did is missing");
            }
        });
    }

    /// The ranks of which a run has block files that are not among these: `None` if there are all, or nobody can tell.
    fn missing_ranks(&self) -> Option<String> {
        if self.format != Format::Blocks {
            return None;
        }
        let files = self.files.iter().map(|(_, input)| input.blocks());
        let mut infos = Vec::new();
        for file in files {
            infos.push(file.ok()?.info());
        }
        infos.sort_by_key(|info| info.rank);
        let (first, last) = (infos.first()?, infos.last()?);
        let is_whole_run = infos.iter().all(|info| info.run == first.run);
        // A process that had no rank yet may be any of them.
        if !is_whole_run || first.rank < 0 {
            return None;
        }
        let ranks = infos.iter().map(|info| info.rank);
        let missing = missing_ranks(ranks, last.size);
        Some(missing).filter(|missing| !missing.is_empty())
    }
}
