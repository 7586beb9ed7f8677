//! Names that a program gives to its communicators.

use std::collections::BTreeMap;

use crate::hash::Map;
use crate::{Definitions, Drawable, InfoValue, Source, Stop, info_values, value_names};

/// The function that gives a name.
const FUNCTION: &str = "MPI_Comm_set_name";

/// Names of communicators by their numbers in the trace, as calls of MPI_Comm_set_name tell them: each stands on a timeline of the communicator, and its
/// info has the value `name`. Ranks may give different names; that of the lowest rank counts, and of its names the last one.
#[derive(Clone, Debug, Default)]
pub struct CommNames {
    /// By index of a category its definition, and the place of the name in infos.
    categories: BTreeMap<i32, (crate::Category, usize)>,
    /// Communicator and rank, by timeline.
    lines: Map<i32, (i32, i32)>,
    names: BTreeMap<i32, (i32, String)>,
}

impl CommNames {
    /// No names yet. Without a category of such calls none will come.
    pub fn new(definitions: &Definitions) -> CommNames {
        let mut found = CommNames::default();
        for category in &definitions.categories {
            let at = value_names(category).iter().position(|name| name == "name");
            if let Some(at) = at.filter(|_| category.function_name() == FUNCTION) {
                (found.categories).insert(category.index, (category.clone(), at));
            }
        }
        if found.may_come() {
            let lines = definitions.lines.iter();
            found.lines = lines
                .map(|line| (line.id, (line.comm, line.rank)))
                .collect();
        }
        found
    }

    /// Names that are known already, by the numbers of communicators; drawables will tell no more.
    pub fn given(names: impl IntoIterator<Item = (i32, String)>) -> CommNames {
        let names = names.into_iter();
        CommNames {
            names: names.map(|(comm, name)| (comm, (0, name))).collect(),
            ..CommNames::default()
        }
    }

    /// Whether drawables may tell names.
    pub fn may_come(&self) -> bool {
        !self.categories.is_empty()
    }

    /// The names that the drawables of a source tell. They are read only if there is a category that names communicators.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn of(source: &dyn Source) -> Result<CommNames, Stop> {
        let mut names = CommNames::new(source.definitions());
        if names.may_come() {
            source.for_each(&mut |drawable| {
                names.take(drawable);
                Ok(())
            })?;
        }
        Ok(names)
    }

    /// Takes the name that a drawable tells, if it tells one.
    #[inline]
    pub fn take(&mut self, drawable: &Drawable<'_>) {
        if !self.categories.is_empty() {
            self.take_name(drawable);
        }
    }

    fn take_name(&mut self, drawable: &Drawable<'_>) {
        let Some((category, at)) = self.categories.get(&drawable.category) else {
            return;
        };
        let line = drawable.vertices.first().map(|first| first.line);
        let place = line.and_then(|line| self.lines.get(&line));
        let value = info_values(category, drawable.info).nth(*at);
        let (Some(&(comm, rank)), Some((_, InfoValue::Text(text @ [_, ..])))) = (place, value)
        else {
            return;
        };
        self.name(comm, rank, String::from_utf8_lossy(text).into_owned());
    }

    /// Takes a name that a rank gives to the communicator with this number.
    pub fn name(&mut self, comm: i32, rank: i32, name: String) {
        let known = self.names.get(&comm);
        if known.is_none_or(|(known, _)| rank <= *known) {
            self.names.insert(comm, (rank, name));
        }
    }

    /// The names so far: number of the communicator, rank that has given the name, name.
    pub fn iter(&self) -> impl Iterator<Item = (i32, i32, &str)> {
        let names = self.names.iter();
        names.map(|(comm, (rank, name))| (*comm, *rank, name.as_str()))
    }

    /// The name of the communicator with this number.
    pub fn get(&self, comm: i32) -> Option<&str> {
        self.names.get(&comm).map(|(_, name)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Category, Color, InfoWriter, Line, Topology, Vertex};

    #[test]
    fn the_lowest_rank_names_a_communicator() {
        let mut category = Category::new(4, FUNCTION.into(), Topology::State, Color::WHITE);
        category.set_info_format(b"CallID=0x%X, name=%s");
        let line = |id, rank, comm| Line {
            comm,
            ..Line::of_thread(id, rank, 0)
        };
        let definitions = Definitions {
            categories: vec![category],
            lines: vec![line(0, 0, 0), line(1, 1, 3), line(2, 2, 3), line(3, 0, 5)],
            ..Definitions::default()
        };
        let mut names = CommNames::new(&definitions);
        let mut name = |line, text: &str| {
            let mut info = InfoWriter::default();
            info.long(7).text(text.as_bytes());
            let vertices = [0.0, 1.0].map(|time| Vertex { time, line });
            names.take(&Drawable {
                topology: Topology::State,
                category: 4,
                info: info.bytes(),
                vertices: &vertices,
            });
        };
        name(1, "old rows");
        name(1, "rows");
        name(2, "other rows");
        // Where the recorder could not tell it.
        name(3, "");
        assert_eq!(names.get(3), Some("rows"));
        assert_eq!(names.get(5), None);
        let again = CommNames::given(names.iter().map(|(comm, _, name)| (comm, name.to_owned())));
        assert_eq!((again.get(3), again.may_come()), (Some("rows"), false));
        let without = CommNames::new(&Definitions::default());
        assert!(!without.may_come());
    }
}
