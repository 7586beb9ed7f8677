//! The end of a merge by slices: what rank 0 knows of all ranks, and what comes behind the nodes and blocks in the files.

use super::agreement::any_failure;
use super::part_file::PartFile;
use super::peers::{Peers, spread};
use super::plan::SlicePlan;
use crate::output_plan::OutputPlan;
use crate::slog2::WorldLines;
use crate::stream::Notes;
use std::convert::Infallible;
use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2Record, Clog2RecordHeader, Clog2Writer, CommTable, Gid,
    PREAMBLE_SIZE, Preamble,
};
use trace_formats::slog2::{
    DirEntry, Drawing, FileBlockPtr, ForeignCategories, LineIdMap, NewDrawable, NodePreview,
    Slog2ErrorKind, TreeEnd,
};

/// What is known when all nodes and blocks are written.
#[derive(Debug)]
pub struct SliceSummary {
    /// Why files could not be written on this rank: SLOG2, CLOG2.
    pub failures: [Option<String>; 2],
    /// What could not be shown of this rank's processes.
    pub notes: Notes,
    /// On rank 0: what it needs to complete the files.
    pub whole: Option<WholeSlices>,
    /// Of the nodes that this rank has written.
    pub(super) directory: Vec<DirEntry>,
}

/// What rank 0 needs to complete the files.
#[derive(Debug)]
pub struct WholeSlices {
    /// Records of communicators of all processes.
    pub comms: Vec<Clog2CommEvent>,
    /// Blocks of the CLOG2 file so far.
    pub blocks: u64,
    /// Why operations below MPI are missing.
    pub operations_failure: Option<String>,
    pub(super) drawing: Drawing,
    /// What operations below MPI use.
    pub(super) others: ForeignCategories,
    pub(super) root: NodePreview,
    pub(super) root_place: FileBlockPtr,
    /// End of the nodes in the SLOG2 file, bytes.
    pub(super) position: u64,
    /// Bytes of the largest node.
    pub(super) largest: usize,
}

/// What rank 0 must know of the records of a rank, or of several.
#[derive(Debug, Default)]
pub(super) struct RankTables {
    /// Bytes of the largest node.
    pub(super) largest: u64,
    /// Slots of categories with values of counters.
    pub(super) slots: Vec<u32>,
    pub(super) comms: Vec<Clog2CommEvent>,
}

