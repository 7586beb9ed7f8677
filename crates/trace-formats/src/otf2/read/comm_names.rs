//! Names of communicators, which other tools define without a call that gives them.

use trace_model::{
    Category, Color, Definitions, Drawable, InfoWriter, Stop, Text, Topology, Vertex,
};

use super::categories::{cut, next_index};
use super::comms::Comms;
use super::definitions::GlobalDefinitions;

/// Name of the events that tell the name of a communicator: that of the function that gives it.
const FUNCTION: &[u8] = b"MPI_Comm_set_name";

/// The events that tell the names of communicators: one for each, on the timeline of its lowest rank at the time of the first event.
#[derive(Debug, Default)]
pub(super) struct NamingEvents {
    category: i32,
    /// Timelines and names.
    names: Vec<(i32, String)>,
}

impl NamingEvents {
    /// The events of an archive whose timelines are defined, and their category.
    pub(super) fn new(
        source: &GlobalDefinitions,
        comms: &Comms,
        definitions: &mut Definitions,
    ) -> NamingEvents {
        let on_timeline = |(number, name): (i32, &str)| {
            let lines = definitions.lines.iter().filter(|line| line.comm == number);
            let lowest = lines.min_by_key(|line| (line.rank, line.thread))?;
            Some((lowest.id, name.to_owned()))
        };
        let names: Vec<_> = comms.named(source).filter_map(on_timeline).collect();
        let category = next_index(definitions);
        if !names.is_empty() {
            let name = Text(FUNCTION.to_vec());
            let mut category = Category::new(category, name, Topology::Event, Color::WHITE);
            category.set_info_format(b"name=%s");
            definitions.categories.push(category);
        }
        NamingEvents { category, names }
    }

    /// Draws the events at a time in seconds.
    ///
    /// # Errors
    /// The error of `put`.
    pub(super) fn draw(
        &self,
        time: f64,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut info = InfoWriter::default();
        for (line, name) in &self.names {
            info.clear().text(cut(name));
            put(&Drawable {
                topology: Topology::Event,
                category: self.category,
                info: info.bytes(),
                vertices: &[Vertex { time, line: *line }],
            })?;
        }
        Ok(())
    }
}
