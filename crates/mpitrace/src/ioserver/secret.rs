//! Authentication of connections to a data server by TCP: both ends must have the same secret. Both ends show that they have it
//! without sending
//! it; what follows is neither encrypted nor signed.
//!
//! ```text
//! asker   0 u32 magic | 4 u32 zero | 8 32 random bytes | 40 24 zeros
//! server  0 32 random bytes | 32 HMAC-SHA256 of "dataserver", the asker's and its own random bytes, by the secret
//! asker   0 HMAC-SHA256 of "ioserver", its own and the server's random bytes, by the secret
//! server  an answer without bytes: no error, or EACCES
//! ```

use super::address::Address;
use super::wire;
use crate::failure::Failure;
use crate::system::random;
use hmac::{Hmac, KeyInit, Mac};
use rustix::io::Errno;
use sha2::Sha256;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

const HELLO: [u8; 8] = *b"MPH1\0\0\0\0";
const HELLO_SIZE: usize = 64;
/// Bytes of a random number, and of what is shown.
const PROOF_BYTES: usize = 32;
/// Fewest bytes of a secret, and most.
const LENGTH: std::ops::RangeInclusive<u64> = 16..=4096;

/// Secret that both ends share, from a file that only its owner can read.
#[derive(Clone)]
pub struct Secret {
    key: Vec<u8>,
    /// The file that the secret was read from.
    pub path: PathBuf,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret").field("path", &self.path).finish()
    }
}

