//! What the MPI libraries of one binary interface have in common: the facts in `abi/*.abi`, and their parser.
//!
//! The recorder is made from these files and `mpi.table` alone, without an `mpi.h`. The tool `read-abi` writes them from installed
//! headers and libraries.
//!
//! A line begins with a word that says what it tells. `#` begins a comment.
//!
//! ```text
//! family mpich                            the binary interface
//! header MPICH 4.0.2                      a library from whose mpi.h the facts were read
//! library libmpich.so.12                  file name under which such a library is loaded
//! status 20 8 12 16                       bytes of MPI_Status; offsets of MPI_SOURCE, MPI_TAG and MPI_ERROR
//! address MPI_IN_PLACE 0xffffffffffffffff a constant that is passed in place of an address
//! handle MPI_COMM_WORLD 0x44000000        a predefined handle, other than of a datatype
//! datatype MPI_INT 0x4c000405             a predefined datatype
//! integer MPI_UNDEFINED -32766            an integer
//! lacks 1 MPI_Session_init                a function of the table that the first header does not declare
//! extension 1 MPIX_Thing int handle int   a function outside the table that the first header declares: result, parameters
//! ```
//!
//! The value of an address or handle is a number, `@symbol` for the address of an object of the library, or `*symbol` for the value
//! of a variable of the library.

use std::fmt;

/// Binary interface of an MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MpiAbi {
    /// MPICH and what is compatible with it (Intel MPI, MVAPICH, Cray): handles are ints.
    Mpich,
    /// Open MPI: handles are pointers to its own structs.
    OpenMpi,
    /// The standard ABI of MPI 5.0: handles are pointers to structs of the standard's names.
    Standard,
}

impl MpiAbi {
    /// All of them, in the order of their numbers in block files.
    pub const ALL: [MpiAbi; 3] = [MpiAbi::Mpich, MpiAbi::OpenMpi, MpiAbi::Standard];

    /// Word for it in a file of facts, and the name of that file.
    pub fn word(self) -> &'static str {
        match self {
            MpiAbi::Mpich => "mpich",
            MpiAbi::OpenMpi => "openmpi",
            MpiAbi::Standard => "standard",
        }
    }

    /// Name of the variant.
    pub fn variant(self) -> &'static str {
        match self {
            MpiAbi::Mpich => "Mpich",
            MpiAbi::OpenMpi => "OpenMpi",
            MpiAbi::Standard => "Standard",
        }
    }

    fn text(self) -> &'static str {
        match self {
            MpiAbi::Mpich => include_str!("../abi/mpich.abi"),
            MpiAbi::OpenMpi => include_str!("../abi/openmpi.abi"),
            MpiAbi::Standard => include_str!("../abi/standard.abi"),
        }
    }
}

/// Source of a constant's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstantValue {
    /// A number.
    Number(u64),
    /// The address of an object in the MPI library.
    Symbol(String),
    /// The value of a variable of the MPI library.
    Variable(String),
}

/// Size and public fields of `MPI_Status`, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusLayout {
    /// Size of the struct.
    pub size: usize,
    /// Offset of `MPI_SOURCE`.
    pub source: usize,
    /// Offset of `MPI_TAG`.
    pub tag: usize,
    /// Offset of `MPI_ERROR`.
    pub error: usize,
}

/// C type of an argument or result, as far as it decides how it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassedType {
    /// `int`, also a handle that is one.
    Int,
    /// An integer of 8 bytes.
    Long,
    /// `double`.
    Double,
    /// A pointer, also a handle that is one.
    Pointer,
    /// No result.
    Void,
}

impl PassedType {
    const ALL: [(PassedType, &str); 5] = [
        (PassedType::Int, "int"),
        (PassedType::Long, "long"),
        (PassedType::Double, "double"),
        (PassedType::Pointer, "pointer"),
        (PassedType::Void, "void"),
    ];

    /// Word for it in a file of facts.
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn from_word(word: &str) -> Option<PassedType> {
        let known = Self::ALL.iter().find(|(_, known)| *known == word);
        known.map(|(passed, _)| *passed)
    }
}

/// A function that is passed through by its C types, as the table says nothing of its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Extension {
    /// Name of the function.
    pub name: String,
    /// Type of the result.
    pub returns: PassedType,
    /// Types of the parameters.
    pub params: Vec<PassedType>,
}

