//! Calls of which a file holds less than waits are found by: what their categories lack.

use super::role::{CategoryRole, OneSidedStep};
use trace_model::Category;

/// What the infos of a category do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// Anything, in a file that has arguments of other calls: DUMPI does not have the function.
    Arguments,
    /// The request, or the number of the persistent operation, by which a collective operation is completed.
    Request,
    /// The ranks or the lock that one-sided communication is about.
    Partners,
    /// The intercommunicator that is made.
    Sides,
}

impl Lack {
    /// What is said of so many calls.
    const WORDS: [(Lack, &str); 4] = [
        (
            Lack::Arguments,
            "calls of functions that the file has no arguments of: they are taken to be on MPI_COMM_WORLD, and waits for what they begin and on what they make are not counted",
        ),
        (
            Lack::Request,
            "collective operations begun of which the file does not tell the request: waits for them are not counted",
        ),
        (
            Lack::Partners,
            "calls of one-sided communication of which the file does not tell the ranks or the lock: waits for post, completion and lock are not counted",
        ),
        (
            Lack::Sides,
            "calls that make or merge an intercommunicator, which the file does not tell: waits in collective calls on that may be missing or wrong",
        ),
    ];

    fn of(category: &Category, role: CategoryRole, has_arguments: bool) -> Option<Lack> {
        let tells = |name: &[u8]| category.info_keys.iter().any(|key| key.0.ends_with(name));
        let name = category.function_name();
        let matters = matches!(
            role,
            CategoryRole::Collective(_)
                | CategoryRole::StartsCollective(_)
                | CategoryRole::PreparesCollective(_)
                | CategoryRole::OneSided(OneSidedStep::LockAll)
                | CategoryRole::MarksParts
        );
        if has_arguments && matters && category.info_keys.is_empty() {
            return Some(Lack::Arguments);
        }
        match role {
            CategoryRole::StartsCollective(_) if !tells(b"request=") => Some(Lack::Request),
            CategoryRole::PreparesCollective(_) if !tells(b"prepared=") => Some(Lack::Request),
            CategoryRole::OneSided(OneSidedStep::Post | OneSidedStep::Start)
                if !tells(b"ranks=") =>
            {
                Some(Lack::Partners)
            }
            CategoryRole::OneSided(OneSidedStep::Lock) if !tells(b"exclusive=") => {
                Some(Lack::Partners)
            }
            CategoryRole::Collective(_)
                if name.starts_with("MPI_Intercomm_") && !tells(b"makes=") =>
            {
                Some(Lack::Sides)
            }
            _ => None,
        }
    }
}

/// What each category lacks, and the calls of such categories.
#[derive(Clone, Debug, Default)]
pub(super) struct Lacking {
    of_categories: Vec<Option<Lack>>,
    calls: [u64; Lack::WORDS.len()],
    /// Whether infos tell the communicators of calls, which files do whose messages are all on MPI_COMM_WORLD.
    tells_comms: bool,
}

impl Lacking {
    pub(super) fn new(categories: &[&Category], roles: &[CategoryRole]) -> Lacking {
        let mut keys = categories.iter().flat_map(|category| &category.info_keys);
        let has_arguments = keys.any(|key| key.0.ends_with(b"comm="));
        let both = categories.iter().zip(roles);
        Lacking {
            of_categories: both
                .map(|(category, &role)| Lack::of(category, role, has_arguments))
                .collect(),
            calls: Default::default(),
            tells_comms: has_arguments,
        }
    }

    /// A call of a category begins.
    pub(super) fn call(&mut self, category: u32) {
        if let Some(&Some(lack)) = self.of_categories.get(category as usize) {
            self.calls[lack as usize] += 1;
        }
    }

    /// Whether a category has no arguments, and others have.
    pub(super) fn has_no_arguments(&self, category: u32) -> bool {
        self.of_categories.get(category as usize) == Some(&Some(Lack::Arguments))
    }

    /// Whether messages may be on other communicators, of so many, than the one that they are drawn on.
    pub(super) fn hides_messages(&self, comms: usize) -> bool {
        self.tells_comms && comms > 1
    }

