//! Calls of which a file holds less than waits are found by: what their categories lack.

use super::role::{CategoryRole, Members, OneSidedStep};
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
    /// The communicator that a group makes, whose ranks come together.
    Group,
    /// The messages, in a file that has arguments of other transfers: DUMPI does not have the function.
    Messages,
    /// The request by which a send, or what MPI_Start begins, is completed.
    Completion,
}

impl Lack {
    /// What is said of so many calls.
    const WORDS: [(Lack, &str); 7] = [
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
        (
            Lack::Group,
            "calls in which a group makes a communicator, which the file does not tell: waits there are not counted",
        ),
        (
            Lack::Messages,
            "calls that send or receive of which the file has no arguments: their messages are not drawn, and waits for these are not counted",
        ),
        (
            Lack::Completion,
            "sends and persistent operations begun of which the file does not tell the request: the time in which a call waits for such sends, or for parts of messages, counts as transfer",
        ),
    ];

    fn of(category: &Category, role: CategoryRole, told: ToldArguments) -> Option<Lack> {
        let tells = |name: &[u8]| tells(category, name);
        let name = category.function_name();
        let is_partitioned =
            name.starts_with("MPI_Psend_init") || name.starts_with("MPI_Precv_init");
        // What MPI_Start begins is known by the call that has made it.
        let is_transfer = is_partitioned || is_transfer(role) && !name.starts_with("MPI_Start");
        if told.of_transfers && is_transfer && category.info_keys.is_empty() {
            return Some(Lack::Messages);
        }
        let matters = matches!(
            role,
            CategoryRole::Collective(_)
                | CategoryRole::StartsCollective(_)
                | CategoryRole::PreparesCollective(_)
                | CategoryRole::OneSided(OneSidedStep::LockAll)
                | CategoryRole::MarksParts
        );
        if told.of_any && matters && category.info_keys.is_empty() {
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
            CategoryRole::Collective(collective)
                if collective.members == Members::MadeOnly && !tells(b"makes=") =>
            {
                Some(Lack::Group)
            }
            _ if completes_later(&name) && !REQUESTS.into_iter().any(tells) => {
                Some(Lack::Completion)
            }
            _ => None,
        }
    }
}

/// Whether infos of a category have a key that ends so.
fn tells(category: &Category, key: &[u8]) -> bool {
    category
        .info_keys
        .iter()
        .any(|known| known.0.ends_with(key))
}

fn is_transfer(role: CategoryRole) -> bool {
    matches!(
        role,
        CategoryRole::BlockingTransfer | CategoryRole::StartsTransfer
    )
}

/// Keys under which infos have the requests of what a call begins.
const REQUESTS: [&[u8]; 3] = [b"request=", b"sends=", b"receives="];

/// Whether another call waits for what the function `name` begins to send: only the request tells which one. Receives are found by their messages.
fn completes_later(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "MPI_Isend",
        "MPI_Issend",
        "MPI_Irsend",
        "MPI_Ibsend",
        "MPI_Start",
        "MPI_Startall",
    ];
    let bare = name.strip_suffix("_c").unwrap_or(name);
    NAMES.contains(&bare)
}

/// Whether a file has arguments of calls, and of calls that send or receive.
#[derive(Clone, Copy, Debug)]
struct ToldArguments {
    of_any: bool,
    of_transfers: bool,
}

impl ToldArguments {
    fn new(categories: &[&Category], roles: &[CategoryRole]) -> ToldArguments {
        let mut transfers = categories
            .iter()
            .zip(roles)
            .filter(|(_, role)| is_transfer(**role));
        ToldArguments {
            of_any: categories.iter().any(|category| tells(category, b"comm=")),
            of_transfers: transfers.any(|(category, _)| tells(category, b"comm=")),
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
        let told = ToldArguments::new(categories, roles);
        let both = categories.iter().zip(roles);
        Lacking {
            of_categories: both
                .map(|(category, &role)| Lack::of(category, role, told))
                .collect(),
            calls: Default::default(),
            tells_comms: told.of_any,
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

    /// Whether the file has no arguments of some of its calls, and has those of others.
    pub(super) fn has_calls_without_arguments(&self) -> bool {
        self.calls[Lack::Arguments as usize] > 0
    }

    /// Whether calls of one-sided communication lack what their waits are found by.
    pub(super) fn hides_one_sided(&self) -> bool {
        self.calls[Lack::Partners as usize] > 0
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
            let told = ToldArguments {
                of_any: has_arguments,
                of_transfers: has_arguments,
            };
            Lack::of(&category, finder.of(&category), told)
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
        assert_eq!(lack("MPI_Comm_create_group", b"", false), Some(Lack::Group));
        assert_eq!(lack("MPI_Mrecv", b"", true), Some(Lack::Messages));
        assert_eq!(lack("MPI_Mrecv", b"", false), None);
        assert_ne!(lack("MPI_Startall", b"", true), Some(Lack::Messages));
        assert_eq!(lack("MPI_Psend_init", b"", true), Some(Lack::Messages));
        for begun in ["MPI_Isend", "MPI_Issend_c", "MPI_Start"] {
            assert_eq!(lack(begun, b"", false), Some(Lack::Completion));
            assert_eq!(lack(begun, b"request=%d", false), None);
        }
        assert_eq!(lack("MPI_Startall", b"sends=%s, receives=%s", false), None);
        assert_eq!(lack("MPI_Psend_init", b"", false), None);
        assert_eq!(lack("MPI_Send", b"", false), None);
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