/// The facts about one binary interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbiFacts {
    /// The binary interface.
    pub abi: MpiAbi,
    /// Libraries from whose headers the facts were read, with their versions.
    pub headers: Vec<String>,
    /// File names under which such libraries are loaded.
    pub libraries: Vec<String>,
    /// Layout of `MPI_Status`.
    pub status: StatusLayout,
    /// Constants that are passed in place of an address.
    pub addresses: Vec<(String, ConstantValue)>,
    /// Predefined handles, other than of datatypes.
    pub handles: Vec<(String, ConstantValue)>,
    /// Predefined datatypes, and MPI_DATATYPE_NULL.
    pub datatypes: Vec<(String, ConstantValue)>,
    /// Integer constants.
    pub integers: Vec<(String, i64)>,
    /// Functions of the table that not all headers declare, each with the numbers of the headers that lack it, from 1.
    pub lacking: Vec<(String, Vec<usize>)>,
    /// Functions outside the table, each with the numbers of the headers that declare it, from 1.
    pub extensions: Vec<(Extension, Vec<usize>)>,
}

/// A line of a file of facts that cannot be read.
#[derive(Debug)]
pub struct AbiError {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for AbiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AbiError {
            file,
            line,
            expected,
        } = self;
        write!(f, "{file}: line {line}: expected {expected}")
    }
}

impl std::error::Error for AbiError {}

/// The facts about one binary interface that stand in the tree.
///
/// # Errors
/// The first line that cannot be read. The tests read all, so a program that passed them never sees one.
pub fn abi_facts(abi: MpiAbi) -> Result<AbiFacts, AbiError> {
    AbiFacts::parse(abi.text(), &format!("{}.abi", abi.word()))
}

impl AbiFacts {
    /// Reads a file of facts; `file` is its name in errors.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn parse(text: &str, file: &str) -> Result<AbiFacts, AbiError> {
        let mut facts = AbiFacts::empty(MpiAbi::Mpich);
        let mut has_family = false;
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            let Some((word, rest)) = line.split_once(' ') else {
                if line.is_empty() {
                    continue;
                }
                return Err(AbiError {
                    file: file.to_owned(),
                    line: at + 1,
                    expected: "a word and what it tells",
                });
            };
            has_family |= word == "family";
            facts.take(word, rest.trim()).map_err(|expected| AbiError {
                file: file.to_owned(),
                line: at + 1,
                expected,
            })?;
        }
        if !has_family {
            return Err(AbiError {
                file: file.to_owned(),
                line: 1,
                expected: "a line with the family",
            });
        }
        Ok(facts)
    }

    /// No facts yet.
    pub fn empty(abi: MpiAbi) -> AbiFacts {
        AbiFacts {
            abi,
            headers: Vec::new(),
            libraries: Vec::new(),
            status: StatusLayout::default(),
            addresses: Vec::new(),
            handles: Vec::new(),
            datatypes: Vec::new(),
            integers: Vec::new(),
            lacking: Vec::new(),
            extensions: Vec::new(),
        }
    }

    /// Takes one line; what was expected, if it is none.
    fn take(&mut self, word: &str, rest: &str) -> Result<(), &'static str> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        match (word, words.as_slice()) {
            ("family", [family]) => {
                let known = MpiAbi::ALL.into_iter().find(|abi| abi.word() == *family);
                self.abi = known.ok_or("mpich, openmpi or standard")?;
            }
            ("header", _) => self.headers.push(rest.to_owned()),
            ("library", [name]) => self.libraries.push((*name).to_owned()),
            ("status", numbers) => {
                let numbers: Vec<usize> = numbers.iter().flat_map(|n| n.parse()).collect();
                let [size, source, tag, error] = numbers[..] else {
                    return Err("the size of MPI_Status and three offsets");
                };
                self.status = StatusLayout {
                    size,
                    source,
                    tag,
                    error,
                };
            }
            ("address", [name, value]) => self.addresses.push((own(name), constant(value)?)),
            ("handle", [name, value]) => self.handles.push((own(name), constant(value)?)),
            ("datatype", [name, value]) => self.datatypes.push((own(name), constant(value)?)),
            ("integer", [name, value]) => {
                let value = value.parse().map_err(|_| "an integer")?;
                self.integers.push((own(name), value));
            }
            ("lacks", [headers, name]) => self.lacking.push((own(name), numbers(headers)?)),
            ("extension", [headers, name, returns, params @ ..]) => {
                let passed = |word: &&str| PassedType::from_word(word);
                let types: Option<Vec<PassedType>> = params.iter().map(passed).collect();
                let expected = "int, long, double, pointer or void";
                let extension = Extension {
                    name: own(name),
                    returns: PassedType::from_word(returns).ok_or(expected)?,
                    params: types.ok_or(expected)?,
                };
                self.extensions.push((extension, numbers(headers)?));
            }
            _ => {
                return Err(
                    "family, header, library, status, address, handle, datatype, integer, lacks or extension",
                );
            }
        }
        Ok(())
    }

    /// The value of a constant that is passed in place of an address.
    pub fn address(&self, name: &str) -> Option<&ConstantValue> {
        let found = self.addresses.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// The value of an integer constant.
    pub fn integer(&self, name: &str) -> Option<i64> {
        let found = self.integers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }
}

