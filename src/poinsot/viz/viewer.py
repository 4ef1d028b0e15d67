"""A live view in the browser, by viser, of a result or of a simulation in progress."""

from __future__ import annotations

import time
import webbrowser
from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, PoinsotError
from poinsot.result import Result
from poinsot.so3 import matrix_to_quat
from poinsot.viz.skins import Skin
from poinsot.viz.solids import Solid, bar
from poinsot.viz.stage import Frames, Stage
from poinsot.viz.tubes import Tube

RATE = 30  # pictures a second
FORCE_COLOUR = "#c2185b"


class LiveScene:
    """Bodies, joints, springs, forces and traces; `stage` may grow, see `extend`."""

    def __init__(self, scene: Any, stage: Stage) -> None:
        self._scene, self.stage = scene, stage
        size, grain = stage.size, stage.grain
        floor = (0.0, 0.0, float(stage.low[2]))
        width = {"width": 20 * size, "height": 20 * size}
        scene.add_grid("/grid", **width, cell_size=size / 4, section_size=size, position=floor)
        axes = {"axes_length": 0.17 * grain, "axes_radius": 0.005 * grain, "show_axes": False}
        self.bodies = {
            name: scene.add_frame(f"/body{k}", **axes) for k, name in enumerate(stage.frames.bodies)
        }
        self._struts = [
            self._add_mesh(f"/strut{k}", stage.strut(strut, 0))
            for k, strut in enumerate(stage.struts)
        ]
        self._tubes = [self._add_tube(k, tube) for k, tube in enumerate(stage.tubes)]
        self._skins = [self._add_skin(k, skin) for k, skin in enumerate(stage.skins)]
        arrow = bar("ground", (0, 0, 0), (0, 0, 1), 1.0, FORCE_COLOUR, shape="arrow")
        self._arrows = [self._add_mesh(f"/force{k}", arrow) for k in range(len(stage.pins))]
        self._solids: dict[str, tuple[Solid, Any]] = {}
        self._traces: list[Any] = []
        self.extend(stage)

    def extend(self, stage: Stage) -> None:
        """Go on with a longer motion of the same mechanism."""
        self.stage = stage
        for k, solid in enumerate(stage.solids):
            self._add_solid(k, solid)
        self._traces = [self._add_trace(k) for k in stage.traced if stage.frames.time.size > 1]

    def move(self, frame: int, shown: Mapping[str, bool]) -> None:
        """Move everything to where it is in a frame, and show what is wanted."""
        film = self.stage.frames
        quats = matrix_to_quat(film.rotation[frame])
        for k, body in enumerate(self.bodies.values()):
            body.position, body.wxyz = film.position[frame, k], quats[k]
            body.show_axes = shown["axes"]
        for strut, node in zip(self.stage.struts, self._struts, strict=True):
            _place(node, self.stage.strut(strut, frame))
        for tube, node in zip(self.stage.tubes, self._tubes, strict=True):
            node.vertices = _points(tube, film, frame)
        for skin, node in zip(self.stage.skins, self._skins, strict=True):
            node.vertices = skin.deformed(frame).astype(np.float32)
        for k, arrow in enumerate(self._arrows):
            self._move_arrow(arrow, k, frame, shown["forces"])
        for solid, node in self._solids.values():
            node.visible = solid.group == "body" or shown[solid.group]
        for trace in self._traces:
            trace.visible = shown["traces"]

    def _move_arrow(self, arrow: Any, k: int, frame: int, shown: bool) -> None:
        stage = self.stage
        force = stage.force_scale * stage.forces[frame, k]
        arrow.visible = bool(shown and np.linalg.norm(force) > 0)
        if arrow.visible:
            at = stage.frames.path(stage.pins[k].b)[frame]
            _place(arrow, bar("ground", at, at + force, 0.02 * stage.grain, FORCE_COLOUR))

    def _add_solid(self, k: int, solid: Solid) -> None:
        node = f"/solid{k}"
        if solid.body in self.bodies:
            node = f"/body{self.stage.frames.index(solid.body)}{node}"
        # A rail grows while its joint slides further; everything else stays as it was.
        before = self._solids.get(node)
        if before is None or not np.array_equal(before[0].scale, solid.scale):
            self._solids[node] = solid, self._add_mesh(node, solid)

    def _add_mesh(self, node: str, solid: Solid) -> Any:
        own = solid.surface
        return self._scene.add_mesh_simple(
            node,
            own.vertices.astype(np.float32),
            own.triangles.astype(np.uint32),
            color=_rgb(solid.colour),
            opacity=None if solid.opacity == 1 else min(1.0, 2 * solid.opacity),
            flat_shading=solid.shape == "box",
            side="double",
            scale=_scale(solid),
            position=solid.position,
            wxyz=matrix_to_quat(solid.rotation),
        )

    def _add_tube(self, k: int, tube: Tube) -> Any:
        return self._scene.add_mesh_simple(
            f"/tube{k}",
            _points(tube, self.stage.frames, 0),
            tube.triangles().astype(np.uint32),
            color=_rgb(tube.colour),
            side="double",
        )

    def _add_skin(self, k: int, skin: Skin) -> Any:
        return self._scene.add_mesh_simple(
            f"/body{skin.body}/skin{k}",
            skin.deformed(0).astype(np.float32),
            skin.triangles.astype(np.uint32),
            color=_rgb(skin.colour),
            opacity=None if skin.opacity == 1 else min(1.0, 2 * skin.opacity),
            side="double",
        )

    def _add_trace(self, k: int) -> Any:
        film = self.stage.frames
        path, colour = film.position[:, k], self.stage.colour[film.bodies[k]]
        return self._scene.add_line_segments(
            f"/trace{k}",
            np.stack([path[:-1], path[1:]], axis=1).astype(np.float32),
            np.array(_rgb(colour), dtype=np.uint8),
            thickness=0.004 * self.stage.grain,
        )


