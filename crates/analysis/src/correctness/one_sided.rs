//! One-sided communication: the posts, completions and locks of other ranks that a rank waits for.
//!
//! MPI_Win_start and MPI_Win_complete wait for the post of each target, the n-th for the n-th of this pair of ranks, and MPI_Win_wait so waits for the
//! completion of each origin. A lock waits for those who hold one that it cannot be held beside.

use super::call::{CommKey, GroupKey, WindowCall};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What a call does on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowStep {
    /// Lets a group access the window.
    Post,
    /// Begins to access the windows of a group.
    Start,
    /// Ends what MPI_Win_start has begun.
    Complete,
    /// Ends what MPI_Win_post has begun.
    Wait,
    /// Asks for a lock.
    Lock,
    /// Gives a lock back.
    Unlock,
    /// Waits until accesses are complete at their targets.
    Flush,
    /// Waits until accesses are complete at the caller.
    FlushLocal,
    /// Accesses the window of a target.
    Access,
}

impl WindowStep {
    /// The step of a function of this name, which accesses windows or synchronises accesses; `None` for one that is not about a pair of ranks, or that only asks for
    /// memory to be up to date.
    fn of(name: &str) -> Option<WindowStep> {
        Some(match name {
            "MPI_Win_post" => WindowStep::Post,
            "MPI_Win_start" => WindowStep::Start,
            "MPI_Win_complete" => WindowStep::Complete,
            "MPI_Win_wait" | "MPI_Win_test" => WindowStep::Wait,
            "MPI_Win_lock" | "MPI_Win_lock_all" => WindowStep::Lock,
            "MPI_Win_unlock" | "MPI_Win_unlock_all" => WindowStep::Unlock,
            "MPI_Win_flush" | "MPI_Win_flush_all" => WindowStep::Flush,
            "MPI_Win_flush_local" | "MPI_Win_flush_local_all" => WindowStep::FlushLocal,
            _ if !name.starts_with("MPI_Win_") => WindowStep::Access,
            _ => return None,
        })
    }
}

/// What a rank waits for on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowWait {
    /// MPI_Win_post of other ranks.
    Posts,
    /// MPI_Win_complete of other ranks.
    Completions,
    /// Release of a lock by other ranks.
    Locks,
}

/// How often a target and an origin did something for each other on a window.
#[derive(Clone, Copy, Debug, Default)]
struct PairCounts {
    posts: u64,
    starts: u64,
    completions: u64,
}

/// A lock that MPI_Win_lock or MPI_Win_lock_all has returned, and that was not given back.
#[derive(Clone, Copy, Debug)]
struct AskedLock {
    is_exclusive: bool,
    /// Whether the rank has accessed the target since then.
    is_used: bool,
    /// Whether the rank has it for sure: an access of the target is complete there. A library may put off a lock until it is needed, and that of all
    /// ranks for each of them.
    is_held: bool,
}

/// Two ranks in MPI_COMM_WORLD on a window: target and origin.
type WindowPair = (CommKey, u32, u32);

/// Ranks that a rank waits for on a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowPartners {
    /// All of these.
    pub all: Vec<u32>,
    /// One of these.
    pub any: Vec<u32>,
}

/// A rank, the window that its call accesses or synchronises, and what the call says besides.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowCaller<'a> {
    pub window: CommKey,
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Name of the function.
    pub function: &'a str,
    pub call: WindowCall,
    /// The target in MPI_COMM_WORLD, where the call names one.
    pub target: Option<u32>,
}

/// One-sided communication of all ranks, as far as their calls have been looked at.
#[derive(Debug, Default)]
pub(super) struct OneSidedState {
    groups: Vec<Arc<[u32]>>,
    group_keys: HashMap<Arc<[u32]>, GroupKey>,
    pairs: HashMap<WindowPair, PairCounts>,
    /// By window and rank, the group that it accesses.
    accessed: HashMap<(CommKey, u32), GroupKey>,
    /// By window and rank, the group that may access it.
    exposed: HashMap<(CommKey, u32), GroupKey>,
    /// By window and rank, locks that it has asked for, by target in MPI_COMM_WORLD; `None` is every rank of the window.
    locks: BTreeMap<(CommKey, u32, Option<u32>), AskedLock>,
    /// Windows of which the group of a call is not known, so that nothing is said of posts and completions.
    unknown: HashSet<CommKey>,
}

impl OneSidedState {
    pub(super) fn define_group(&mut self, ranks: &[u32]) -> GroupKey {
        if let Some(&known) = self.group_keys.get(ranks) {
            return known;
        }
        let ranks: Arc<[u32]> = ranks.into();
        let key = GroupKey(self.groups.len() as u32);
        self.groups.push(ranks.clone());
        self.group_keys.insert(ranks, key);
        key
    }

    fn members(&self, group: GroupKey) -> Arc<[u32]> {
        self.groups
            .get(group.0 as usize)
            .cloned()
            .unwrap_or_default()
    }