impl RankTables {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.largest.to_le_bytes());
        out.extend_from_slice(&(self.slots.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.comms.len() as u32).to_le_bytes());
        for slot in &self.slots {
            out.extend_from_slice(&slot.to_le_bytes());
        }
        for comm in &self.comms {
            for number in [comm.etype, comm.icomm, comm.rank, comm.wrank] {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    pub(super) fn decode(rest: &mut &[u8]) -> Option<RankTables> {
        let (largest, behind) = rest.split_first_chunk()?;
        *rest = behind;
        let mut int = || {
            let (number, behind) = rest.split_first_chunk()?;
            *rest = behind;
            Some(i32::from_le_bytes(*number))
        };
        let (slots, comms) = (int()?, int()?);
        let mut tables = RankTables {
            largest: u64::from_le_bytes(*largest),
            ..RankTables::default()
        };
        for _ in 0..slots {
            tables.slots.push(int()? as u32);
        }
        for _ in 0..comms {
            tables.comms.push(Clog2CommEvent {
                etype: int()?,
                icomm: int()?,
                rank: int()?,
                wrank: int()?,
                gid: Gid::NULL,
            });
        }
        Some(tables)
    }

    pub(super) fn join(&mut self, other: RankTables) {
        self.largest = self.largest.max(other.largest);
        self.slots.extend(other.slots);
        self.comms.extend(other.comms);
    }
}

impl WholeSlices {
    /// The views by node and by program of the lines of all processes.
    pub fn world_views(&self, plan: &OutputPlan) -> Vec<LineIdMap> {
        let mut lines = WorldLines::default();
        for event in &self.comms {
            lines.announce(event, plan);
        }
        lines.views(plan, &self.others.lines)
    }

    /// Draws the tables that come behind the nodes: categories and lines. `views` makes the views that are added to the usual ones, of the
    /// lines that have drawables, ascending. Gives the offset of the tables, their bytes, and the header.
    ///
    /// # Errors
    /// In words, if there is nothing to show or the format cannot hold it.
    fn tables(
        mut self,
        plan: &SlicePlan,
        views: impl FnOnce(&WholeSlices, &[i32]) -> Vec<LineIdMap>,
    ) -> Result<(u64, Vec<u8>, Vec<u8>), String> {
        if self.root.drawables() == 0 {
            return Err(Slog2ErrorKind::NoDrawables.to_string());
        }
        self.comms
            .sort_by_key(|comm| (comm.icomm, comm.rank, comm.wrank));
        for &comm in &self.comms {
            let record = Clog2Record {
                header: Clog2RecordHeader::default(),
                body: Clog2Body::Comm(comm),
            };
            let mut nothing = |_: &NewDrawable<'_>, _| Ok::<(), Infallible>(());
            let Ok(()) = self.drawing.push(&record, &mut nothing);
        }
        let end = TreeEnd::new(&self.root, self.root_place);
        let more = views(&self, end.lines());
        let (categories, mut maps, _) = self.others.tables(self.drawing, end.lines());
        maps.extend(more.iter().map(|map| map.restricted(end.lines())));
        let nodes = plan.nodes() as usize;
        let sizes = (self.position, nodes, self.largest);
        let (tables, header) = end
            .parts(plan.tree, &categories, &maps, sizes)
            .map_err(|e| e.to_string())?;
        Ok((self.position, tables, header))
    }
}

/// Completes the SLOG2 file: rank 0 writes tables and header, all ranks their entries of the directory. Gives why that was not possible, of any
/// rank. Collective.
///
/// # Errors
/// When the ranks could not go on together.
pub fn complete<P: Peers>(
    peers: &mut P,
    plan: &SlicePlan,
    summary: SliceSummary,
    file: Option<&mut dyn PartFile>,
    views: impl FnOnce(&WholeSlices, &[i32]) -> Vec<LineIdMap>,
) -> Result<Option<String>, P::Failure> {
    let [mut failure, _] = summary.failures;
    let mut header = Vec::new();
    let mut directory_at = 0;
    let mut file = file;
    if let (Some(whole), None) = (summary.whole, &failure) {
        let written = whole.tables(plan, views).and_then(|(at, tables, head)| {
            header = head;
            directory_at = at + tables.len() as u64;
            file.as_mut()
                .map_or(Ok(()), |file| file.write_at(at, &tables))
        });
        failure = written.err();
    }
    let at = spread(peers, directory_at.to_le_bytes().to_vec())?;
    let at = at.first_chunk().copied().map_or(0, u64::from_le_bytes);
    if let (Some(file), 1.., None) = (&mut file, at, &failure) {
        failure = write_entries(plan, summary.directory, at, &mut **file).err();
    }
    let failure = any_failure(peers, failure.map_or(Ok(()), Err))?;
    if failure.is_some() || header.is_empty() {
        return Ok(failure);
    }
    Ok(file.and_then(|file| file.write_at(0, &header).err()))
}

/// Writes what ends a CLOG2 file behind `blocks` blocks: the block that ends the log, the table of communicators, and last the preamble.
///
/// # Errors
/// In words, if a block has no room for it, and the errors of the file.
pub fn end_clog2(
    file: &mut dyn PartFile,
    preamble: &Preamble,
    blocks: u64,
    comms: &CommTable,
) -> Result<(), String> {
    let out = Clog2Writer::new(std::io::Cursor::new(Vec::new()), preamble);
    let end = out.and_then(|out| out.finish(comms, preamble));
    let mut head = end.map_err(|e| e.to_string())?.into_inner();
    let tail = head.split_off(PREAMBLE_SIZE);
    let at = PREAMBLE_SIZE as u64 + blocks * u64::from(preamble.block_size);
    let mut preamble = Preamble::decode(&head).map_err(|e| e.to_string())?;
    preamble.comm_table_offset = at + u64::from(preamble.block_size);
    file.write_at(at, &tail)?;
    file.write_at(0, &preamble.encode())
}

/// Writes entries of the directory, which begins behind its count at offset `at`.
fn write_entries(
    plan: &SlicePlan,
    mut entries: Vec<DirEntry>,
    at: u64,
    file: &mut dyn PartFile,
) -> Result<(), String> {
    entries.sort_by_key(|entry| plan.directory_index(entry.id));
    let mut bytes = Vec::new();
    let mut begin = 0;
    for (nth, entry) in entries.iter().enumerate() {
        let index = plan.directory_index(entry.id);
        if bytes.is_empty() {
            begin = index;
        }
        TreeEnd::encode_entry(entry, &mut bytes);
        let next = entries
            .get(nth + 1)
            .map(|next| plan.directory_index(next.id));
        if next != Some(index + 1) {
            file.write_at(at + begin * TreeEnd::DIRECTORY_ENTRY as u64, &bytes)?;
            bytes.clear();
        }
    }
    Ok(())
}
