"""A live view in the browser, by viser: of a result, or of a run that is still going on."""

import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any

import numpy as np

from poinsot.errors import InputError, PoinsotError
from poinsot.result import Result
from poinsot.viz.live import LiveScene
from poinsot.viz.stage import Stage

RATE = 30  # pictures a second


class Viewer:
    """A server that shows a mechanism; open `url` in a browser, `close` it when done."""

    def __init__(self, result: Result, *, port: int = 8080, host: str = "127.0.0.1") -> None:
        stage = Stage.of(result)
        self._server = _server(result.model, host, port)
        self._closed, self._lock = Event(), Lock()
        self._scene = LiveScene(self._server.scene, stage)
        self._add_controls(stage)
        self._server.on_client_connect(self._look)
        self._draw()
        Thread(target=self._play, daemon=True).start()

    @property
    def url(self) -> str:
        """Where the view is."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    @property
    def time(self) -> float:
        """The time that is shown [s]."""
        return float(self._slider.value)

    def show(self, time: float) -> None:
        """Show the mechanism at a time [s]."""
        self._slider.value = float(np.clip(time, self._slider.min, self._slider.max))

    def update(self, result: Result) -> None:
        """Show a longer run of the same model; who looks at its end stays there."""
        stage = Stage.of(result)
        with self._lock:
            at_end = self._slider.value >= self._slider.max
            self._slider.max = float(stage.frames.time[-1])
            self._scene.extend(stage)
        if at_end and not self._playing.value:
            self.show(float(stage.frames.time[-1]))
        self._draw()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the viewer is closed, for so many seconds at most; returns whether it is."""
        return self._closed.wait(seconds)

    def close(self) -> None:
        """Stop the server."""
        self._closed.set()
        self._server.stop()

    def _add_controls(self, stage: Stage) -> None:
        gui, time = self._server.gui, stage.frames.time
        start, end = float(time[0]), float(time[-1])
        step = (end - start) / 1000 or 1e-3
        self._slider = gui.add_slider("Time [s]", start, max(end, start + step), step, start)
        self._playing = gui.add_checkbox("Play", False)
        self._speed = gui.add_number("Speed", stage.pace, min=1e-6, step=1e-6)
        self._loop = gui.add_checkbox("Loop", True)
        self._shown = {
            name: gui.add_checkbox(label, on)
            for name, label, on in (
                ("traces", "Traces", True),
                ("joint", "Joints", True),
                ("inertia", "Boxes of inertia", False),
                ("forces", "Forces of joints", False),
                ("axes", "Axes", False),
            )
        }
        for control in (self._slider, *self._shown.values()):
            control.on_update(lambda _: self._draw())

    def _look(self, client: Any) -> None:
        """Place the eye of a browser that has just connected."""
        stage = self._scene.stage
        target, reach = (stage.low + stage.high) / 2, np.linalg.norm(stage.high - stage.low)
        client.camera.position = target + 1.1 * reach * stage.eye
        client.camera.look_at = target

    def _draw(self) -> None:
        """Show the time of the slider."""
        with self._lock, self._server.atomic():
            times = self._scene.stage.frames.time
            frame = int(np.argmin(abs(times - self._slider.value)))
            self._scene.move(frame, {name: box.value for name, box in self._shown.items()})

    def _play(self) -> None:
        last = time.monotonic()
        while not self._closed.wait(1 / RATE):
            now = time.monotonic()
            ahead, last = (now - last) * self._speed.value, now
            if self._playing.value:
                self._advance(ahead)

    def _advance(self, seconds: float) -> None:
        start, end = self._slider.min, self._slider.max
        if self._slider.value + seconds <= end:
            self.show(self._slider.value + seconds)
        elif self._loop.value:
            self.show(start)
        else:
            self.show(end)
            self._playing.value = False


def view(
    result: Result, *, port: int = 8080, host: str = "127.0.0.1", open_browser: bool = True
) -> Viewer:
    """Show a result in the browser, with a slider of time; needs `poinsot[viewer]`.

    The viewer runs beside the program: `wait()` holds a script until it is closed, `close()` ends
    it. If the port is taken, the next free one is used: see `url`.
    """
    viewer = Viewer(result, port=port, host=host)
    if open_browser:
        _open(viewer.url)
    return viewer


def follow(
    load: Callable[[], Result],
    *,
    every: float = 1.0,
    port: int = 8080,
    host: str = "127.0.0.1",
    open_browser: bool = True,
) -> Viewer:
    """Show a run that is still going on: `load` returns what there is of it, again and again.

    Parameters
    ----------
    load
        For example ``lambda: ps.load("run.nc")``. While it fails, the last result stays.
    every
        Seconds between two loads.
    """
    viewer = view(load(), port=port, host=host, open_browser=open_browser)

    def reload() -> None:
        shown = -1
        while not viewer.wait(every):
            try:
                result = load()
            except (OSError, PoinsotError):  # the file is being written: next time
                continue
            if result.time.size != shown:
                shown = result.time.size
                viewer.update(result)

    Thread(target=reload, daemon=True).start()
    return viewer


def _server(label: str, host: str, port: int) -> Any:
    try:
        import viser
    except ImportError:
        raise InputError(
            "the live viewer needs viser: pip install 'poinsot[viewer]'; "
            "write_page(result, path) writes a page that needs nothing"
        ) from None
    server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    server.gui.configure_theme(show_share_button=False)  # nothing leaves this machine
    return server


def _open(url: str) -> None:
    import webbrowser

    webbrowser.open(url)
