"""Everything that 3D pictures are drawn from: solids, lines, forces, and the camera."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, did_you_mean
from poinsot.inputs import number
from poinsot.result import Array, Result
from poinsot.result.scene import Carried, Load, Pin, Point, Scene, Strut
from poinsot.so3 import exp, log, matrix_to_quat
from poinsot.viz.skins import Skin, skins
from poinsot.viz.solids import JOINT_COLOUR, SPRING_COLOUR, Solid, bar, colours, ends, solids
from poinsot.viz.tubes import ColourScale, Tube, shades, tubes

#: More frames than this add nothing to a film, and more bodies times frames take too long to load.
FRAMES = 1500
POSES = 200_000
GROUND = -1
#: A picture of more bodies than this is slow, and nothing could be seen on it.
BODIES = 2000
#: A picture names the energies of so many kinds.
KINDS = 6
#: Of a long film, these many frames tell how large the mechanism is.
SAMPLES = 50


@dataclass(frozen=True, eq=False)
class Frames:
    """Positions (frames, bodies, 3) [m] and rotations (frames, bodies, 3, 3), world axes.

    `chosen` indexes the saved times of the result.
    """

    bodies: tuple[str, ...]
    chosen: NDArray[np.intp]
    time: Array
    position: Array
    rotation: Array

    @classmethod
    def of(cls, result: Result, bodies: Sequence[str], limit: int | None = None) -> "Frames":
        """Return frames of a few bodies, evenly chosen among the saved times, first and last."""
        limit = limit or max(2, min(FRAMES, POSES // max(1, len(bodies))))
        count = min(limit, result.time.size)
        chosen = np.unique(np.linspace(0, result.time.size - 1, count).round().astype(np.intp))
        records, shape = [result.body(name) for name in bodies], (-1, chosen.size, 3)
        position = np.reshape([r.position[chosen] for r in records], shape).swapaxes(0, 1)
        rotation = np.reshape([r.rotation[chosen] for r in records], (*shape, 3)).swapaxes(0, 1)
        return cls(tuple(bodies), chosen, result.time[chosen], position, rotation)

    @cached_property
    def places(self) -> dict[str, int]:
        """Number of each body."""
        return {name: k for k, name in enumerate(self.bodies)}

    def index(self, body: str) -> int:
        """Return the number of a body; the ground is -1."""
        return GROUND if body == "ground" else self.places[body]

    def path(self, point: Point) -> Array:
        """Return where a point of a body is; (frames, 3)."""
        k = self.index(point.body)
        if k == GROUND:
            return np.tile(point.position, (self.time.size, 1))
        return np.asarray(self.position[:, k] + self.rotation[:, k] @ np.array(point.position))

    @property
    def first(self) -> "Frames":
        """The first frame alone."""
        one = slice(0, 1)
        parts = (self.chosen[one], self.time[one], self.position[one], self.rotation[one])
        return Frames(self.bodies, *parts)

    @property
    def quat(self) -> Array:
        """Scalar-first quaternions without jumps of sign from frame to frame; (..., bodies, 4)."""
        return steady(matrix_to_quat(self.rotation))


def steady(quat: Array) -> Array:
    """Return quaternions (frames, ..., 4) with those signs that let none of them jump."""
    jumps = np.where(np.sum(quat[1:] * quat[:-1], axis=-1) < 0, -1.0, 1.0)
    signs = np.concatenate([np.ones((1, *jumps.shape[1:])), np.cumprod(jumps, axis=0)])
    return np.asarray(quat * signs[..., None])


@dataclass(frozen=True, eq=False)
class Stage:
    """A mechanism to be shown.

    `forces` [N] are those of the joints on their second bodies, at `pins`, (frames, pins, 3);
    `traces` are paths of markers (frames, 3), by name; `energies` [J] by kind (frames,). `applied`
    [N] or [N m] are the `loads` of ports on bodies, (frames, loads, 3). `tubes` are beams and rods,
    `colours` what the colours of these mean if they do; bodies that are `carried` by elastic ones
    show their deformations, drawn `scale` times as large, and so do the `skins` of flexible bodies.
    `size` [m] is that of the mechanism at the start, `grain` [m] that of its parts: what has no
    thickness gets a share of it. `low` and `high` hold all of the motion.
    """

    frames: Frames
    colour: Mapping[str, str]
    solids: tuple[Solid, ...]
    struts: tuple[Strut, ...]
    pins: tuple[Pin, ...]
    forces: Array
    traces: Mapping[str, Array]
    energies: Mapping[str, Array]
    tubes: tuple[Tube, ...]
    colours: ColourScale | None
    carried: tuple[Carried, ...]
    skins: tuple[Skin, ...]
    scale: float
    loads: tuple[Load, ...]
    applied: Array
    size: float
    grain: float
    low: Array
    high: Array

    @classmethod
    def of(
        cls,
        result: Result,
        *,
        bodies: Iterable[str] | None = None,
        frames: int | None = None,
        scale: float = 1.0,
        colour: str | None = None,
        opacity: Mapping[str, float] | None = None,
    ) -> "Stage":
        """Return the stage of a mechanism, or of a few of its bodies and what joins them.

        `scale` enlarges deformations of elastic bodies in their frames; `colour` names a stress
        resultant of beams and rods; `opacity` is that of bodies by name, 0: not to be seen.
        """
        names = _chosen(result, bodies)
        scene = _only(result.observation.scene, {*names, "ground"})
        film = _enlarged(result, Frames.of(result, names, frames), scene.carried, scale)
        rods = (slender.name for slender in scene.slender)
        own = {**colours(tuple(names), rods), "ground": JOINT_COLOUR}
        markers = result.observation.markers if bodies is None else {}
        see_through = _opacity(opacity or {}, names)
        surfaces = skins(result, scene, film.places, film.chosen, own, see_through, scale)
        size, grain = _sizes(film, scene, surfaces)
        shown = tuple(_faded(solids(scene, own, grain, _rails(result, scene)), see_through))
        low, high = _bounds(film, scene, shown, surfaces)
        elastic, shading = tubes(scene.slender, film.places, own), None
        if colour is not None:
            values, shading = shades(result, elastic, film.chosen, colour)
            pairs = zip(elastic, values, strict=True)
            elastic = [replace(tube, shades=each) for tube, each in pairs]
        if not np.isfinite([size, grain, *low, *high, *np.diff(film.time, prepend=0.0)]).all():
            raise InputError(
                f"'{result.model}' cannot be shown: it contains values that are not finite"
            )
        return cls(
            frames=film,
            colour=own,
            solids=shown,
            struts=scene.struts,
            pins=scene.pins,
            forces=_forces(result, scene, film),
            traces={name: record.position[film.chosen] for name, record in markers.items()},
            energies={
                **_energies(result, film.chosen),
                "total": result.energy[film.chosen],
            },
            tubes=tuple(elastic),
            colours=shading,
            carried=scene.carried,
            skins=tuple(surfaces),
            scale=scale,
            loads=scene.loads,
            applied=_applied(result, scene, film),
            size=size,
            grain=grain,
            low=low,
            high=high,
        )

    @cached_property
    def parts(self) -> frozenset[str]:
        """Nodes of rods and places of elastic bodies: to the eye, no bodies of their own."""
        nodes = (self.frames.bodies[k] for tube in self.tubes for k in tube.nodes)
        return frozenset((*nodes, *(each.body for each in self.carried)))

    @cached_property
    def traced(self) -> tuple[int, ...]:
        """Numbers of the bodies whose paths are drawn.

        Of a beam or rod it is that of its end, of a flexible body those of its interfaces.
        """
        inside = {*self.parts, *(tube.name for tube in self.tubes)}
        ends = {int(tube.nodes[-1]) for tube in self.tubes}
        drawn = {skin.name for skin in self.skins}
        inside |= drawn
        ends |= {self.frames.index(each.body) for each in self.carried if each.by.body in drawn}
        bodies = enumerate(self.frames.bodies)
        return tuple(k for k, name in bodies if k in ends or name not in inside)

    def strut(self, strut: Strut, frame: int) -> Solid:
        """Return what a spring or a rod looks like in a frame, in world axes."""
        ends = self.frames.path(strut.a)[frame], self.frames.path(strut.b)[frame]
        if strut.kind == "spring":
            return bar("ground", *ends, 0.028 * self.grain, SPRING_COLOUR, shape="spring")
        return bar("ground", *ends, 0.006 * self.grain, JOINT_COLOUR)

    @property
    def eye(self) -> Array:
        """The unit vector from the mechanism towards the eye."""
        azimuth, elevation = self.view
        level = np.cos(elevation)
        return np.array([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)])

    @property
    def travels(self) -> bool:
        """Whether the mechanism flies far away, so that the eye must follow it."""
        held = any(end.body == "ground" for end in ends(Scene((), self.pins, self.struts)))
        centre = self.frames.position.mean(axis=1)
        return not held and bool(np.ptp(centre, axis=0).max() > 1.5 * self.size)

    @property
    def force_scale(self) -> float:
        """Length of an arrow [m/N]: the largest force is nearly as long as the parts are."""
        largest = float(np.linalg.norm(self.forces, axis=-1).max(initial=0.0))
        return 0.4 * self.grain / largest if largest > 0 else 0.0

    @property
    def pace(self) -> float:
        """How fast to play: as fast as life, unless that would be over at once or take too long."""
        length = float(np.ptp(self.frames.time))
        return 1.0 if 2 <= length <= 40 or length == 0 else round_number(length / 8)

    @property
    def view(self) -> tuple[float, float]:
        """Azimuth and elevation of the eye [rad]: a plane mechanism is seen from the front."""
        film = self.frames
        moves = np.ptp(film.position, axis=0).max(axis=0) > 1e-3 * self.size
        tilts = np.ptp(film.rotation, axis=0).max(axis=(0, 2)) > 1e-3
        still = ~(moves | tilts)
        if still.sum() == 1:
            front = ((-0.35, 0.2), (-np.pi / 2 + 0.35, 0.2), (-np.pi / 2, 1.25))
            return front[int(np.argmax(still))]
        return -1.05, 0.35


def _opacity(opacity: Mapping[str, float], names: Sequence[str]) -> Mapping[str, float]:
    """Return how opaque bodies are, checked."""
    for name, value in opacity.items():
        if name not in names:
            raise InputError(f"opacity: no body '{name}'; {did_you_mean(name, names)}")
        if not 0 <= number(value, f"opacity: '{name}'") <= 1:
            raise InputError(f"opacity: '{name}' is {value!r}; it must be from 0 to 1")
    return opacity


def _faded(every: Iterable[Solid], opacity: Mapping[str, float]) -> Iterator[Solid]:
    """Yield solids, those of bodies less opaque, and none that is not to be seen."""
    for solid in every:
        share = 1.0 if solid.group == "joint" else opacity.get(solid.body, 1.0)
        if share * solid.opacity > 0:
            yield replace(solid, opacity=share * solid.opacity)


def _chosen(result: Result, bodies: Iterable[str] | None) -> list[str]:
    known = result.observation.bodies
    if not known:
        raise InputError(
            f"'{result.model}' has no bodies to show; plot_overview(result) plots its states"
        )
    nodes = {slender.name: slender.nodes for slender in result.observation.scene.slender}
    names = list(known)
    if bodies is not None:
        # A beam is its frame and its nodes, a rod its nodes.
        wanted = [(name, *nodes.get(name, ())) for name in bodies]
        every = dict.fromkeys(name for each in wanted for name in each)
        names = [name for name in every if name in known or name not in nodes]
    for name in names:
        result.body(name)
    if len(names) > BODIES:
        raise InputError(
            f"'{result.model}' has {len(names)} bodies, but a picture shows at most {BODIES}; "
            "select some by bodies=[...]"
        )
    return names


def _only(scene: Scene, bodies: set[str]) -> Scene:
    """Return what of a scene is on these bodies."""
    return Scene(
        tuple(piece for piece in scene.pieces if piece.body in bodies),
        tuple(p for p in scene.pins if {end.body for end in (p.a, p.b, *p.axes)} <= bodies),
        tuple(strut for strut in scene.struts if {strut.a.body, strut.b.body} <= bodies),
        tuple(slender for slender in scene.slender if {*slender.nodes} <= bodies),
        tuple(each for each in scene.carried if each.body in bodies),
        scene.drawings,
        tuple(load for load in scene.loads if {load.at.body, *_frames(load)} <= bodies),
        tuple(skin for skin in scene.skins if skin.body in bodies),
    )


def _frames(load: Load) -> set[str]:
    return {axis.body for axis in load.axes}


def _enlarged(result: Result, film: Frames, carried: tuple[Carried, ...], scale: float) -> Frames:
    """Return frames in which displacements and rotations on elastic bodies are so much larger."""
    if number(scale, "scale", minimum=0.0) == 1 or not carried:
        return film
    position, rotation = film.position.copy(), film.rotation.copy()
    for each in carried:
        k, frame = film.index(each.body), result.body(each.by.body)
        R = frame.rotation[film.chosen]
        X = frame.position[film.chosen] + R @ np.array(each.by.position)
        position[:, k] = X + scale * (position[:, k] - X)
        turned = np.swapaxes(R, 1, 2) @ rotation[:, k]
        rotation[:, k] = R @ exp(scale * log(turned))
    return replace(film, position=position, rotation=rotation)


def _rails(result: Result, scene: Scene) -> dict[str, tuple[float, float]]:
    """Return how far joints slide along their axis [m]."""
    slides = [
        pin.joint for pin in scene.pins if pin.kind in ("Prismatic", "Cylindrical", "PointOnLine")
    ]
    travel = {name: result.joint(name).coordinates.get("displacement", 0.0) for name in slides}
    return {name: (float(np.min(x)), float(np.max(x))) for name, x in travel.items()}


def _forces(result: Result, scene: Scene, frames: Frames) -> Array:
    """Return the reactions at the frames, between the midpoints where they are known."""
    forces = np.zeros((frames.time.size, len(scene.pins), 3))
    for k, pin in enumerate(scene.pins):
        joint = result.joint(pin.joint)
        if joint.midpoint.size:
            for axis in range(3):
                forces[:, k, axis] = np.interp(frames.time, joint.midpoint, joint.force[:, axis])
    return forces


def _energies(result: Result, chosen: NDArray[np.intp]) -> dict[str, Array]:
    """Return the energies of a few kinds [J]; of more, the last ones together."""
    every = {kind: E[chosen] for kind, E in result.observation.energies.items()}
    names = list(every)
    if len(names) <= KINDS:
        return every
    kept = {name: every[name] for name in names[: KINDS - 1]}
    return {**kept, "all others": np.sum([every[name] for name in names[KINDS - 1 :]], axis=0)}


def _applied(result: Result, scene: Scene, frames: Frames) -> Array:
    """Return the loads of ports at the frames, between the midpoints, in world axes."""
    applied = np.zeros((frames.time.size, len(scene.loads), 3))
    for k, load in enumerate(scene.loads):
        port = result.ports.get(load.port)
        if port is None or not port.time.size:
            continue
        for u, axis in zip(port.u.T, load.axes, strict=True):
            along = frames.path(axis) - frames.path(Point(axis.body, (0.0, 0.0, 0.0)))
            applied[:, k] += np.interp(frames.time, port.time, u)[:, None] * along
    return applied


def round_number(x: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at most x > 0."""
    power = math.floor(math.log10(x) + 1e-9)
    lead = x / 10.0**power
    return float(f"{5 if lead >= 5 else 2 if lead >= 2 else 1}e{power}")


