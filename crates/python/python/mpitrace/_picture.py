"""Pictures of traces."""

from __future__ import annotations


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

