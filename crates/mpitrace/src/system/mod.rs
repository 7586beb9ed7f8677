//! What the kernel gives: signals that end a command, and random bytes.

pub mod random;
pub mod signals;
