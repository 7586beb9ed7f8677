//! SLOG2 as the text of slog2print or of PrintRecursively.

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::input::shown;
use std::io::Write;
use trace_formats::slog2::{
    PrintOrder, PrintedDrawables, PrintedParts, RecursiveOptions, Slog2Error, Slog2PrintOptions,
    Slog2Reader, print as print_list, print_recursively,
};

pub fn print(input: &[u8], arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let window = (arguments.ts.unwrap_or(0.0), arguments.tf.unwrap_or(1.0));
    let failed =
        |error: Slog2Error| Failure::in_file_or_output(error, shown(&arguments.file), "stdout");
    let reader = Slog2Reader::new(input).map_err(failed)?;
    if arguments.recursive {
        let (lowest_depth, merged) = (arguments.depth.unwrap_or(0), arguments.merged);
        return print_recursively(
            &reader,
            &RecursiveOptions {
                window,
                lowest_depth,
                merged,
            },
            out,
        )
        .map_err(failed);
    }
    let has_order = arguments.is || arguments.ds || arguments.ie || arguments.de;
    let parts = parts(arguments);
    let options = Slog2PrintOptions {
        parts,
        drawables: parts == PrintedParts::All || has_order || arguments.state || arguments.a,
        kinds: match (arguments.state, arguments.a) {
            (true, _) => PrintedDrawables::Nestable,
            (_, true) => PrintedDrawables::Nestless,
            _ => PrintedDrawables::All,
        },
        order: order(arguments),
        window,
    };
    print_list(&reader, &options, out).map_err(failed)
}

fn parts(arguments: &Arguments) -> PrintedParts {
    if arguments.category {
        PrintedParts::Categories
    } else if arguments.directory {
        PrintedParts::Directory
    } else if arguments.ycoordmap {
        PrintedParts::LineIdMaps
    } else {
        PrintedParts::All
    }
}

fn order(arguments: &Arguments) -> PrintOrder {
    if arguments.ds {
        PrintOrder::DecreasingStart
    } else if arguments.ie {
        PrintOrder::IncreasingEnd
    } else if arguments.de {
        PrintOrder::DecreasingEnd
    } else {
        PrintOrder::IncreasingStart
    }
}
