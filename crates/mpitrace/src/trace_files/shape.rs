//! The options of every command that writes SLOG2 or SLOG-1: the shape of the tree, and that of the frames.

use crate::terminal::units;
use clap::builder::RangedI64ValueParser;
use trace_formats::slog1;
use trace_formats::slog2::TreeOptions;

const TREE: &str = "Shape of an SLOG2 tree";
const FRAMES: &str = "Frames of an SLOG-1 file";

/// Shape of the tree of an SLOG2 file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TreeArguments {
    /// Children of each inner node of the tree [default: 2]
    #[arg(long, help_heading = TREE, value_name = "N", value_parser = RangedI64ValueParser::<i16>::new().range(2..=i64::from(i16::MAX)))]
    pub children: Option<i16>,
    /// Size of a leaf of the tree in bytes; suffixes k and m mean KiB and MiB. `auto` chooses a size that suits the
    /// number of timelines
    #[arg(long, help_heading = TREE, value_name = "auto|BYTES", value_parser = leaf)]
    pub leaf: Option<Leaf>,
}

/// Size of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// max(64 KiB, 1600 bytes x lines).
    Auto,
    /// So many bytes.
    Bytes(i32),
}

impl TreeArguments {
    /// The shape for a trace of so many lines; what is not said is taken from `otherwise`.
    pub fn options(&self, lines: u64, otherwise: TreeOptions) -> TreeOptions {
        TreeOptions {
            children_per_node: self.children.unwrap_or(otherwise.children_per_node),
            leaf_byte_size: match self.leaf {
                None => otherwise.leaf_byte_size,
                Some(Leaf::Auto) => TreeOptions::leaf_for(lines),
                Some(Leaf::Bytes(bytes)) => bytes,
            },
        }
    }

    /// The first of the options that was given, for commands where they may mean nothing.
    pub fn given(&self) -> Option<&'static str> {
        let leaf = self.leaf.is_some().then_some("--leaf");
        self.children.is_some().then_some("--children").or(leaf)
    }
}

/// Frames of an SLOG-1 file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FrameArguments {
    /// Size of a frame in bytes; suffixes k and m mean KiB and MiB [default: 64k, doubled until everything fits]
    #[arg(long, help_heading = FRAMES, value_name = "BYTES", value_parser = size)]
    pub frame: Option<i32>,
    /// Frames in a directory, at most 1048576; room for all of them is in the file [default: as many as needed]
    #[arg(long, help_heading = FRAMES, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub frames: Option<u32>,
}

impl FrameArguments {
    /// The options of the writer.
    pub fn options(&self) -> slog1::Slog1Options {
        slog1::Slog1Options {
            frame_size: self.frame.map(i32::unsigned_abs),
            frames_per_directory: self.frames,
        }
    }

    /// The first of the options that was given, for outputs where they mean nothing.
    pub fn given(&self) -> Option<&'static str> {
        let frames = self.frames.is_some().then_some("--frames");
        self.frame.is_some().then_some("--frame").or(frames)
    }
}

fn leaf(text: &str) -> Result<Leaf, String> {
    match text {
        "auto" => Ok(Leaf::Auto),
        _ => size(text).map(Leaf::Bytes),
    }
}

/// Parses a size from 1 byte to 2 GiB: digits, and k or m for KiB or MiB.
///
/// # Errors
/// A message for the user.
pub fn size(text: &str) -> Result<i32, String> {
    let bytes = units::parse_bytes(text).and_then(|bytes| i32::try_from(bytes).ok());
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected a number of bytes from 1 to 2047m".to_string())
}
