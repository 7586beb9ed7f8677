//! SLOG2 to SLOG2: the drawables of a file, judged or changed one by one, in a new tree with views that fit.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};

use super::file_names::FileNames;
use super::in_order::in_order;
use super::select::{Judge, Selection};
use trace_formats::slog2;
use trace_formats::slog2::{
    Category, DrawableWalk, LineIdMap, NewComposite, NewDrawable, NodeDrawable, PREVIEW_ARROW,
    PREVIEW_EVENT, PREVIEW_STATE, Primitive, Ratios, Slog2Error, Slog2Header, Slog2Reader,
    Topology, TreeBuilder, TreeOptions, Vertex, lines_of_views, preview_index,
};
use trace_model::{Definitions, DrawableOrder, Losses, Source, Stop};

/// Options of filtering an SLOG2 file.
#[derive(Clone, Debug, Default)]
pub struct Slog2Filter {
    /// Selection of the drawables to keep.
    pub selection: Selection,
    /// The shape of the new tree; without one, that of the file.
    pub tree: Option<TreeOptions>,
    /// Write what slog2filter writes, its defects included (`spec/slog2-tools.md` section 7): what ends at the very
    /// start of the log is lost, counts and ratios of categories are added to those of the file, lines without drawables
    /// stay.
    pub like_original: bool,
}

/// Counts of a filtered SLOG2 file.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebuilt {
    /// The header of the new file.
    pub header: Slog2Header,
    /// Drawables in it.
    pub kept: u64,
    /// Drawables left out.
    pub removed: u64,
}

impl Slog2Filter {
    /// Writes the drawables that are kept to `out`, an empty file. `seen` is called for each drawable of the input.
    ///
    /// # Errors
    /// The file is damaged, the output cannot be written, or nothing is kept ([`slog2::Slog2ErrorKind::NoDrawables`]).
    pub fn run<W: Write + Seek + Send + 'static>(
        &self,
        reader: &Slog2Reader<'_>,
        out: W,
        mut seen: impl FnMut(),
    ) -> Result<(W, Rebuilt), Slog2Error> {
        let definitions = definitions(reader);
        let judge = Judge::new(&self.selection, &definitions);
        let tree = self.tree.unwrap_or_else(|| shape(reader));
        let topologies = topologies(reader.categories());
        let mut new = Rebuild::new(out, tree)?;
        let mut removed = 0;
        let mut names = FileNames::new(&self.selection, &definitions);
        let mut put = |drawable: &NodeDrawable<'_>| {
            seen();
            let bounds = drawable.bounds();
            let lines = lines_of(drawable);
            let times = [bounds.earliest, bounds.latest].into_iter();
            if judge.admits_parts(
                drawable.category(),
                drawable.info(),
                lines.into_iter(),
                times,
            ) {
                for name in names.keeps(bounds.latest) {
                    removed -= 1;
                    new.builder.add(&name.drawable())?;
                }
                return new.put(drawable, &topologies);
            }
            // The original knows nothing of names.
            let vertices = drawable.primitives().iter().flat_map(Primitive::vertices);
            let vertices = vertices.filter(|_| !self.like_original);
            match names.take(drawable.category(), drawable.info(), vertices) {
                Some(name) => new.builder.add(&name.drawable()),
                None => {
                    removed += 1;
                    Ok(())
                }
            }
        };
        if self.like_original {
            slog2::list(reader, slog2::PrintOrder::IncreasingEnd, put)?;
        } else {
            for drawable in DrawableWalk::new(reader) {
                put(&drawable?)?;
            }
        }
        let kept = new.builder.count();
        let mut tree = new.builder.close()?;
        let (categories, maps);
        if self.like_original {
            for category in touched(reader)? {
                tree.keep_category(category);
            }
            categories = previews_first(reader.categories());
            maps = reader.line_id_maps().to_vec();
        } else {
            categories = renewed(reader.categories());
            maps = restricted(reader.line_id_maps(), tree.lines());
        }
        let (out, header) = tree.finish(&categories, &maps)?;
        let rebuilt = Rebuilt {
            header,
            kept,
            removed,
        };
        Ok((out, rebuilt))
    }
}

/// The categories of all shadows and of all primitives in composites: the original takes them for used, whatever it writes.
fn touched(reader: &Slog2Reader<'_>) -> Result<BTreeSet<i32>, Slog2Error> {
    let mut found = BTreeSet::new();
    for entry in reader.whole_directory()? {
        let node = reader.node(entry.ptr)?;
        for buffer in &node.shadows {
            let shadows = buffer.nestless.iter().chain(&buffer.nestable);
            found.extend(shadows.map(|shadow| shadow.primitive.category));
        }
        for drawable in node.nestless.iter().chain(&node.nestable) {
            if let NodeDrawable::Composite(composite) = drawable {
                found.extend(composite.primitives.iter().map(|inner| inner.category));
            }
        }
    }
    Ok(found)
}

/// The options that a file was built with.
pub(super) fn shape(reader: &Slog2Reader<'_>) -> TreeOptions {
    TreeOptions {
        children_per_node: reader.header().children_per_node,
        leaf_byte_size: reader.header().leaf_byte_size,
    }
}

