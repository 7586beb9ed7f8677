//! How functions of the OTF2 library are declared and found.

use std::ffi::{c_int, c_void};

/// Result of most functions; 0 is success.
pub(super) type ErrorCode = c_int;

/// An object of the library, which only the library looks into.
pub(super) type Object = *mut c_void;

/// Declares a struct of functions of the library: names in the struct, symbols, types.
macro_rules! functions {
    ($(#[$doc:meta])* $struct:ident: $($name:ident = $symbol:literal ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$doc])*
        pub(in crate::otf2) struct $struct {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $struct {
            /// The functions of a library that was loaded, or the name of one that is missing.
            pub(in crate::otf2) fn of(library: *mut std::ffi::c_void) -> Result<$struct, &'static str> {
                Ok($struct {
                    $($name: {
                        // SAFETY: The library is loaded for good, and the name ends with a zero.
                        let address = unsafe { libc::dlsym(library, concat!($symbol, "\0").as_ptr().cast()) };
                        if address.is_null() {
                            return Err($symbol);
                        }
                        // SAFETY: This is the address of the C function of that name, whose types the library's documentation states for all
                        // versions from 3.0 on.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(address)
                        }
                    },)*
                })
            }
        }
    };
}

pub(super) use functions;
