"""Figures that notebooks show, whether or not `matplotlib.pyplot` was imported."""

from io import BytesIO

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure of Matplotlib that knows how to be shown."""

    def _repr_png_(self) -> bytes:
        """Return the figure as a notebook shows it."""
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()