fn own(name: &&str) -> String {
    (*name).to_owned()
}

/// Numbers of headers: `1,3`.
fn numbers(list: &str) -> Result<Vec<usize>, &'static str> {
    let numbers: Result<Vec<usize>, _> = list.split(',').map(str::parse).collect();
    numbers.map_err(|_| "numbers of headers")
}

fn constant(text: &str) -> Result<ConstantValue, &'static str> {
    if let Some(symbol) = text.strip_prefix('@') {
        return Ok(ConstantValue::Symbol(symbol.to_owned()));
    }
    if let Some(variable) = text.strip_prefix('*') {
        return Ok(ConstantValue::Variable(variable.to_owned()));
    }
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number
        .map(ConstantValue::Number)
        .map_err(|_| "a number, @symbol or *symbol")
}

impl fmt::Display for ConstantValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstantValue::Number(n) => write!(f, "{n:#x}"),
            ConstantValue::Symbol(symbol) => write!(f, "@{symbol}"),
            ConstantValue::Variable(symbol) => write!(f, "*{symbol}"),
        }
    }
}

/// The text of a file of facts, without comments.
impl fmt::Display for AbiFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[usize]| {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            numbers.join(",")
        };
        writeln!(f, "family {}", self.abi.word())?;
        for header in &self.headers {
            writeln!(f, "header {header}")?;
        }
        for library in &self.libraries {
            writeln!(f, "library {library}")?;
        }
        let StatusLayout {
            size,
            source,
            tag,
            error,
        } = self.status;
        writeln!(f, "status {size} {source} {tag} {error}")?;
        for (name, value) in &self.addresses {
            writeln!(f, "address {name} {value}")?;
        }
        for (name, value) in &self.handles {
            writeln!(f, "handle {name} {value}")?;
        }
        for (name, value) in &self.datatypes {
            writeln!(f, "datatype {name} {value}")?;
        }
        for (name, value) in &self.integers {
            writeln!(f, "integer {name} {value}")?;
        }
        for (name, headers) in &self.lacking {
            writeln!(f, "lacks {} {name}", list(headers))?;
        }
        for (extension, headers) in &self.extensions {
            let Extension {
                name,
                returns,
                params,
            } = extension;
            write!(f, "extension {} {name} {}", list(headers), returns.word())?;
            for param in params {
                write!(f, " {}", param.word())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files in the tree are what the tool writes, but for comments.
    #[test]
    fn facts_are_written_as_they_are_read() {
        for abi in MpiAbi::ALL {
            let facts = abi_facts(abi).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(facts.abi, abi);
            let again =
                AbiFacts::parse(&facts.to_string(), "again").unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(again, facts);
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        let wrong = |text: &str| {
            AbiFacts::parse(text, "x.abi")
                .expect_err("wrong")
                .to_string()
        };
        assert_eq!(
            wrong("family lam"),
            "x.abi: line 1: expected mpich, openmpi or standard"
        );
        assert_eq!(
            wrong("family mpich\n\nhandle MPI_COMM_WORLD x"),
            "x.abi: line 3: expected a number, @symbol or *symbol"
        );
        assert_eq!(
            wrong("family mpich\nstatus 20 8"),
            "x.abi: line 2: expected the size of MPI_Status and three offsets"
        );
        assert_eq!(
            wrong("family mpich\nwhatever"),
            "x.abi: line 2: expected a word and what it tells"
        );
        assert_eq!(wrong(""), "x.abi: line 1: expected a line with the family");
    }
}