# -- how large it is -------------------------------------------------------------------------------


def _sizes(frames: Frames, scene: Scene, surfaces: Sequence[Skin]) -> tuple[float, float]:
    """Return the diagonals of the boxes about the mechanism at the start, and about its parts."""
    rough = solids(scene, dict.fromkeys((*frames.bodies, "ground"), ""), 0.0, {})
    low, high = _bounds(frames.first, scene, tuple(rough), surfaces)
    # Points without joints have no size: take what they travel.
    travel = float(np.linalg.norm(np.ptp(frames.position, axis=(0, 1))))
    size = float(np.linalg.norm(high - low)) or travel or 1.0
    nodes = {node for slender in scene.slender for node in slender.nodes}
    nodes |= {each.body for each in scene.carried}
    clouds: dict[str, list[Array]] = {
        name: [np.zeros((1, 3))] for name in frames.bodies if name not in nodes
    }
    for body, points in (
        *((solid.body, solid.corners) for solid in rough),
        *((skin.name, skin.points) for skin in surfaces),
        *((end.body, np.array([end.position])) for end in ends(scene)),
    ):
        if body in clouds:
            clouds[body].append(points)
    spans = (np.ptp(np.concatenate(cloud), axis=0) for cloud in clouds.values())
    parts = [float(np.linalg.norm(span)) for span in spans]
    parts += [slender.places[-1] for slender in scene.slender]
    return size, min(size, 3 * float(np.median(parts))) or size


