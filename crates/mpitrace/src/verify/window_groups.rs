//! Groups of ranks that calls on windows name: their members by the calls that make groups, and by what the recorder says of a group.

use blockfile::args::{ArgValues, Array};
use blockfile::record::Record;
use std::collections::HashMap;
use unify::comms::CommHandles;
use unify::plan::FunctionPlan;
use unify::scan::Scan;
use wrappers::{Class, Function, Kind};

/// The groups of a process.
#[derive(Default)]
pub(super) struct WindowGroups {
    /// By handle, ranks in MPI_COMM_WORLD; −1 for processes outside of it.
    members: HashMap<u64, Vec<i32>>,
    /// By thread, the group that the recorder has told of its next call.
    told: HashMap<u32, Vec<i32>>,
    /// By handle of a window, the ranks of its communicator.
    windows: HashMap<u64, Vec<i32>>,
}

impl WindowGroups {
    /// The recorder says whom the group consists of that the next call of a thread names.
    pub(super) fn tell(&mut self, thread: u32, members: Vec<i32>) {
        self.told.insert(thread, members);
    }

    /// Members of the group with this handle, if they are known.
    pub(super) fn of(&self, handle: u64) -> Option<&[i32]> {
        self.members.get(&handle).map(Vec::as_slice)
    }

    /// Takes the next call of a thread.
    pub(super) fn take(
        &mut self,
        thread: u32,
        function: &Function,
        plan: &FunctionPlan<'_>,
        record: &Record<'_>,
        comms: (&CommHandles, &Scan),
    ) {
        let told = self.told.remove(&thread);
        let group = function.first(Kind::Group);
        let handle = group.and_then(|at| plan.handle(record.payload, at));
        if let (Some(told), Some(handle)) = (told, handle) {
            self.members.insert(handle, told);
        }
        let of_comm = || members_of(plan.handle(record.payload, plan.comm?)?, comms);
        if function.class == Class::WinCreate
            && let Some(window) = function.first(Kind::Win)
            && let Some(window) = plan.handle(record.payload, window)
            && let Some(members) = of_comm()
        {
            self.windows.insert(window, members);
        }
        let is_group = |at: &usize| function.params[*at].kind == Kind::Group;
        let made = function.creates.iter().copied().find(is_group);
        let made = made.and_then(|made| plan.handle(record.payload, made));
        let Some(made) = made.filter(|_| record.code == 0) else {
            return;
        };
        let arguments = plan.decode(record.payload);
        let members = match function.name.as_str() {
            "MPI_Comm_group" => of_comm(),
            _ => arguments.and_then(|all| self.made(function, &all)),
        };
        match members {
            Some(members) => self.members.insert(made, members),
            // The handle stands for something else now.
            None => self.members.remove(&made),
        };
    }

    /// Members of the group that a call makes, as far as that is known.
    fn made(&self, function: &Function, arguments: &ArgValues<'_>) -> Option<Vec<i32>> {
        let group = |name: &str| self.of(arguments.handle(function.param(name)?)?);
        let numbers = |name: &str| Some(list(arguments.array(function.param(name)?)));
        let members = match function.name.as_str() {
            "MPI_Win_get_group" => {
                let window = arguments.handle(function.param("win")?)?;
                self.windows.get(&window)?.clone()
            }
            "MPI_Group_incl" | "MPI_Group_range_incl" => {
                let of = group("group")?;
                let places = chosen(function, numbers("ranks"), numbers("ranges"))?;
                let each = places.iter().map(|&place| of.get(place).copied());
                each.collect::<Option<_>>()?
            }
            "MPI_Group_excl" | "MPI_Group_range_excl" => {
                let places = chosen(function, numbers("ranks"), numbers("ranges"))?;
                let of = group("group")?.iter().enumerate();
                let kept = of.filter(|(place, _)| !places.contains(place));
                kept.map(|(_, &rank)| rank).collect()
            }
            "MPI_Group_union" => {
                let (first, second) = (group("group1")?, group("group2")?);
                let others = second.iter().filter(|rank| !first.contains(rank));
                first.iter().chain(others).copied().collect()
            }
            "MPI_Group_intersection" | "MPI_Group_difference" => {
                let (first, second) = (group("group1")?, group("group2")?);
                let is_common = function.name == "MPI_Group_intersection";
                let kept = first
                    .iter()
                    .filter(|rank| second.contains(rank) == is_common);
                kept.copied().collect()
            }
            _ => return None,
        };
        Some(members)
    }
}

/// Members of the communicator with this handle, if it is known.
fn members_of(comm: u64, (handles, scan): (&CommHandles, &Scan)) -> Option<Vec<i32>> {
    Some(scan.comms.get(handles.lookup(comm)?)?.members.to_vec())
}

/// The numbers of an array; none if it is not there, as where it has no elements.
fn list(array: Option<Array<'_>>) -> Vec<i64> {
    array.into_iter().flat_map(Array::ints).collect()
}

/// Places in a group that its ranks name, or ranges of first, last and stride; `None` where one does not exist.
fn chosen(
    function: &Function,
    ranks: Option<Vec<i64>>,
    ranges: Option<Vec<i64>>,
) -> Option<Vec<usize>> {
    /// Ranks of a group that are looked at.
    const MAX_RANKS: usize = 1 << 20;
    let place = |rank: i64| usize::try_from(rank).ok();
    if !function.name.contains("_range_") {
        return ranks?.into_iter().map(place).collect();
    }
    let mut places = Vec::new();
    for range in ranges?.chunks_exact(3) {
        let &[first, last, stride] = range else {
            return None;
        };
        let mut rank = first;
        while (stride > 0 && rank <= last) || (stride < 0 && rank >= last) {
            places.push(place(rank)?);
            if places.len() > MAX_RANKS {
                return None;
            }
            rank = rank.checked_add(stride)?;
        }
    }
    Some(places)
}
