//! What the program of this process is called, in names of files and in reports.

use std::sync::OnceLock;

/// The name: of the program's file without its folder; of what an interpreter runs, that of the script without folder and ending, or of
/// the module. It stays what it was when this was asked first: after chroot, or when the main thread has ended, the system no longer tells.
pub fn name() -> String {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(look).clone()
}

/// The name, as the system tells it now.
fn look() -> String {
    let file = std::env::current_exe()
        .ok()
        .and_then(|path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        })
        .unwrap_or_else(|| "program".to_owned());
    let arguments = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let arguments = arguments.split(|&byte| byte == 0).skip(1);
    let arguments: Vec<String> = arguments
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .take_while(|argument| !argument.is_empty())
        .collect();
    script(&file, &arguments).unwrap_or(file)
}

/// An interpreter whose scripts are known by their own names.
struct Interpreter {
    /// The name of its file, or the beginning of it before a version.
    name: &'static str,
    /// Options that are followed by a value of their own.
    with_value: &'static [&'static str],
    /// Option that is followed by the name of a module, which stands in place of a script.
    module: Option<&'static str>,
    /// Options that are followed by the program itself: it has no name then.
    program: &'static [&'static str],
}

const INTERPRETERS: [Interpreter; 5] = [
    Interpreter {
        name: "python",
        with_value: &["-W", "-X", "--check-hash-based-pycs"],
        module: Some("-m"),
        program: &["-c"],
    },
    Interpreter {
        name: "pypy",
        with_value: &["-W", "-X"],
        module: Some("-m"),
        program: &["-c"],
    },
    Interpreter {
        name: "julia",
        with_value: &["-C", "-H", "-J", "-L", "-t", "-p"],
        module: None,
        program: &["-e", "-E"],
    },
    Interpreter {
        name: "perl",
        with_value: &["-I"],
        module: None,
        program: &["-e", "-E"],
    },
    Interpreter {
        name: "ruby",
        with_value: &["-I", "-r"],
        module: None,
        program: &["-e"],
    },
];

/// Modules of Python that run a script: its name is behind them.
const RUNNERS: [&str; 2] = ["mpi4py", "mpi4py.run"];

/// The name of the script or module that the interpreter in `file` runs with these arguments; `None` where it is none, or has no script.
fn script(file: &str, arguments: &[String]) -> Option<String> {
    let is_it = |interpreter: &&Interpreter| {
        let version = file.strip_prefix(interpreter.name);
        version.is_some_and(|v| v.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    };
    let interpreter = INTERPRETERS.iter().find(is_it)?;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let argument = argument.as_str();
        if interpreter.module == Some(argument) {
            let module = arguments.next()?;
            let script = arguments.find(|argument| !argument.starts_with('-'));
            return match script.filter(|_| RUNNERS.contains(&module.as_str())) {
                Some(script) => stem(script),
                None => Some(module.clone()),
            };
        }
        if interpreter.program.contains(&argument) {
            return None;
        }
        if interpreter.with_value.contains(&argument) {
            arguments.next();
        } else if !argument.starts_with('-') {
            return stem(argument);
        }
    }
    None
}

/// The name of a file without its folder and its ending.
fn stem(path: &str) -> Option<String> {
    let stem = std::path::Path::new(path).file_stem()?;
    Some(stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::script;

    #[test]
    fn scripts_and_modules_have_names() {
        let named = |file: &str, line: &str| {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            script(file, &arguments)
        };
        for (file, line, name) in [
            ("python3.11", "/home/me/heat.py 10 20", "heat"),
            ("python3", "-u -W ignore -X dev heat.py", "heat"),
            ("python", "-m mpi4py.bench ringtest", "mpi4py.bench"),
            ("python3", "-m mpi4py heat.v2.py -n 3", "heat.v2"),
            ("julia", "-t 4 --project=. wave.jl", "wave"),
            ("perl", "-I lib sum.pl", "sum"),
        ] {
            assert_eq!(named(file, line).as_deref(), Some(name), "{file} {line}");
        }
        for (file, line) in [
            ("python3", "-c print()"),
            ("python3", "-i"),
            ("lmp", "-in in.lj"),
            ("python3-config", "x"),
            ("perl", "-e 1 x.pl"),
        ] {
            assert_eq!(named(file, line), None, "{file} {line}");
        }
    }
}
