//! Setuid and setgid bits and capabilities of files that somebody else writes to: they go as they go in a plain directory.

use super::instance::Instance;
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A user who owns nothing, and that user's group.
const NOBODY: u32 = 65_534;
/// Changes made to a file `$0`.
const CHANGES: [&str; 6] = [
    r#"printf x 1<>"$0""#,
    r#"printf x >>"$0""#,
    r#"printf x >"$0""#,
    r#"truncate -s 1 "$0""#,
    r#"fallocate -l 10000 "$0""#,
    r#"dd if=/dev/zero of="$0" bs=4k count=3 conv=notrunc 2>/dev/null"#,
];
/// Owners, groups and rights before.
const BEFORE: [(u32, u32, u32); 6] = [
    (0, 0, 0o6777),
    (0, 0, 0o4766),
    (0, 0, 0o2767),
    (0, NOBODY, 0o2777),
    (0, NOBODY, 0o2767),
    (NOBODY, NOBODY, 0o6755),
];

/// Runs a change as a user; gives the rights that the file has then.
fn rights_after(file: &Path, change: &str, user: u32) -> u32 {
    let mut shell = Command::new("sh");
    shell.args(["-c", change]).arg(file);
    if user != 0 {
        shell.uid(user).gid(user);
    }
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{change}: {output:?}");
    let name = file.file_name().unwrap();
    let seen = fs::metadata(file).unwrap().mode();
    let listed = Command::new("stat").args(["-c", "%a"]).arg(file).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    assert_eq!(listed.trim(), format!("{:o}", seen & 0o7777), "{name:?}");
    seen & 0o7777
}

/// Gives a file the capability to bind low ports.
fn give_capability(file: &Path) {
    let name = CString::new(file.as_os_str().as_bytes()).unwrap();
    // Version 2 of the attribute: five numbers, of which the second has the lower permitted ones.
    let value: Vec<u8> = [0x0200_0000_u32, 1 << 10, 0, 0, 0]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let attribute = c"security.capability".as_ptr();
    // SAFETY: names end with zeros, and the value is as long as is said.
    let set = unsafe {
        libc::setxattr(
            name.as_ptr(),
            attribute,
            value.as_ptr().cast(),
            value.len(),
            0,
        )
    };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

fn has_capability(file: &Path) -> bool {
    let name = CString::new(file.as_os_str().as_bytes()).unwrap();
    let attribute = c"security.capability".as_ptr();
    // SAFETY: names end with zeros, and no value is asked for.
    unsafe { libc::getxattr(name.as_ptr(), attribute, std::ptr::null_mut(), 0) > 0 }
}

pub fn as_in_a_plain_directory(name: &str, options: &[&str], base: &str) {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        test_support::skip("only root's server writes for others");
        return;
    }
    let Some(instance) = Instance::start(name, options) else {
        return;
    };
    let (plain, mount) = (instance.plain(), instance.mount());
    let make = |folder: &Path, (user, group, mode): (u32, u32, u32), number: usize| {
        let file = folder.join(number.to_string());
        fs::write(&file, "contents").unwrap();
        chown(&file, Some(user), Some(group)).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        file
    };
    let (mut number, mut cleared) = (0, 0);
    for before in BEFORE {
        for change in CHANGES {
            for user in [0, NOBODY] {
                number += 1;
                let [expected, found] = [&plain, &mount]
                    .map(|at| rights_after(&make(at, before, number), change, user));
                let found_in_base =
                    fs::metadata(instance.base().join(base).join(number.to_string()));
                let in_base = found_in_base.unwrap().mode() & 0o7777;
                let what = format!("{before:?}, user {user}: {change}");
                assert_eq!(format!("{found:o}"), format!("{expected:o}"), "{what}");
                assert_eq!(format!("{in_base:o}"), format!("{expected:o}"), "{what}");
                cleared += usize::from(expected != before.2);
            }
        }
    }
    // The plain directory does clear bits, and does not always.
    assert!(cleared > 10 && cleared < number, "{cleared} of {number}");
    // Of a new owner, a file has neither.
    let file = make(&mount, (0, 0, 0o6777), 0);
    chown(&file, Some(NOBODY), None).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o777);
    // Rights that the owner sets are kept.
    let file = make(&mount, (NOBODY, NOBODY, 0o644), 1);
    assert_eq!(rights_after(&file, r#"chmod 6755 "$0""#, NOBODY), 0o6755);
    let stored = instance.base().join(base).join("1");
    give_capability(&stored);
    assert!(has_capability(&stored));
    rights_after(&file, CHANGES[0], NOBODY);
    assert!(!has_capability(&stored));
    instance.unmount();
}
