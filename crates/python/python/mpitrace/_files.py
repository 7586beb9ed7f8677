"""Names of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Union

FileName = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def existing_files(files: Iterable[FileName]) -> list[str]:
    """Names of files that must be there. Raises ``OSError`` for one that is not."""
    names = [os.fsdecode(name) for name in files]
    for name in names:
        os.stat(name)
    return names
