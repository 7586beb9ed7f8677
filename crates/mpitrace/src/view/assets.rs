//! The files of the page: built into the command, or from a folder while they are worked on.

use hyper::body::Bytes;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// The page itself.
pub const PAGE: &str = "index.html";

/// Names and bytes of what `viewer/` builds.
const BUILT_IN: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/dist.rs"));

/// Source of the page's files.
pub enum Assets {
    BuiltIn,
    Folder(PathBuf),
}

/// A file of the page.
pub struct Asset {
    pub bytes: Bytes,
    pub mime: &'static str,
}

impl Asset {
    /// Changes with the content.
    pub fn tag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.bytes.hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }
}

impl Assets {
    /// The file of this name.
    pub fn get(&self, name: &str) -> Option<Asset> {
        let bytes = match self {
            Assets::BuiltIn => {
                let (_, bytes) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
                Bytes::from_static(bytes)
            }
            Assets::Folder(folder) if is_plain(name) => {
                std::fs::read(folder.join(name)).ok()?.into()
            }
            Assets::Folder(_) => return None,
        };
        let mime = mime(name);
        Some(Asset { bytes, mime })
    }
}

/// Whether a name stays below the folder that it is looked for in, and is none that is hidden there.
fn is_plain(name: &str) -> bool {
    name.split('/').all(|part| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !part.is_empty() && !part.starts_with('.') && part.bytes().all(allowed)
    })
}

fn mime(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        "json" | "map" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_leave_the_folder() {
        for name in ["main.js", "fonts/a-b_1.woff2"] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "../a",
            "a/../b",
            "/a",
            "a//b",
            ".git/config",
            "a/",
            "%2e%2e/a",
            "a\\b",
            "",
        ] {
            assert!(!is_plain(name), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.js"), "1").unwrap();
        let assets = Assets::Folder(folder.path().to_path_buf());
        assert_eq!(&assets.get("a.js").unwrap().bytes[..], b"1");
        assert!(assets.get("b.js").is_none() && assets.get("../a.js").is_none());
    }

    #[test]
    fn the_page_is_built_in() {
        let page = Assets::BuiltIn.get(PAGE).unwrap();
        assert!(page.mime.starts_with("text/html"));
        assert_eq!(page.tag(), Assets::BuiltIn.get(PAGE).unwrap().tag());
        assert!(Assets::BuiltIn.get("../Cargo.toml").is_none());
    }
}
