//! CLOG2 to CLOG2: a copy to the byte, a merged file of a local one, other blocks.

use crate::failure::Failure;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use trace_formats::clog2::{
    Clog2Error, Clog2ErrorKind, Clog2Reader, Clog2Writer, Endian, join, joined_preamble, repair,
};
use trace_model::Losses;

/// Writes a CLOG2 file again: as it is, or, if it is the local file of a rank or other blocks are asked for, merged.
pub fn convert(trace: &TraceInput, target: &Target) -> Result<Losses, Failure> {
    let name = trace.name();
    let bad = |error: Clog2Error| Failure::in_file_or_output(error, name, target.path.display());
    let reader = Clog2Reader::new(trace.bytes()).map_err(bad)?;
    let preamble = reader.preamble().clone();
    let is_merged = preamble.is_finalized && preamble.endian == Endian::Big;
    target.place(|path| {
        if is_merged && target.block_size.is_none() {
            let writer = Clog2Writer::create(path, &preamble).map_err(bad)?;
            let (_, done) = repair(&reader, writer).map_err(bad)?;
            if !done.was_sound() {
                // The walk over its records says what is wrong.
                let damage = done.damage.into_iter().next();
                let damage = damage.or_else(|| reader.comm_table().err());
                let kind = Clog2ErrorKind::NoEndLog;
                return Err(bad(damage.unwrap_or_else(|| Clog2Error::new(0, kind))));
            }
            return Ok(Losses::default());
        }
        let mut merged = joined_preamble(std::slice::from_ref(&reader));
        merged.block_size = target.block_size.unwrap_or(merged.block_size);
        let writer = Clog2Writer::create(path, &merged).map_err(bad)?;
        let (_, joined) = join(std::slice::from_ref(&reader), writer).map_err(bad)?;
        match joined.cut_off.into_iter().next() {
            Some((_, error)) => Err(bad(error)),
            None => Ok(Losses::default()),
        }
    })
}
