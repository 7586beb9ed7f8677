"""Pictures of traces."""

from __future__ import annotations

import os
from typing import Union


class Picture:
    """A picture of a trace. A notebook shows it."""

    def __init__(self, svg: str, notes: list[str]) -> None:
        self.svg = svg
        """The picture as SVG."""
        self.notes = notes
        """What the picture does not show, in words."""

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<picture of {len(self.svg)} bytes of SVG>"


def write(path: Union[str, os.PathLike[str]], content: bytes) -> None:
    """Writes a file whole or not at all: under another name first."""
    path = os.fspath(path)
    pending = f"{path}.{os.getpid()}.part"
    try:
        with open(pending, "xb") as file:
            file.write(content)
        os.replace(pending, path)
    except BaseException:
        if os.path.exists(pending):
            os.unlink(pending)
        raise
