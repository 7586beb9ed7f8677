//! The floating-point environment of the program, set aside while the recorder computes.
//!
//! Rust takes for granted that floating-point exceptions do not trap and that results are rounded to nearest. A program
//! may have it otherwise (gfortran's `-ffpe-trap`, `feenableexcept`, flush-to-zero), and may look afterwards at the flags of
//! what it computed itself (gfortran's STOP does).

use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Room for glibc's `fenv_t`. On x86-64 it is the x87 environment (28 bytes) and MXCSR, on aarch64 FPCR and FPSR, 4 bytes each.
#[repr(C)]
struct FloatingEnvironment([u32; 8]);

unsafe extern "C" {
    fn fegetenv(environment: *mut FloatingEnvironment) -> c_int;
    fn fesetenv(environment: *const FloatingEnvironment) -> c_int;
}

/// glibc's `FE_DFL_ENV`: no traps, no flags, rounding to nearest.
const DEFAULT: *const FloatingEnvironment = usize::MAX as *const FloatingEnvironment;

/// While this lives the default environment holds; then the program's is back, flags included.
pub struct SetAside(FloatingEnvironment);

impl SetAside {
    /// Sets the program's environment aside.
    pub fn new() -> SetAside {
        let mut program = MaybeUninit::uninit();
        // SAFETY: fegetenv fills what it is given; the default environment is a value that fesetenv knows.
        unsafe {
            fegetenv(program.as_mut_ptr());
            fesetenv(DEFAULT);
            SetAside(program.assume_init())
        }
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        // SAFETY: an environment that fegetenv gave.
        unsafe { fesetenv(&self.0) };
    }
}