class Viewer:
    """A server that shows a mechanism: open `url` in a browser, and `close` it at the end."""

    def __init__(
        self, result: Result, *, scale: float = 1.0, port: int = 8080, host: str = "127.0.0.1"
    ) -> None:
        self._scale = scale
        stage = Stage.of(result, scale=scale)
        self._server = _server(result.model, host, port)
        self._closed, self._lock = Event(), Lock()
        self._scene = LiveScene(self._server.scene, stage)
        self._add_controls(stage)
        self._server.on_client_connect(self._look)
        self._draw()
        Thread(target=self._play, daemon=True).start()

    @property
    def url(self) -> str:
        """Address of the view."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    @property
    def time(self) -> float:
        """The displayed time [s]."""
        return float(self._slider.value)

    def show(self, time: float) -> None:
        """Show the mechanism at a time [s]."""
        self._slider.value = float(np.clip(time, self._slider.min, self._slider.max))

    def update(self, result: Result) -> None:
        """Show a longer run of the same model; viewers at its end stay at the end."""
        stage = Stage.of(result, scale=self._scale)
        with self._lock:
            at_end = self._slider.value >= self._slider.max
            self._slider.max = float(stage.frames.time[-1])
            self._scene.extend(stage)
        if at_end and not self._playing.value:
            self.show(float(stage.frames.time[-1]))
        self._draw()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the viewer is closed, or for some seconds; return whether it is closed."""
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
    result: Result,
    *,
    scale: float = 1.0,
    port: int = 8080,
    host: str = "127.0.0.1",
    open_browser: bool = True,
) -> Viewer:
    """Show a result in the browser, with a time slider; needs `poinsot[viewer]`.

    The viewer runs in the background: `wait()` blocks until it is closed, `close()` ends it. If the
    port is in use, the next free one is taken; see `url`. `scale` enlarges deformations of elastic
    bodies.
    """
    viewer = Viewer(result, scale=scale, port=port, host=host)
    if open_browser:
        webbrowser.open(viewer.url)
    return viewer


def follow(
    load: Callable[[], Result],
    *,
    every: float = 1.0,
    scale: float = 1.0,
    port: int = 8080,
    host: str = "127.0.0.1",
    open_browser: bool = True,
) -> Viewer:
    """Show a simulation in progress in the browser; needs `poinsot[viewer]`.

    Parameters
    ----------
    load : callable
        Returns the current result, for example ``lambda: ps.load("run.nc")``. If it fails, the last
        result stays.
    every : float
        Interval between two loads [s].
    scale : float
        Factor for deformations of elastic bodies.
    """
    viewer = view(load(), scale=scale, port=port, host=host, open_browser=open_browser)

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
            "write_page(result, path) writes a page instead"
        ) from None
    server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    server.gui.configure_theme(show_share_button=False)  # nothing leaves this machine
    return server


def _points(tube: Tube, film: Frames, frame: int) -> NDArray[np.float32]:
    vertices, _ = tube.surface(film.position[frame], film.rotation[frame])
    return vertices.reshape(-1, 3).astype(np.float32)


def _place(node: Any, solid: Solid) -> None:
    node.position, node.wxyz = solid.position, matrix_to_quat(solid.rotation)
    node.scale = _scale(solid)


def _scale(solid: Solid) -> tuple[float, float, float]:
    x, y, z = solid.scale.tolist()
    return x, y, z


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