    /// Whether bytes of collective operations on this communicator may be missing, or be those of others: 0 is MPI_COMM_WORLD.
    pub(super) fn hides_bytes(&self, comm: i32) -> bool {
        let has = |lack: Lack| self.calls[lack as usize] > 0;
        // No side of an intercommunicator has all ranks.
        has(Lack::Arguments) || (has(Lack::Sides) && comm != 0)
    }

    /// What is to be said of it.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let counted = Lack::WORDS
            .iter()
            .map(|(lack, words)| (self.calls[*lack as usize], words));
        let told = counted.filter(|(calls, _)| *calls > 0);
        told.map(|(calls, words)| format!("{calls} {words}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::role::RoleFinder;
    use super::super::{PerformanceOptions, WaitPattern, analyse_in_order};
    use super::*;
    use std::convert::Infallible;
    use trace_model::{Color, Definitions, Drawable, Line, Topology, Vertex};

    fn category(name: &str, format: &[u8]) -> Category {
        let mut category = Category::new(1, name.into(), Topology::State, Color::WHITE);
        category.set_info_format(format);
        category
    }

    #[test]
    fn what_calls_lack_is_told() {
        let finder = RoleFinder::new();
        let lack = |name: &str, format: &[u8], has_arguments| {
            let category = category(name, format);
            Lack::of(&category, finder.of(&category), has_arguments)
        };
        let block = "MPI_Reduce_scatter_block";
        assert_eq!(lack(block, b"", true), Some(Lack::Arguments));
        assert_eq!(lack(block, b"", false), None);
        assert_eq!(lack("MPI_Get_address", b"", true), None);
        assert_eq!(lack("MPI_Ibarrier", b"", false), Some(Lack::Request));
        assert_eq!(lack("MPI_Ibarrier", b"request=%d", false), None);
        let lock = "MPI_Win_lock";
        let known = b"handle=%d, target=%d, exclusive=%d";
        assert_eq!(
            lack(lock, b"winrank=%d, win=%d", true),
            Some(Lack::Partners)
        );
        assert_eq!(lack(lock, known, false), None);
        let merge = "MPI_Intercomm_merge";
        assert_eq!(lack(merge, b"comm=%d, newcomm=%d", true), Some(Lack::Sides));
        assert_eq!(lack(merge, b"makes=%d, remote=%d", false), None);
    }

    #[test]
    fn each_lack_has_its_words() {
        for (nth, (lack, _)) in Lack::WORDS.iter().enumerate() {
            assert_eq!(*lack as usize, nth);
        }
    }

    /// Rank 0 makes two collective calls on a communicator of its own, and rank 1 comes to the barrier 3 s later.
    #[test]
    fn calls_without_arguments_do_not_disturb_others() {
        let mut categories = vec![
            category("MPI_Barrier", b"comm=%d"),
            category("MPI_Reduce_scatter_block", b""),
        ];
        categories[0].index = 0;
        let definitions = Definitions {
            categories,
            lines: (0..2).map(|rank| Line::of_thread(rank, rank, 0)).collect(),
            ..Definitions::default()
        };
        let calls = [(1, 0, 0.0), (1, 0, 1.0), (0, 0, 2.0), (0, 1, 5.0)];
        let options = PerformanceOptions::default();
        let Ok(report) = analyse_in_order::<Infallible>(&definitions, &options, |put| {
            for (category, line, from) in calls {
                let to = if category == 0 { 6.0 } else { from + 0.5 };
                put(&Drawable {
                    topology: Topology::State,
                    category,
                    info: &[0; 4][..if category == 0 { 4 } else { 0 }],
                    vertices: &[from, to].map(|time| Vertex { time, line }),
                });
            }
            Ok(())
        });
        let waits = report.waits.iter();
        let waits: Vec<_> = waits.map(|group| (group.pattern, group.seconds)).collect();
        assert_eq!(waits, [(WaitPattern::Barrier, 3.0)]);
        assert!(report.notes[0].starts_with("2 calls"), "{:?}", report.notes);
    }
}
