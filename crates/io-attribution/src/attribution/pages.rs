//! Finds the writes whose bytes lie at a place of a device: keeps the places of files, and per page of the page cache the
//! transfers
//! since it was last written out (`spec/io-chain.md` section 6).

use super::link::CauseLink;
use super::places::{DevicePlaces, Inode};
use crate::event::ExtentsPart;
use crate::record::Actor;
use std::collections::HashSet;
use trace_model::hash::Map;

/// Bytes of a page.
const PAGE: u64 = 4096;

#[derive(Debug)]
struct WrittenPages {
    /// First page, and the one behind the last.
    pages: (u64, u64),
    /// When the transfer had ended, ns.
    ns: i64,
    link: CauseLink,
}

/// All that is known of a run's pages.
#[derive(Debug, Default)]
pub(super) struct Pages {
    places: DevicePlaces,
    /// Files of which it knows any.
    followed: HashSet<Inode>,
    written: Map<Inode, Vec<WrittenPages>>,
}

impl Pages {
    /// Notes the places of parts of a file on a device.
    pub fn extents(&mut self, actor: Actor, part: &ExtentsPart) {
        let file = &part.extents;
        let inode = (file.device, file.inode);
        self.followed.insert(inode);
        for &extent in &file.extents {
            self.places.observe(actor, inode, extent, part.ns);
        }
    }

    /// Number of transfers that are remembered.
    pub fn waiting(&self) -> usize {
        self.written.values().map(Vec::len).sum()
    }

    /// A transfer has put bytes into the page cache. Only files whose place is known are followed.
    pub fn write(&mut self, inode: Inode, range: (u64, u64), ns: i64, link: &CauseLink) {
        if !self.followed.contains(&inode) {
            return;
        }
        let pages = (range.0 / PAGE, range.1.div_ceil(PAGE));
        let link = link.clone();
        let written = WrittenPages { pages, ns, link };
        self.written.entry(inode).or_default().push(written);
    }

    /// Which bytes of which files lie between these offsets of the device for a transfer at `ns`.
    pub fn files(&self, actor: Actor, start: u64, end: u64, ns: i64) -> Vec<(Inode, (u64, u64))> {
        self.places.files(actor, start, end, ns)
    }

    /// The pages of these bytes were put in the queue at `ns`: the transfers that had filled them until then. They count as
    /// written out from now on.
    pub fn take(&mut self, inode: Inode, range: (u64, u64), ns: i64) -> Vec<CauseLink> {
        let pages = (range.0 / PAGE, range.1.div_ceil(PAGE));
        let Some(written) = self.written.get_mut(&inode) else {
            return Vec::new();
        };
        let mut links = Vec::new();
        let mut kept = Vec::with_capacity(written.len());
        for w in written.drain(..) {
            if w.ns > ns || w.pages.1 <= pages.0 || w.pages.0 >= pages.1 {
                kept.push(w);
                continue;
            }
            links.push(w.link.clone());
            for rest in [
                (w.pages.0, pages.0.min(w.pages.1)),
                (pages.1.max(w.pages.0), w.pages.1),
            ] {
                if rest.0 < rest.1 {
                    let link = w.link.clone();
                    kept.push(WrittenPages {
                        pages: rest,
                        ns: w.ns,
                        link,
                    });
                }
            }
        }
        *written = kept;
        links
    }
}