def _bounds(
    frames: Frames, scene: Scene, shown: tuple[Solid, ...], surfaces: Sequence[Skin]
) -> tuple[Array, Array]:
    """Return the corners of the box about everything at all times [m]."""
    few = np.unique(np.linspace(0, frames.time.size - 1, SAMPLES).astype(int))
    paths = [frames.path(end)[few] for end in ends(scene)]
    low, high = frames.position.min(axis=(0, 1)), frames.position.max(axis=(0, 1))
    clouds = [*paths, *(_cloud(solid, frames, few) for solid in shown)]
    clouds += [
        skin.placed(frame, frames.position[frame], frames.rotation[frame])
        for skin in surfaces
        for frame in few.tolist()
    ]
    for cloud in clouds:
        low, high = np.minimum(low, cloud.min(axis=0)), np.maximum(high, cloud.max(axis=0))
    thick = max((max(each) for slender in scene.slender for each in slender.sizes), default=0.0) / 2
    return low - thick, high + thick


def _cloud(solid: Solid, frames: Frames, few: NDArray[np.intp]) -> Array:
    """Return the corners of a solid in some frames, world axes; (points, 3)."""
    if solid.body == "ground":
        return solid.corners
    k = frames.index(solid.body)
    turned = np.einsum("fij,cj->fci", frames.rotation[few, k], solid.corners)
    return np.asarray(frames.position[few, None, k] + turned).reshape(-1, 3)