/// Categories as they are before the first drawable: without counts, and with the previews of all topologies.
pub(super) fn renewed(categories: &[Category]) -> Vec<Category> {
    let mut renewed = categories.to_vec();
    for category in &mut renewed {
        category.summary = Ratios::default();
    }
    for topology in [Topology::Event, Topology::State, Topology::Arrow] {
        let index = preview_index(topology);
        if !renewed.iter().any(|category| category.index == index) {
            renewed.push(Category::preview(topology));
        }
    }
    renewed
}

/// The categories in the order in which the original inserts them in its table.
fn previews_first(categories: &[Category]) -> Vec<Category> {
    let rank = |index: i32| match index {
        PREVIEW_EVENT => 0,
        PREVIEW_STATE => 1,
        PREVIEW_ARROW => 2,
        _ => 3,
    };
    let mut sorted = categories.to_vec();
    sorted.sort_by_key(|category| rank(category.index));
    sorted
}

/// The views of these lines. What names lines by their own number is made anew.
pub(super) fn restricted(maps: &[LineIdMap], lines: &[i32]) -> Vec<LineIdMap> {
    let view = |map: &LineIdMap| match is_identity(map) {
        true => LineIdMap {
            title: map.title.clone(),
            ..LineIdMap::identity(lines)
        },
        false => map.restricted(lines),
    };
    maps.iter().map(view).collect()
}

/// True for the view in which each line is named by its own ID.
pub(super) fn is_identity(map: &LineIdMap) -> bool {
    map.column_labels.len() == 1 && map.column_labels[0].0 == b"LineID"
}

/// Topologies by category index.
pub(super) fn topologies(categories: &[Category]) -> BTreeMap<i32, Topology> {
    let topologies = categories.iter().map(|c| (c.index, c.topology));
    topologies.collect()
}

/// Categories and lines of a file, the latter from its views (`spec/slog2.md` section 6.2).
pub(super) fn definitions(reader: &Slog2Reader<'_>) -> Definitions {
    Definitions {
        categories: reader.categories().to_vec(),
        lines: lines_of_views(reader.line_id_maps())
            .into_values()
            .collect(),
        ..Definitions::default()
    }
}

/// The lines of a drawable.
pub(super) fn lines_of(drawable: &NodeDrawable<'_>) -> Vec<i32> {
    let of = |primitive: &Primitive<'_>| -> Vec<i32> {
        primitive.vertices().map(|vertex| vertex.line).collect()
    };
    drawable.primitives().iter().flat_map(of).collect()
}

/// A tree in the making.
pub(super) struct Rebuild<W> {
    pub(super) builder: TreeBuilder<W>,
    vertices: Vec<Vertex>,
}

impl<W: Write + Seek + Send + 'static> Rebuild<W> {
    pub(super) fn new(out: W, tree: TreeOptions) -> Result<Self, Slog2Error> {
        Ok(Rebuild {
            builder: TreeBuilder::new(out, tree)?.on_thread(),
            vertices: Vec::new(),
        })
    }

    /// Adds a drawable of a file.
    pub(super) fn put<'a>(
        &mut self,
        drawable: &NodeDrawable<'a>,
        topologies: &BTreeMap<i32, Topology>,
    ) -> Result<(), Slog2Error> {
        self.vertices.clear();
        for primitive in drawable.primitives() {
            self.vertices.extend(primitive.vertices());
        }
        let mut rest = self.vertices.as_slice();
        let mut new = |primitive: &Primitive<'a>| {
            let (vertices, behind) = rest.split_at(primitive.vertices().len());
            rest = behind;
            let topology = topologies.get(&primitive.category).copied();
            NewDrawable {
                topology: topology.unwrap_or_else(|| topology_of(vertices)),
                category: primitive.category,
                info: primitive.info,
                vertices,
            }
        };
        match drawable {
            NodeDrawable::Primitive(primitive) => self.builder.add(&new(primitive)),
            NodeDrawable::Composite(composite) => {
                let primitives: Vec<_> = composite.primitives.iter().map(new).collect();
                self.builder.add_composite(&NewComposite {
                    category: composite.category,
                    info: composite.info,
                    primitives: &primitives,
                })
            }
        }
    }
}

/// Topology of a drawable of an undefined category, told by its number of points.
pub(super) fn topology_of(vertices: &[Vertex]) -> Topology {
    match vertices {
        [first, last] if first.line == last.line => Topology::State,
        [_, _] => Topology::Arrow,
        _ => Topology::Event,
    }
}

/// Writes a trace as SLOG2 with views of its own, cut to the lines that have drawables.
///
/// # Errors
/// The errors of the source and of the output, and [`slog2::Slog2ErrorKind::NoDrawables`] if there is none.
pub fn write_slog2<W: Write + Seek + Send + 'static>(
    source: &dyn Source,
    views: &[LineIdMap],
    tree: TreeOptions,
    out: W,
) -> Result<(W, Slog2Header, Losses), Stop> {
    let mut builder = TreeBuilder::new(out, tree)?.on_thread();
    let losses = in_order(source, DrawableOrder::End, &mut |drawable| {
        builder.add(drawable)?;
        Ok(())
    })?;
    let tree = builder.close()?;
    let maps = restricted(views, tree.lines());
    let categories = previews_first(&renewed(&source.definitions().categories));
    let (out, header) = tree.finish(&categories, &maps)?;
    Ok((out, header, losses))
}
