//! `mpitrace view` as a process that is asked over connections: who may ask, what comes back, what it withstands.

mod access;
mod comparison;
mod exports;
mod load;
mod opening;
mod server;
mod trouble;
mod waits;
