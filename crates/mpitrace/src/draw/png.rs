//! A picture in pixels, with a font of our own, so that it is the same on every machine.

use crate::failure::Failure;
use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// Renders SVG text to the bytes of a PNG file.
pub fn render(svg: &str) -> Result<Vec<u8>, Failure> {
    let failed = |what: String| Failure::Data(format!("the picture cannot be made pixels: {what}"));
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_source(usvg::fontdb::Source::Binary(Arc::new(
        dejavu::sans::regular(),
    )));
    fonts.load_font_source(usvg::fontdb::Source::Binary(Arc::new(dejavu::sans::bold())));
    let options = usvg::Options {
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size().to_int_size();
    let pixels = tiny_skia::Pixmap::new(size.width(), size.height());
    let mut pixels = pixels.ok_or_else(|| failed("it is too large".into()))?;
    let same = tiny_skia::Transform::identity();
    resvg::render(&tree, same, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|error| failed(error.to_string()))
}
