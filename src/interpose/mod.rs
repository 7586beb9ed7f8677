//! Interposition of the program's calls: exported names ([`exports`]) that jump through slots ([`entry`]) into generated wrappers
//! ([`wrappers`]), which call the real MPI library. Besides these, ways that go round exported names: `dlsym` ([`dlsym`]), and
//! Fortran bindings that call for themselves ([`fortran`]). The answer to who only asks whether a function is there ([`weak`]). And the
//! way out of a call that is no return: [`longjmp`].

pub(crate) mod dlsym;
pub(crate) mod entry;
pub(crate) mod exports;
pub(crate) mod fortran;
pub(crate) mod longjmp;
pub(crate) mod weak;
pub(crate) mod wrappers;
