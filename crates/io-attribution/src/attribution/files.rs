//! The files of a run: finds the names, handles and descriptors that refer to the same file.

use crate::record::{FileRole, OpenedFile};
use trace_model::hash::Map;

/// All files of a run.
#[derive(Debug, Default)]
pub(super) struct RunFiles {
    all: Vec<KnownFile>,
    /// By device and inode.
    by_inode: Map<(u64, u64), u32>,
    /// By key of the MPI_File handle.
    by_key: Map<u128, u32>,
}

#[derive(Debug)]
struct KnownFile {
    file: OpenedFile,
    /// Number of open MPI handles of the file. While there are any, its inode is not used again for another file.
    open: u32,
    /// True if the record of the file has been passed on with its current content.
    given: bool,
}

impl RunFiles {
    /// Number of the file of a descriptor. `opened` holds key and name of the MPI_File through which it was opened.
    pub fn seen(
        &mut self,
        role: FileRole,
        (device, inode): (u64, u64),
        name: &str,
        opened: Option<(u128, &str)>,
    ) -> u32 {
        let name = opened.map_or(name, |(_, name)| name);
        let by_key = opened.and_then(|(key, _)| self.by_key.get(&key).copied());
        let by_inode = (inode != 0)
            .then(|| self.by_inode.get(&(device, inode)).copied())
            .flatten()
            .filter(|&id| {
                let known = self.all.get(id as usize);
                // An inode that no handle keeps may have been used again, unless MPI opens what another name had shown.
                known.is_some_and(|k| {
                    let shown = k.file.role == FileRole::Other && opened.is_some();
                    k.open > 0 || shown || base(&k.file.name) == base(name)
                })
            });
        let id = by_key.or(by_inode).unwrap_or_else(|| {
            let id = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
            self.all.push(KnownFile {
                file: OpenedFile {
                    id,
                    role,
                    name: name.to_owned(),
                    device,
                    inode,
                },
                open: 0,
                given: false,
            });
            id
        });
        if let Some(known) = self.all.get_mut(id as usize) {
            if known.file.inode == 0 && inode != 0 {
                (known.file.device, known.file.inode) = (device, inode);
                // A question for a file that was not there yet has passed it on without these.
                known.given = false;
            }
            if role == FileRole::Data && known.file.role != FileRole::Data {
                known.file.role = role;
                name.clone_into(&mut known.file.name);
                known.given = false;
            }
        }
        if inode != 0 {
            self.by_inode.insert((device, inode), id);
        }
        if let Some((key, _)) = opened
            && by_key.is_none()
        {
            self.by_key.insert(key, id);
            self.open(id);
        }
        id
    }

    fn open(&mut self, id: u32) {
        if let Some(known) = self.all.get_mut(id as usize) {
            known.open += 1;
        }
    }

    /// Number of the file of an MPI_File whose descriptor is not known.
    pub fn of_key(&mut self, key: u128, name: &str) -> u32 {
        match self.by_key.get(&key) {
            Some(&id) => id,
            None => self.seen(FileRole::Data, (0, 0), name, Some((key, name))),
        }
    }

    /// Notes that all processes have closed the MPI_File with this key.
    pub fn closed(&mut self, key: u128) {
        if let Some(known) = self
            .by_key
            .remove(&key)
            .and_then(|id| self.all.get_mut(id as usize))
        {
            known.open = known.open.saturating_sub(1);
        }
    }

    /// The record of the file; `None` if it has been passed on before.
    pub fn give(&mut self, id: u32) -> Option<OpenedFile> {
        let known = self.all.get_mut(id as usize)?;
        let first = !std::mem::replace(&mut known.given, true);
        first.then(|| known.file.clone())
    }

    /// Role of the file.
    pub fn role(&self, id: u32) -> FileRole {
        self.all
            .get(id as usize)
            .map_or(FileRole::Other, |k| k.file.role)
    }

    /// Device and inode.
    pub fn inode(&self, id: u32) -> (u64, u64) {
        self.all
            .get(id as usize)
            .map_or((0, 0), |k| (k.file.device, k.file.inode))
    }
}

/// The name without directories, and without the file system that ROMIO takes in front (`ufs:name`).
fn base(name: &str) -> &str {
    name.rsplit(['/', ':']).next().unwrap_or(name)
}
