"""The command ``mpitrace``: ``python -m mpitrace``, and the script of that name that pip installs."""

import os
import signal
import sys
import sysconfig

from ._native import run_command


def main() -> None:
    """Runs the command with the arguments of this process, and ends the process as the command ends."""
    # What Python has changed in this process, and programs that are started here would inherit.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if "LC_CTYPE" in os.environ and not _was_given(b"LC_CTYPE"):
        del os.environ["LC_CTYPE"]
    run_command(_script(), sys.argv[1:])


def _was_given(variable: bytes) -> bool:
    """Whether the process began with this variable: Python sets one itself in the locale "C"."""
    try:
        with open("/proc/self/environ", "rb") as given:
            return any(entry.startswith(variable + b"=") for entry in given.read().split(b"\0"))
    except OSError:
        return True


def _script() -> str:
    """The script that starts the command, which is beside ``lib/libtrace.so`` where pip has put both."""
    if os.path.basename(sys.argv[0]) == "__main__.py":
        return os.path.join(sysconfig.get_path("scripts"), "mpitrace")
    return os.path.abspath(sys.argv[0])


if __name__ == "__main__":
    main()
