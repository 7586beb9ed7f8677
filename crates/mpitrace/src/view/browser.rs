//! Opens the page in a browser, or prints the lines to copy.

use super::ending::Ending;
use crate::system::signals::Signals;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Opens the page in the user's browser, if there is a screen. Arguments of processes can be seen by everybody, so the
/// browser is given a file that only this user can read, and which leads to the address.
pub fn open(address: &str, signals: &Signals, ending: &Ending) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !(is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) || is_set("SSH_CONNECTION") {
        return;
    }
    let Ok(file) = ending.makes(|| write_file(address), PathBuf::clone) else {
        return;
    };
    let mut command = Command::new("xdg-open");
    command
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    signals.release_in(&mut command);
    // If it cannot be opened, the address stands on the terminal.
    if let Ok(mut child) = command.spawn() {
        let waiter = std::thread::Builder::new().name("browser".into());
        drop(waiter.spawn(move || child.wait()));
    }
}

/// A page that goes on to the address at once.
fn write_file(address: &str) -> std::io::Result<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.is_dir());
    let path = folder
        .unwrap_or_else(std::env::temp_dir)
        .join(format!("mpitrace-view-{}.html", std::process::id()));
    let mut file = std::fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    // The address has no characters that mean anything in HTML: a host, a port, a path that was checked, hexadecimal digits.
    writeln!(
        file,
        "<!doctype html><meta charset=utf-8><title>mpitrace view</title>\
         <meta http-equiv=refresh content=\"0; url={address}\"><a href=\"{address}\">mpitrace view</a>"
    )?;
    Ok(path)
}

/// Command to type on the user's own machine to reach a port or a socket of this machine, if the login is by ssh.
pub fn tunnel(port: Option<u16>, socket: Option<&Path>) -> Option<String> {
    let connection = std::env::var("SSH_CONNECTION").ok()?;
    let user = std::env::var("USER").unwrap_or_else(|_| "USER".into());
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    Some(tunnel_line(&connection, &user, &host, port, socket))
}

fn tunnel_line(
    connection: &str,
    user: &str,
    host: &str,
    port: Option<u16>,
    socket: Option<&Path>,
) -> String {
    // Of the client and of this machine, each with its port.
    let ssh_port = connection.split(' ').nth(3).unwrap_or("22");
    let option = match ssh_port {
        "22" | "" => String::new(),
        port => format!("-p {port} "),
    };
    let from = port.unwrap_or(SOCKET_PORT);
    let to = match socket {
        Some(path) => quoted(&path.display().to_string()),
        None => format!("127.0.0.1:{from}"),
    };
    format!("ssh {option}-N -L {from}:{to} {user}@{host}")
}

/// The port that stands for a socket on the user's own machine; any other will do.
pub const SOCKET_PORT: u16 = 8686;

/// Text for a shell.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    match text.bytes().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_ssh() {
        let line = |connection, port, socket: Option<&str>| {
            tunnel_line(connection, "me", "login3", port, socket.map(Path::new))
        };
        assert_eq!(
            line("10.0.0.1 5000 10.0.0.2 22", Some(43211), None),
            "ssh -N -L 43211:127.0.0.1:43211 me@login3"
        );
        assert_eq!(
            line("10.0.0.1 5000 10.0.0.2 2222", None, Some("/tmp/a b")),
            "ssh -p 2222 -N -L 8686:'/tmp/a b' me@login3"
        );
    }
}