impl Secret {
    /// The secret in a file.
    ///
    /// # Errors
    /// When the file is not there, is another user's, can be read by others, or is too short or too long.
    pub fn read(path: &Path) -> Result<Secret, Failure> {
        let failed = |why: String| Failure::Data(format!("{}: {why}", path.display()));
        let file = trace_model::files::open_regular(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => failed(format!(
                "{e}: a secret of one's own is made by (umask 077; openssl rand -hex 32 >FILE)"
            )),
            _ => Failure::file(path, e),
        })?;
        let found = file.metadata().map_err(|e| Failure::file(path, e))?;
        if found.uid() != trace_model::files::user() {
            return Err(failed(format!("belongs to user {}", found.uid())));
        }
        if found.mode() & 0o077 != 0 {
            return Err(failed("others may use it: chmod 600 is needed".to_owned()));
        }
        let mut key = Vec::new();
        let most = LENGTH.end() + 1;
        let read = file.take(most).read_to_end(&mut key);
        read.map_err(|e| Failure::file(path, e))?;
        while key.last().is_some_and(u8::is_ascii_whitespace) {
            key.pop();
        }
        if !LENGTH.contains(&(key.len() as u64)) {
            let (least, most) = LENGTH.into_inner();
            return Err(failed(format!(
                "a secret of {least} to {most} bytes is expected, not of {}",
                key.len()
            )));
        }
        Ok(Secret {
            key,
            path: path.to_owned(),
        })
    }

    /// The secret in the user's own file, `$XDG_CONFIG_HOME/mpitrace/secret` or `~/.config/mpitrace/secret`, which is made if it is not there.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and a failure when the file cannot be created.
    pub fn of_user() -> Result<Secret, Failure> {
        let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".config"));
        let folder = folder.filter(|folder| folder.is_absolute()).or_else(home);
        let folder = folder.ok_or_else(|| {
            Failure::Call(
                "there is no HOME to keep a secret in: --secret FILE is needed".to_owned(),
            )
        })?;
        let path = folder.join("mpitrace").join("secret");
        match Self::make(&path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(Failure::file(&path, e)),
            _ => Self::read(&path),
        }
    }

    /// The secret for connections to data servers at these addresses: that in `file`, or the user's own. `None` if all are Unix
    /// sockets, which need none.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read) and [`of_user`](Self::of_user).
    pub fn for_addresses<'a>(
        file: Option<&Path>,
        addresses: impl IntoIterator<Item = &'a Address>,
    ) -> Result<Option<Secret>, Failure> {
        let mut addresses = addresses.into_iter();
        if !addresses.any(|address| matches!(address, Address::Tcp(_))) {
            return Ok(None);
        }
        match file {
            Some(path) => Secret::read(path).map(Some),
            None => Secret::of_user().map(Some),
        }
    }

    /// Makes a file with a new secret, complete from its beginning.
    pub fn make(path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let text = random::digits::<PROOF_BYTES>()?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(file, "{text}")?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|e| e.error)?;
        File::open(folder)?.sync_all()
    }

    fn shown(&self, by: &str, asker: &[u8], server: &[u8]) -> Hmac<Sha256> {
        let mut shown = match Hmac::<Sha256>::new_from_slice(&self.key) {
            Ok(shown) => shown,
            Err(_) => unreachable!("keys of all lengths are taken"),
        };
        for part in [by.as_bytes(), asker, server] {
            shown.update(part);
        }
        shown
    }

    /// The asker's part: shows that it has the secret and sees that the server has it.
    ///
    /// # Errors
    /// When the server has another one, or is no data server.
    pub fn ask(&self, stream: &mut (impl Read + Write)) -> io::Result<()> {
        let own = random::bytes::<PROOF_BYTES>()?;
        let mut hello = [0; HELLO_SIZE];
        hello[..8].copy_from_slice(&HELLO);
        hello[8..8 + PROOF_BYTES].copy_from_slice(&own);
        stream.write_all(&hello)?;
        let mut answer = [0; 2 * PROOF_BYTES];
        stream.read_exact(&mut answer).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => refused("it expects no shared secret"),
            _ => e,
        })?;
        let (theirs, shown) = answer.split_at(PROOF_BYTES);
        let expected = self.shown("dataserver", &own, theirs);
        if expected.verify_slice(shown).is_err() {
            let message = format!("its secret is not that of {}", self.path.display());
            return Err(refused(&message));
        }
        let shown = self.shown("ioserver", &own, theirs).finalize();
        stream.write_all(&shown.into_bytes())?;
        wire::answered(stream, &mut [])??;
        Ok(())
    }

    /// The server's part.
    ///
    /// # Errors
    /// When the asker does not show that it has the secret.
    pub fn check(&self, stream: &mut (impl Read + Write), until: wire::Until) -> io::Result<()> {
        let mut hello = [0; HELLO_SIZE];
        until.read(stream, &mut hello)?;
        let (magic, rest) = hello.split_at(HELLO.len());
        if magic != HELLO {
            return Err(refused("no mpitrace ioserver, or one without a secret"));
        }
        let theirs = &rest[..PROOF_BYTES];
        let own = random::bytes::<PROOF_BYTES>()?;
        let shown = self.shown("dataserver", theirs, &own).finalize();
        let mut answer = [0; 2 * PROOF_BYTES];
        answer[..PROOF_BYTES].copy_from_slice(&own);
        answer[PROOF_BYTES..].copy_from_slice(&shown.into_bytes());
        stream.write_all(&answer)?;
        let mut shown = [0; PROOF_BYTES];
        let read = until.read(stream, &mut shown);
        read.map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => refused("it does not take this server's secret"),
            _ => e,
        })?;
        let expected = self.shown("ioserver", theirs, &own);
        if expected.verify_slice(&shown).is_err() {
            drop(wire::answer(stream, Err(Errno::ACCESS), &[]));
            return Err(refused("it does not have the secret"));
        }
        wire::answer(stream, Ok(0), &[])
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    fn until() -> wire::Until {
        wire::Until::after(Duration::from_secs(5))
    }

    fn secret(text: &str) -> Secret {
        Secret {
            key: text.into(),
            path: "here".into(),
        }
    }

    /// Lets both ends of a connection prove their secrets, and gives both results.
    fn meet(asker: Secret, server: Secret) -> (io::Result<()>, io::Result<()>) {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let asking = std::thread::spawn(move || asker.ask(&mut ours));
        let checked = server.check(&mut theirs, until());
        drop(theirs);
        (asking.join().unwrap(), checked)
    }

    #[test]
    fn both_ends_must_have_the_secret() {
        let (asked, checked) = meet(secret("0123456789abcdef"), secret("0123456789abcdef"));
        assert!(asked.is_ok() && checked.is_ok(), "{asked:?} {checked:?}");
        let (asked, checked) = meet(secret("0123456789abcdef"), secret("0123456789abcdeF"));
        assert_eq!(
            asked.unwrap_err().to_string(),
            "its secret is not that of here"
        );
        assert_eq!(
            checked.unwrap_err().to_string(),
            "it does not take this server's secret"
        );
    }

    /// One who does not look whether the server has the secret is refused all the same, and so is what was shown before.
    #[test]
    fn what_is_shown_by_who_does_not_have_it_is_refused() {
        let server = secret("0123456789abcdef");
        let mut heard: Vec<[u8; PROOF_BYTES]> = Vec::new();
        for shown in [[0; PROOF_BYTES], [7; PROOF_BYTES]] {
            let (mut ours, mut theirs) = UnixStream::pair().unwrap();
            let server = server.clone();
            let checking = std::thread::spawn(move || server.check(&mut theirs, until()));
            let mut hello = [0; HELLO_SIZE];
            hello[..8].copy_from_slice(&HELLO);
            ours.write_all(&hello).unwrap();
            let mut answer = [0; 2 * PROOF_BYTES];
            ours.read_exact(&mut answer).unwrap();
            // The second time, what the server showed the first time.
            ours.write_all(heard.first().unwrap_or(&shown)).unwrap();
            heard.push(answer[PROOF_BYTES..].try_into().unwrap());
            let answer = wire::answered(&mut ours, &mut []).unwrap();
            assert_eq!(answer, Err(Errno::ACCESS));
            assert!(checking.join().unwrap().is_err());
        }
        assert_ne!(heard[0], heard[1]);
    }

    #[test]
    fn only_the_users_own_file_is_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/secret");
        Secret::make(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        let made = Secret::read(&path).unwrap();
        assert_eq!(made.key.len(), 2 * PROOF_BYTES);
        // It is not made anew.
        assert!(Secret::make(&path).is_err());
        assert_eq!(Secret::read(&path).unwrap().key, made.key);
        let why = |path: &Path| format!("{:?}", Secret::read(path).unwrap_err());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(why(&path).contains("others may use it"));
        fs::write(&path, "short\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(why(&path).contains("16 to 4096 bytes"));
        assert!(why(&folder.path().join("none")).contains("is made by"));
    }
}
