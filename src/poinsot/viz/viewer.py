"""A live view in the browser, by viser: of a result, or of a run that is still going on."""

import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, PoinsotError
from poinsot.result import Result
from poinsot.so3 import matrix_to_quat
from poinsot.viz.meshes import mesh
from poinsot.viz.solids import Solid, bar
from poinsot.viz.stage import Stage

Array = NDArray[np.float64]

RATE = 30  # pictures a second
FORCE_COLOUR = "#c2185b"


class Viewer:
    """A server that shows a mechanism; open `url` in a browser, `close` it when done."""

    def __init__(self, result: Result, *, port: int = 8080, host: str = "127.0.0.1") -> None:
        self._stage = Stage.of(result)
        self._server = _server(result.model, host, port)
        self._closed, self._lock = Event(), Lock()
        self._bodies: dict[str, Any] = {}
        self._solids: dict[str, tuple[Solid, Any]] = {}
        self._lines: dict[str, Any] = {}
        self._traces: dict[str, Any] = {}
        self._add_controls()
        self._add_things()
        self._server.on_client_connect(self._look)
        self._draw()
        self._clock = Thread(target=self._play, daemon=True)
        self._clock.start()

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
            self._stage = stage
            self._slider.max = float(stage.frames.time[-1])
            self._add_things()
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

    # -- what is there ------------------------------------------------------------------------

    def _add_controls(self) -> None:
        gui, film = self._server.gui, self._stage.frames
        start, end = float(film.time[0]), float(film.time[-1])
        step = (end - start) / 1000 or 1e-3
        self._slider = gui.add_slider("Time [s]", start, max(end, start + step), step, start)
        self._playing = gui.add_checkbox("Play", False)
        self._speed = gui.add_number("Speed", self._stage.pace, min=1e-6, step=1e-6)
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

    def _add_things(self) -> None:
        """Put bodies, joints, lines and traces on the scene, as far as they are new."""
        scene, stage = self._server.scene, self._stage
        if not self._bodies:
            size, grain = stage.size, stage.grain
            scene.add_grid(
                "/grid",
                *(20 * size, 20 * size),
                cell_size=size / 4,
                section_size=size,
                position=(0.0, 0.0, float(stage.low[2])),
            )
            for k, name in enumerate(stage.frames.bodies):
                self._bodies[name] = scene.add_frame(
                    f"/body{k}",
                    axes_length=0.17 * grain,
                    axes_radius=0.005 * grain,
                    show_axes=False,
                )
            for k, strut in enumerate(stage.struts):
                self._lines[strut.name] = self._add_mesh(f"/strut{k}", self._stage.strut(strut, 0))
            for k, pin in enumerate(stage.pins):
                arrow = bar("ground", (0, 0, 0), (0, 0, 1), 1.0, FORCE_COLOUR, shape="arrow")
                self._lines[f"force {pin.joint}"] = self._add_mesh(f"/force{k}", arrow)
        for k, solid in enumerate(stage.solids):
            self._add_solid(k, solid)
        for k, name in enumerate(stage.frames.bodies):
            self._add_trace(k, name)

    def _add_solid(self, k: int, solid: Solid) -> None:
        node = f"/solid{k}"
        if solid.body in self._bodies:
            node = f"/body{self._stage.frames.index(solid.body)}{node}"
        # A rail grows while its joint slides further; everything else stays as it was.
        before = self._solids.get(node)
        if before is None or not np.array_equal(before[0].scale, solid.scale):
            self._solids[node] = solid, self._add_mesh(node, solid)

    def _add_mesh(self, node: str, solid: Solid) -> Any:
        own = mesh(solid.shape)
        return self._server.scene.add_mesh_simple(
            node,
            own.vertices.astype(np.float32),
            own.triangles.astype(np.uint32),
            color=_rgb(solid.colour),
            opacity=None if solid.opacity == 1 else 2 * solid.opacity,
            flat_shading=solid.shape == "box",
            side="double",
            scale=_scale(solid),
            position=solid.position,
            wxyz=matrix_to_quat(solid.rotation),
        )

    def _add_trace(self, k: int, name: str) -> None:
        path = self._stage.frames.position[:, k]
        if len(path) > 1:
            self._traces[name] = self._server.scene.add_line_segments(
                f"/trace{k}",
                np.stack([path[:-1], path[1:]], axis=1).astype(np.float32),
                np.array(_rgb(self._stage.colour[name]), dtype=np.uint8),
                thickness=0.004 * self._stage.grain,
                visible=self._shown["traces"].value,
            )

    # -- what moves ---------------------------------------------------------------------------

    def _look(self, client: Any) -> None:
        """Place the eye of a browser that has just connected."""
        azimuth, elevation = self._stage.view
        level = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        away = np.cos(elevation) * level + np.array([0.0, 0.0, np.sin(elevation)])
        target = (self._stage.low + self._stage.high) / 2
        reach = float(np.linalg.norm(self._stage.high - self._stage.low))
        client.camera.position = target + 1.1 * reach * away
        client.camera.look_at = target

    def _draw(self) -> None:
        """Move everything to where it is at the time of the slider."""
        with self._lock, self._server.atomic():
            stage, film = self._stage, self._stage.frames
            frame = int(np.argmin(abs(film.time - self._slider.value)))
            quats = matrix_to_quat(film.rotation[frame])
            for k, body in enumerate(self._bodies.values()):
                body.position, body.wxyz = film.position[frame, k], quats[k]
                body.show_axes = self._shown["axes"].value
            for strut in stage.struts:
                _place(self._lines[strut.name], stage.strut(strut, frame))
            for k, pin in enumerate(stage.pins):
                self._draw_force(self._lines[f"force {pin.joint}"], k, frame)
            for solid, node in self._solids.values():
                node.visible = solid.group == "body" or self._shown[solid.group].value
            for trace in self._traces.values():
                trace.visible = self._shown["traces"].value

    def _draw_force(self, arrow: Any, k: int, frame: int) -> None:
        stage = self._stage
        force = stage.force_scale * stage.forces[frame, k]
        arrow.visible = bool(self._shown["forces"].value and np.linalg.norm(force) > 0)
        if arrow.visible:
            at = stage.frames.path(stage.pins[k].b)[frame]
            _place(arrow, bar("ground", at, at + force, 0.02 * stage.grain, FORCE_COLOUR))

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


def _place(node: Any, solid: Solid) -> None:
    node.position, node.wxyz = solid.position, matrix_to_quat(solid.rotation)
    node.scale = _scale(solid)


def _scale(solid: Solid) -> tuple[float, float, float]:
    x, y, z = solid.scale.tolist()
    return x, y, z


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
