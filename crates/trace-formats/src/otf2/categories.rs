//! What the categories of a trace are to an archive.

use std::rc::Rc;

use trace_model::{Definitions, Topology};

use super::category_entry::{CategoryEntry, Meaning};
use super::definition_writer::RegionDefinition;
use super::events::EventMaker;
use super::functions::RegionKind;
use super::info::InfoReader;
use super::numbers::{REQUEST, description, value_type};

impl EventMaker {
    /// Defines the categories of a trace.
    pub(super) fn add_categories(&mut self, definitions: &Definitions) {
        let table = wrappers::table().ok();
        let mut colours = 0;
        for category in definitions.categories.iter().filter(|c| c.index >= 0) {
            colours += 1;
            let name = category.name.to_str();
            let meaning = match category.topology {
                Topology::State => Meaning::Region,
                Topology::Arrow if category.stands_for_messages() => Meaning::Message,
                Topology::Arrow => Meaning::OtherArrow,
                Topology::Event if InfoReader::names_files(category) => Meaning::FileName,
                Topology::Event if InfoReader::tells_of_files(category) => Meaning::FileFact,
                Topology::Event => Meaning::Marker,
            };
            let kind = RegionKind::of(category, table);
            let is_region = matches!(
                meaning,
                Meaning::Region | Meaning::Marker | Meaning::FileName
            );
            let attributes = Some(&mut self.attributes).filter(|_| is_region);
            let reader = InfoReader::new(category, &mut self.strings, attributes);
            if is_region && reader.tells_requests() {
                // Readers see by it which numbers requests have.
                let name = self.strings.id(REQUEST);
                self.attributes.id(name, value_type::INT64);
            }
            let mut region = 0;
            if is_region {
                region = u32::try_from(self.regions.len()).unwrap_or(0);
                self.regions.push(RegionDefinition {
                    name: self.strings.id(&name),
                    description: self.strings.id(description(meaning != Meaning::Region)),
                    role: kind.role,
                    paradigm: kind.paradigm,
                });
            }
            let mut metrics = Vec::new();
            for counter in &reader.counters {
                metrics.push(self.metrics.counter(counter, &mut self.strings));
            }
            if let (Meaning::Marker, Some(value_type)) = (meaning, reader.only_number()) {
                let metric = self.metrics.values(&name, value_type, &mut self.strings);
                metrics.push(metric);
            }
            let entry = CategoryEntry {
                reader: Rc::new(reader),
                call: kind.call,
                region,
                metrics,
                meaning,
            };
            self.categories.insert(category.index, entry);
        }
        self.losses.add("colour of a category", colours);
    }
}
