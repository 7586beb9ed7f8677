//! How a call of the program comes to us and goes on to the real MPI library: exported names that jump through slots
//! ([`entry`]) into generated wrappers ([`generated`]), which call what was found behind us ([`library`]). Besides these, ways
//! that go round exported names: `dlsym` ([`lookup`]), and Fortran bindings that call for themselves ([`fortran`]).

pub(crate) mod entry;
pub(crate) mod fortran;
pub(crate) mod generated;
pub(crate) mod library;
pub(crate) mod lookup;