    /// A call has ended.
    pub(super) fn take(&mut self, caller: WindowCaller<'_>) {
        let WindowCaller {
            window,
            rank,
            call,
            target,
            ..
        } = caller;
        let place = (window, rank);
        let lock = (window, rank, target);
        match WindowStep::of(caller.function) {
            Some(step @ (WindowStep::Post | WindowStep::Start)) => {
                let Some(group) = call.group else {
                    self.unknown.insert(window);
                    return;
                };
                let is_post = step == WindowStep::Post;
                for &other in self.members(group).iter() {
                    match is_post {
                        true => self.pair(window, rank, other).posts += 1,
                        false => self.pair(window, other, rank).starts += 1,
                    }
                }
                match is_post {
                    true => self.exposed.insert(place, group),
                    false => self.accessed.insert(place, group),
                };
            }
            Some(WindowStep::Complete) => {
                let group = self.accessed.remove(&place);
                for &target in group.map(|it| self.members(it)).iter().flat_map(|it| &**it) {
                    self.pair(window, target, rank).completions += 1;
                }
            }
            Some(WindowStep::Wait) => {
                self.exposed.remove(&place);
            }
            Some(WindowStep::Lock) => {
                let asked = AskedLock {
                    is_exclusive: call.is_exclusive,
                    is_used: false,
                    is_held: false,
                };
                self.locks.insert(lock, asked);
            }
            Some(WindowStep::Unlock) => {
                self.locks.remove(&lock);
            }
            Some(WindowStep::Flush) => {
                let of_rank = (window, rank, None)..=(window, rank, Some(u32::MAX));
                for (&(.., locked), asked) in self.locks.range_mut(of_rank) {
                    let is_meant = locked.is_some() && (target.is_none() || target == locked);
                    asked.is_held |= asked.is_used && is_meant;
                }
            }
            Some(WindowStep::Access) => {
                if let Some(asked) = self.locks.get_mut(&lock) {
                    asked.is_used = true;
                }
            }
            Some(WindowStep::FlushLocal) | None => {}
        }
    }

    fn pair(&mut self, window: CommKey, target: u32, origin: u32) -> &mut PairCounts {
        self.pairs.entry((window, target, origin)).or_default()
    }

    fn counts(&self, window: CommKey, target: u32, origin: u32) -> PairCounts {
        let known = self.pairs.get(&(window, target, origin));
        known.copied().unwrap_or_default()
    }

    /// What a running call waits for, and whose; `None` if that is not known.
    pub(super) fn partners(
        &self,
        caller: WindowCaller<'_>,
    ) -> Option<(WindowWait, WindowPartners)> {
        let WindowCaller { window, rank, .. } = caller;
        let place = (window, rank);
        let step = WindowStep::of(caller.function)?;
        Some(match step {
            WindowStep::Post | WindowStep::Access => return None,
            WindowStep::Start | WindowStep::Complete | WindowStep::Wait => {
                let group = match step {
                    WindowStep::Start => caller.call.group,
                    WindowStep::Complete => self.accessed.get(&place).copied(),
                    _ => self.exposed.get(&place).copied(),
                };
                let group = group.filter(|_| !self.unknown.contains(&window))?;
                let lacks = |other: u32| {
                    let as_origin = self.counts(window, other, rank);
                    match step {
                        WindowStep::Start => as_origin.posts <= as_origin.starts,
                        WindowStep::Complete => as_origin.posts < as_origin.starts,
                        _ => {
                            let as_target = self.counts(window, rank, other);
                            as_target.completions < as_target.posts
                        }
                    }
                };
                let members = self.members(group);
                let all = members.iter().copied().filter(|&other| lacks(other));
                let mut all: Vec<u32> = all.collect();
                all.sort_unstable();
                let any = Vec::new();
                let partners = WindowPartners { all, any };
                match step {
                    WindowStep::Wait => (WindowWait::Completions, partners),
                    _ => (WindowWait::Posts, partners),
                }
            }
            _ => (WindowWait::Locks, self.holders(caller, step)),
        })
    }

    /// Ranks of which a call on locks waits for the lock: for all that have it for sure, and else for one of those that may have it, or for the target, which
    /// may have to help. Only a call that asks for a lock does not have it for sure.
    fn holders(&self, caller: WindowCaller<'_>, step: WindowStep) -> WindowPartners {
        let WindowCaller {
            window,
            rank,
            target,
            ..
        } = caller;
        let own = self.locks.get(&(window, rank, target));
        let own = own.or_else(|| self.locks.get(&(window, rank, None)));
        let is_exclusive = match (step, own) {
            (WindowStep::Lock, _) => caller.call.is_exclusive,
            (_, Some(own)) if !own.is_held => own.is_exclusive,
            _ => return WindowPartners::default(),
        };
        let of_window = (window, 0, None)..=(window, u32::MAX, Some(u32::MAX));
        let mut partners = WindowPartners::default();
        for (&(_, other, locked), asked) in self.locks.range(of_window) {
            let is_same = target.is_none() || locked.is_none() || target == locked;
            if other == rank || !is_same || !(is_exclusive || asked.is_exclusive) {
                continue;
            }
            if asked.is_held {
                partners.all.push(other);
            } else if step == WindowStep::Lock {
                partners.any.push(other);
                partners.any.extend(target.or(locked));
            }
        }
        if !partners.all.is_empty() {
            partners.any.clear();
        }
        partners.any.retain(|&other| other != rank);
        for ranks in [&mut partners.all, &mut partners.any] {
            ranks.sort_unstable();
            ranks.dedup();
        }
        partners
    }
}
