//! `mpitrace ioserver`: the file system is what the directory is, its trace tells everything, and it comes to an end.
//!
//! Needs FUSE; says so and passes where that is not there.

mod instance;
mod privileges;
mod random;
mod ranks;
mod strangers;
mod trace;
mod trouble;

#[test]
fn random_operations_in_direct_mode() {
    random::run("direct", &["--max-write", "8K"]);
}

#[test]
fn random_operations_through_the_page_cache() {
    random::run("through", &["--mode", "through"]);
}

#[test]
fn random_operations_striped() {
    random::run("striped", &["--servers", "3", "--stripe", "5000"]);
}

#[test]
fn random_operations_striped_by_tcp_through_the_page_cache() {
    let options = [
        "--mode",
        "through",
        "--servers",
        "2",
        "--stripe",
        "777",
        "--listen",
        "tcp",
        "--parallel",
    ];
    random::run("tcp", &options);
}

#[test]
fn trace_of_requests() {
    trace::plain();
}

#[test]
fn traces_of_stripes() {
    trace::striped();
}

#[test]
fn client_is_killed() {
    trouble::killed_client();
}

#[test]
fn data_server_is_killed() {
    trouble::killed_data_server();
}

#[test]
fn server_is_killed() {
    trouble::killed_server();
}

#[test]
fn signals_end_it() {
    trouble::ended_by_signals();
}

#[test]
fn signals_end_it_while_in_use() {
    trouble::ended_while_in_use();
}

#[test]
fn impossible_places_are_refused() {
    trouble::refused();
}

#[test]
fn data_servers_run_by_themselves() {
    trouble::data_servers_of_their_own();
}

#[test]
fn requests_of_mpich_have_their_calls() {
    ranks::mpich();
}

#[test]
fn requests_of_openmpi_have_their_calls() {
    ranks::openmpi();
}

#[test]
fn setuid_bits_of_a_plain_directory() {
    privileges::as_in_a_plain_directory("setuid", &[], "");
}

#[test]
fn setuid_bits_through_the_page_cache() {
    privileges::as_in_a_plain_directory("cached", &["--mode", "through"], "");
}

#[test]
fn setuid_bits_of_striped_files() {
    privileges::as_in_a_plain_directory("stripedbits", &["--servers", "2"], "names");
}
