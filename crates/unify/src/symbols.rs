//! Names of functions, from the symbol tables of the files that their code came from: static functions included, unless the file
//! was stripped.

use blockfile::define::Module;
use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

/// Makes a name of C++ or Rust readable; `None` if it is none.
pub type Demangler = fn(&str) -> Option<String>;

/// Names by address.
pub fn names(
    modules: &[Module],
    mut addresses: Vec<u64>,
    demangle: Option<Demangler>,
) -> BTreeMap<u64, String> {
    addresses.sort_unstable();
    let mut names = BTreeMap::new();
    // An object that was unloaded may have been followed by another one: the latest counts.
    for (i, module) in modules.iter().enumerate() {
        let later = &modules[i + 1..];
        let inside: Vec<u64> = addresses
            .iter()
            .copied()
            .filter(|a| (module.start..module.end).contains(a))
            .filter(|a| !later.iter().any(|m| (m.start..m.end).contains(a)))
            .collect();
        if inside.is_empty() {
            continue;
        }
        let found = in_file(module, &inside);
        for (i, address) in inside.into_iter().enumerate() {
            let name = found.get(i).cloned().flatten().map(|name| {
                let readable = demangle.and_then(|demangle| demangle(&name));
                readable.unwrap_or(name)
            });
            let unnamed = || {
                let file = module.path.rsplit('/').next().unwrap_or_default();
                format!("{file}+{:#x}", address.wrapping_sub(module.base))
            };
            names.insert(address, name.unwrap_or_else(unnamed));
        }
    }
    for address in addresses {
        names
            .entry(address)
            .or_insert_with(|| format!("{address:#x}"));
    }
    names
}

/// Names of these addresses, which are sorted, in the file of their object; nothing if that cannot be read or is another one.
fn in_file(module: &Module, addresses: &[u64]) -> Vec<Option<String>> {
    let Ok(file) = trace_model::os::open_regular(module.path.as_ref()) else {
        return Vec::new();
    };
    // Reads what is asked for and no more: a program with all that a debugger needs may be large.
    let parts = ReadCache::new(file);
    let Ok(file) = ElfFile64::<Endianness, _>::parse(&parts) else {
        return Vec::new();
    };
    let build = file.build_id().ok().flatten().unwrap_or_default();
    if build != module.build {
        return Vec::new();
    }
    let mut found: Vec<Option<(u8, &[u8])>> = vec![None; addresses.len()];
    let symbols = file.symbols().chain(file.dynamic_symbols());
    for symbol in symbols.filter(|s| s.kind() == SymbolKind::Text && s.is_definition()) {
        let address = symbol.address().wrapping_add(module.base);
        let Ok(at) = addresses.binary_search(&address) else {
            continue;
        };
        let Ok(name) = symbol.name_bytes() else {
            continue;
        };
        // Of several names, that which others can see, and then the shortest, as it is the plainest.
        let rank = u8::from(!symbol.is_global());
        let better = |(other, old): (u8, &[u8])| (rank, name.len()) < (other, old.len());
        if found[at].is_none_or(better) && !name.is_empty() {
            found[at] = Some((rank, name));
        }
    }
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    found
        .into_iter()
        .map(|f| f.map(|(_, name)| text(name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program that runs this is one with symbols.
    #[test]
    fn own_functions_have_names() {
        let path = std::env::current_exe().expect("of a test");
        let bytes = std::fs::read(&path).expect("readable");
        let file = ElfFile64::<Endianness>::parse(&*bytes).expect("an ELF file");
        let symbol = file
            .symbols()
            .find(|s| s.name() == Ok("main"))
            .expect("C's");
        let base = 0x5555_0000_0000;
        let mut module = Module {
            path: path.to_string_lossy().into_owned(),
            base,
            start: base,
            end: base + (1 << 40),
            build: file.build_id().ok().flatten().unwrap_or_default().to_vec(),
        };
        let address = base + symbol.address();
        let names_of = |module: &Module| {
            let all = names(
                std::slice::from_ref(module),
                vec![address + 1, address, 5],
                Some(|name| (name == "main").then(|| "principal".to_owned())),
            );
            all.into_values().collect::<Vec<_>>()
        };
        let found = names_of(&module);
        assert_eq!(found[..2], ["0x5".to_owned(), "principal".to_owned()]);
        assert!(found[2].contains("+0x"), "{found:?}");
        // Another file in its place tells nothing.
        module.build.push(7);
        let file = path.file_name().expect("a file").to_string_lossy();
        let unnamed = format!("{file}+{:#x}", symbol.address());
        assert_eq!(names_of(&module)[1], unnamed);
    }
}
