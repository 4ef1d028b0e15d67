"""Every malformed file gives one clear error with file, line and key, and nothing else."""

import re
import time
from pathlib import Path

import pytest

import poinsot as ps
from poinsot.errors import printable
from poinsot.io.tree import DEEPEST, MOST

HEAD = "poinsot: 1\n"
BODY = "bodies: {a: {sphere: {mass: 1, radius: 1}}, b: {sphere: {mass: 1, radius: 1}}}\n"
MODEL = HEAD + BODY
HINGE = MODEL + "joints: {J: {revolute: {bodies: [a, b], point: [0, 0, 0], axis: [1, 0, 0]}}}\n"


def body(text):
    return HEAD + f"bodies:\n  a: {text}\n"


def joint(text):
    return MODEL + f"joints:\n  J: {text}\n"


def force(text):
    return HINGE + f"forces:\n  F: {text}\n"


def port(text):
    return HINGE + f"ports:\n  P: {text}\n"


def event(text):
    return HINGE + f"events:\n  E: {{when: t - 1, then: {text}}}\n"


def run(text):
    return MODEL + f"simulation: {text}\n"


BOMB = (
    HEAD
    + "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
)
RECURSIVE = HEAD + "bodies: &b\n  a: *b\n"
NEAREST = "a 3x3 matrix, a quaternion of four numbers (scalar first), axis_angle or euler"
NUMBER = "expected a number, finite and below 1e+100, found"

#: Name -> content of the file, and what the message says after the name of the file.
MALFORMED = {
    # -- the file ---------------------------------------------------------------------------
    "empty": ("", ":1:1: the file is empty; a model file begins with 'poinsot: 1'"),
    "only comments": ("# a model\n\n# of nothing\n", ":1:1: the file is empty"),
    "binary": (
        bytes(range(256)),
        ":2:118: this is not text in UTF-8; save the file with that encoding",
    ),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ":1:1: this is not text in UTF-8"),
    "utf-16": ((HEAD + BODY).encode("utf-16"), ":1:1: this is not text in UTF-8"),
    "utf-16 without mark": ((HEAD + BODY).encode("utf-16-le"), ":1:2: the character '\\x00'"),
    "latin-1": ("poinsot: 1\nname: Räder\n".encode("latin-1"), ":2:8: this is not text in UTF-8"),
    "null character": ("poinsot: 1\nname: a\0b\n", ":2:8: the character '\\x00' is not text"),
    "tab": (
        "poinsot: 1\nbodies:\n\ta: {}\n",
        ":3:1: this is not YAML: |indent by spaces, not by tabs",
    ),
    "open bracket": (HEAD + "gravity: [0, 0\n", ":3:1: this is not YAML: "),
    "no YAML": (HEAD + "bodies: a: b: c\n", ":2:10: this is not YAML: "),
    "indentation": (HEAD + "bodies:\n  a: {}\n b: {}\n", ":4:2: this is not YAML: "),
    "list at the top": ("- poinsot: 1\n", ":1:1: expected keys and values, found a list of 1"),
    "text at the top": ("hello\n", ":1:1: expected keys and values, found the text 'hello'"),
    "number at the top": ("3.14\n", ":1:1: expected keys and values, found 3.14"),
    "two documents": (HEAD + "---\n" + HEAD, ":3:1: a second document starts here; keep one"),
    "tag": (
        HEAD + "name: !!python/object/apply:os.system [ls]\n",
        ":2:7: tags such as tag:yaml.org",
    ),
    "tag of a number": (HEAD + "gravity: [!!float 0, 0, 0]\n", ":2:11: tags such as"),
    "complex key": (HEAD + "? [a, b]\n: 1\n", ":2:3: a key must be a single string"),
    "alias as key": ("poinsot: &a 1\n*a : 2\n", ":2:1: a key must be a single string"),
    # -- attacks ----------------------------------------------------------------------------
    "billion laughs": (BOMB, ":7:30: more than 400000 values, those that aliases repeat included"),
    "recursive alias": (RECURSIVE, ":3:6: the alias '*b' refers to a value that contains it"),
    "unknown alias": (HEAD + "name: *b\n", ":2:7: the alias '*b' has no anchor '&b' before it"),
    "deep lists": (HEAD + "name: " + "[" * 100_000, ":2:70: values are nested more deeply than 64"),
    "deep mappings": (HEAD + "{a: " * 100_000, ":2:1026: this is not YAML"),
    "deep blocks": (
        HEAD + "".join(" " * i + "a:\n" for i in range(200)),
        ":66:65: values are nested",
    ),
    "deep composite": (
        body("{composite: {parts: [" * 60),
        ":3:",
    ),
    "many values": (
        HEAD + "name: [" + "1, " * 500_000 + "]",
        ":2:1200005: more than 400000 values",
    ),
    "long text": (HEAD + "gravity: " + "x" * 1_000_000, ":2:10: gravity: expected three numbers"),
    "long number": (HEAD + "gravity: [0, 0, " + "9" * 100_000 + "]", ":2:10: gravity: expected"),
    # -- version and keys -------------------------------------------------------------------
    "no version": (
        BODY,
        ":1:1: the key 'poinsot' is missing: a model file begins with 'poinsot: 1'",
    ),
    "misspelt version": ("Poinsott: 1\n", ":1:1: the key 'poinsot' is missing|by 'Poinsott'?"),
    "newer version": (
        "poinsot: 2\n" + BODY,
        ":1:10: poinsot: the file is of version 2, newer than 1",
    ),
    "version in words": (
        "poinsot: one\n",
        ":1:10: poinsot: expected the version 1, found the text",
    ),
    "version true": ("poinsot: true\n", ":1:10: poinsot: expected the version 1, found true"),
    "version zero": ("poinsot: 0\n", ":1:10: poinsot: expected the version 1, found 0"),
    "misspelt section": (HEAD + "bodys: {}\n", ":2:1: unknown key 'bodys'; did you mean 'bodies'?"),
    "duplicate key": (
        HEAD + "name: a\n\nname: b\n",
        ":4:1: the key 'name' is given twice, first in line 2",
    ),
    "duplicate body": (
        HEAD + "bodies:\n  a: {}\n  a: {}\n",
        ":4:3: the key 'a' is given twice, first in line 3",
    ),
    "section as list": (
        HEAD + "bodies: [a]\n",
        ":2:9: bodies: expected names and what they stand for",
    ),
    "section as text": (
        HEAD + "joints: none\n",
        ":2:9: joints: expected names and what they stand for",
    ),
    "merge key": (HEAD + "x: &x {a: 1}\nbodies: {<<: *x}\n", ":2:1: unknown key 'x'; known: "),
    "name a number": (HEAD + "name: 3\n", ":2:7: name: expected text, found 3"),
    "projection by word": (
        HEAD + "project_velocities: yes\n",
        ":2:21: project_velocities: expected true or",
    ),
    # -- numbers ----------------------------------------------------------------------------
    "nan": (HEAD + "gravity: [0, 0, .nan]\n", ":2:10: gravity: expected three numbers, finite"),
    "nan in words": (
        HEAD + "gravity: [0, 0, NaN]\n",
        ":2:10: gravity: expected three numbers, finite",
    ),
    "inf": (HEAD + "gravity: [0, 0, -.inf]\n", ":2:10: gravity: expected three numbers, finite"),
    "overflow": (
        body("{sphere: {mass: 1e400, radius: 1}}"),
        f":3:22: bodies.a.sphere.mass: {NUMBER} inf",
    ),
    "huge": (
        body("{sphere: {mass: 1e200, radius: 1}}"),
        f":3:22: bodies.a.sphere.mass: {NUMBER} 1e+200",
    ),
    "true as number": (
        body("{sphere: {mass: true, radius: 1}}"),
        ":3:22: bodies.a.sphere.mass: expected a number, found true",
    ),
    "nothing as number": (
        body("{sphere: {mass: 1, radius: }}"),
        ":3:33: bodies.a.sphere.radius: expected a number, found nothing",
    ),
    "quoted number": (
        body('{sphere: {mass: "1e-3", radius: 1}}'),
        ":3:22: bodies.a.sphere.mass: expected a number, found the text '1e-3'; ",
    ),
    "date": (body("{sphere: {mass: 2026-01-01, radius: 1}}"), "found the text '2026-01-01'"),
    "sexagesimal": (body("{sphere: {mass: 1:30, radius: 1}}"), "found the text '1:30'"),
    "underscore": (
        body("{sphere: {mass: 1_000, radius: 1}}"),
        "found the text '1_000'; write numbers",
    ),
    "list as number": (body("{sphere: {mass: [1], radius: 1}}"), "found a list of 1: [1]"),
    "short vector": (
        HEAD + "gravity: [0, 0]\n",
        ":2:10: gravity: expected three numbers, found a list of 2",
    ),
    "number as vector": (
        HEAD + "gravity: -9.81\n",
        ":2:10: gravity: expected three numbers, found -9.81",
    ),
    "mapping as vector": (
        HEAD + "gravity: {z: -9.81}\n",
        ":2:1: gravity: expected three numbers, found the keys z",
    ),
    "text in vector": (HEAD + "gravity: [0, 0, down]\n", ":2:10: gravity: expected three numbers"),
    # -- bodies -----------------------------------------------------------------------------
    "body as text": (
        body("sphere"),
        ":3:6: bodies.a: expected keys and values, found the text 'sphere'",
    ),
    "no shape": (body("{position: [0, 0, 0]}"), ":3:3: bodies.a: expected one of box, cylinder"),
    "two shapes": (
        body("{sphere: {mass: 1, radius: 1}, point_mass: {mass: 1}}"),
        ":3:3: bodies.a: expected one of box|found both sphere and point_mass; keep one",
    ),
    "empty shape": (
        body("{sphere: }"),
        ":3:15: bodies.a.sphere: expected keys and values, found nothing",
    ),
    "misspelt shape": (
        body("{cilinder: {mass: 1}}"),  # codespell:ignore
        ":3:7: bodies.a: unknown key 'cilinder'; did you mean 'cylinder'?",
    ),
    "misspelt size": (
        body("{box: {mass: 1, sise: [1, 1, 1]}}"),  # codespell:ignore
        ":3:22: bodies.a.box: unknown key 'sise'; did you mean 'size'?",
    ),
    "missing size": (body("{box: {mass: 1}}"), ":3:7: bodies.a.box: the key 'size' is missing"),
    "neither mass nor density": (
        body("{sphere: {radius: 1}}"),
        ":3:3: bodies.a: Sphere: give mass or density, exactly one; got neither",
    ),
    "negative mass": (
        body("{point_mass: {mass: -1}}"),
        ":3:3: bodies.a: PointMass: mass is -1 kg; it must",
    ),
    "impossible inertia": (
        body("{rigid_body: {mass: 1, inertia: [1, 1, 3]}}"),
        ":3:3: bodies.a: RigidBody: inertia is not possible for a body: J1 + J2 = 2 is less than",
    ),
    "inertia of two": (
        body("{rigid_body: {mass: 1, inertia: [1, 1]}}"),
        ":3:38: bodies.a.rigid_body.inertia: expected three principal values or a 3x3 matrix",
    ),
    "no rotation": (
        body("{point_mass: {mass: 1}, rotation: [1, 0, 0]}"),
        f":3:40: bodies.a.rotation: expected {NEAREST}, found a list of 3: [1, 0, 0]",
    ),
    "skewed matrix": (
        body("{point_mass: {mass: 1}, rotation: [[1, 0, 0], [0, 2, 0], [0, 0, 1]]}"),
        ":3:3: bodies.a: body 'a': rotation: the matrix is not orthogonal",
    ),
    "zero quaternion": (
        body("{point_mass: {mass: 1}, rotation: [0, 0, 0, 0]}"),
        ":3:3: bodies.a: body 'a': rotation",
    ),
    "axis without direction": (
        body("{point_mass: {mass: 1}, rotation: {axis_angle: {axis: [0, 0, 0], angle: 1}}}"),
        ":3:3: bodies.a: axis: (0, 0, 0) has no direction",
    ),
    "wrong sequence": (
        body("{point_mass: {mass: 1}, rotation: {euler: {sequence: ABC, angles: [1, 2, 3]}}}"),
        ":3:3: bodies.a: Euler angles: 'ABC' is not a sequence of axes",
    ),
    "rotation without kind": (
        body("{point_mass: {mass: 1}, rotation: {angle: 1}}"),
        ":3:41: bodies.a.rotation: unknown key 'angle'; did you mean 'axis_angle'?",
    ),
    "empty composite": (body("{composite: {parts: []}}"), ":3:3: bodies.a: Composite: no parts"),
    "part of a composite": (
        body("{composite: {parts: [{box: {mass: 1, size: [1, 1, 1]}}, {bix: {}}]}}"),
        ":3:63: bodies.a.composite.parts[1]: unknown key 'bix'; did you mean 'box'?",
    ),
    "body named ground": (
        HEAD + "bodies:\n  ground: {point_mass: {mass: 1}}\n",
        ":3:3: bodies.ground: 'ground' cannot be a name",
    ),
    "empty name": (
        HEAD + 'bodies:\n  "": {point_mass: {mass: 1}}\n',
        ":3:3: bodies.: '' cannot be a name",
    ),
    "long name": (
        HEAD + f"bodies:\n  {'n' * 300}: {{point_mass: {{mass: 1}}}}\n",
        "cannot be a name",
    ),
    # -- joints -----------------------------------------------------------------------------
    "misspelt joint": (
        joint("{revolut: {bodies: [a, b]}}"),
        ":4:7: joints.J: unknown key 'revolut'; did you mean 'revolute'?",
    ),
    "missing axis": (
        joint("{revolute: {bodies: [a, b], point: [0, 0, 0]}}"),
        ":4:7: joints.J.revolute: the key 'axis' is missing",
    ),
    "flat axis": (
        joint("{revolute: {bodies: [a, b], point: [0, 0, 0], axis: [0, 1]}}"),
        ":4:58: joints.J.revolute.axis: expected three numbers, found a list of 2: [0, 1]",
    ),
    "axis without length": (
        joint("{revolute: {bodies: [a, b], point: [0, 0, 0], axis: [0, 0, 0]}}"),
        ":4:3: joints.J: Revolute: axis: the vector is zero; give a direction",
    ),
    "missing body": (
        joint("{weld: {bodies: [a, c]}}"),
        ":4:26: joints.J.weld.bodies[1]: no body 'c'; known: 'ground', 'a', 'b'",
    ),
    "misspelt ground": (
        joint("{weld: {bodies: [groud, a]}}"),
        ":4:23: joints.J.weld.bodies[0]: no body 'groud'; did you mean 'ground'?",
    ),
    "joint with itself": (
        joint("{weld: {bodies: [a, a]}}"),
        ":4:22: joints.J.weld.bodies: it joins 'a' with itself; name two bodies",
    ),
    "ground with itself": (
        joint("{weld: {bodies: [ground, ground]}}"),
        "it joins 'ground' with itself",
    ),
    "three bodies": (joint("{weld: {bodies: [a, b, ground]}}"), "expected the names of two bodies"),
    "body by number": (
        joint("{weld: {bodies: [a, 1]}}"),
        "expected a name, found 1; put it into quotes",
    ),
    "joint that does not fit": (
        joint(
            "{universal: {bodies: [a, b], point: [0, 0, 0], axis_a: [1, 0, 0], axis_b: [1, 1, 0]}}"
        ),
        ":4:3: joints.J: joint 'J' (Universal): its equation 'cross' is violated by 0.707",
    ),
    "rod without length": (
        joint("{rod: {bodies: [a, b], point_a: [0, 0, 0], point_b: [0, 0, 0]}}"),
        ":4:3: joints.J: Rod: its two points coincide; use Spherical",
    ),
    "name taken": (
        MODEL + "joints:\n  a: {weld: {bodies: [a, b]}}\n",
        ":4:3: joints.a: the name is taken in bodies.a; choose another one",
    ),
    "contradicting velocities": (
        HEAD
        + "bodies:\n  a: {point_mass: {mass: 1}, velocity: [1, 0, 0]}\n"
        + "joints: {J: {spherical: {bodies: [ground, a], point: [0, 0, 0]}}}\n",
        ":2:1: bodies: the velocities at the start violate the joints|project_velocities: true",
    ),
    # -- forces and ports -------------------------------------------------------------------
    "spring without law": (
        force("{spring: {bodies: [ground, a], point_a: [0, 0, 5], point_b: [0, 0, 0]}}"),
        ":5:3: forces.F: force 'F': give a stiffness, a force, a potential or a damping",
    ),
    "negative stiffness": (
        force("{joint_spring: {joint: J, stiffness: -1}}"),
        ":5:3: forces.F: JointSpring: stiffness is -1.0; it must be a finite number >= 0",
    ),
    "friction that pushes": (
        force("{joint_friction: {joint: J, coulomb: -1}}"),
        ":5:3: forces.F: JointFriction: coulomb is -1.0; it must be a finite number >= 0",
    ),
    "friction that jumps": (
        force("{joint_friction: {joint: J, coulomb: 1, slip: 0}}"),
        ":5:3: forces.F: JointFriction: slip is 0.0; it must be positive",
    ),
    "friction of another name": (
        force("{joint_friction: {joint: J, dry: 1}}"),
        ":5:34: forces.F.joint_friction: unknown key 'dry'; known: 'joint', 'freedom'",
    ),
    "drag on the ground": (
        force("{drag: {body: ground, viscous: 1}}"),
        ":5:20: forces.F.drag.body: the ground cannot move; name a body",
    ),
    "drag without numbers": (
        force("{drag: {body: a}}"),
        ":5:3: forces.F: force 'F': give viscous or quadratic drag",
    ),
    "misspelt joint of a spring": (
        force("{joint_spring: {joint: j, stiffness: 1}}"),
        ":5:29: forces.F.joint_spring.joint: no joint 'j'; known: 'J'",
    ),
    "unknown freedom": (
        force("{joint_spring: {joint: J, stiffness: 1, freedom: angel}}"),
        ":5:3: forces.F: force 'F': joint 'J' has no coordinate 'angel'; did you mean 'angle'?",
    ),
    "law that creates energy": (
        force("{joint_spring: {joint: J, law: -v}}"),
        ":5:3: forces.F: force 'F': the law creates energy at a rate of -1000",
    ),
    "law of time": (
        force("{joint_spring: {joint: J, force: sin(t)}}"),
        ":5:39: forces.F.joint_spring.force: formula 'sin(t)': unknown name 't'; known: 'x'",
    ),
    "formula without quotes": (
        force("{joint_spring: {joint: J, force: max(x, 0)}}"),
        ":5:46: forces.F.joint_spring: unknown key '0)'; if it belongs to a formula, put that into",
    ),
    "port on the ground": (
        port("{force: {body: ground}}"),
        ":5:21: ports.P.force.body: the ground cannot move; name a body",
    ),
    "port on a missing body": (
        port("{torque: {body: c}}"),
        ":5:22: ports.P.torque.body: no body 'c'",
    ),
    "unknown axes": (
        port("{torque: {body: a, axes: wrold}}"),  # codespell:ignore
        ":5:31: ports.P.torque.axes: expected 'world' or 'body', found the text 'wrold'; did",
    ),
    "published in body axes": (
        port("{torque: {body: a, axes: body, published: true}}"),
        "ports.P: TorquePort: published",
    ),
    "value and law": (
        port("{joint: {joint: J, value: 1, law: t}}"),
        ":5:3: ports.P: port 'P': give either a value",
    ),
    "scalar for a vector": (
        port("{force: {body: a, value: 3}}"),
        ":5:31: ports.P.force.value: expected three",
    ),
    "vector for a scalar": (
        port("{joint: {joint: J, value: [1, 2, 3]}}"),
        "ports.P.joint.value: expected a number",
    ),
    "table backwards": (
        port("{joint: {joint: J, value: {table: {times: [1, 0], values: [1, 2]}}}}"),
        ":5:3: ports.P: Table: times must increase; 0 s follows 1 s",
    ),
    "table with holes": (
        port("{joint: {joint: J, value: {table: {times: [0, 1], values: [1]}}}}"),
        "ports.P: Table: (2,) times and (1,) values; give one value for each time",
    ),
    "table of another size": (
        port("{force: {body: a, value: {table: {times: [0, 1], values: [1, 2]}}}}"),
        "ports.P.force.value.table.values: expected a list of lists of three numbers",
    ),
    "code": (
        port("""{joint: {joint: J, value: "__import__('os').system('x')"}}"""),
        ":5:32: ports.P.joint.value: formula |no function",
    ),
    "attribute": (port('{joint: {joint: J, value: "().__class__"}}'), "is not allowed"),
    "lambda": (port('{joint: {joint: J, value: "lambda: 1"}}'), "is not allowed"),
    "tower": (
        port('{joint: {joint: J, value: "9**9**9"}}'),
        "9 ** 9 ** 9 is inf, not a finite number",
    ),
    "long formula": (
        port(f"{{joint: {{joint: J, value: {'t+' * 5000}t}}}}"),
        "it has 10001 characters",
    ),
    "code in a vector": (
        port('{force: {body: a, value: [0, "open(1)", 0]}}'),
        "no function 'open'",
    ),
    # -- simulation -------------------------------------------------------------------------
    "misspelt scheme": (
        run("{scheme: ph-mpp}"),
        ":3:22: simulation.scheme: no scheme 'ph-mpp'; did you mean",
    ),
    "unknown engine": (
        run("{engine: steam}"),
        ":3:22: simulation.engine: expected 'auto', 'compiled' or",
    ),
    "unknown coordinates": (
        run("{coordinates: euler}"),
        ":3:27: simulation.coordinates: expected 'directors', 'quaternions', 'rotations', ",
    ),
    "directors for a scheme of quaternions": (
        run("{scheme: eml, coordinates: directors}"),
        ":3:40: simulation.coordinates: scheme 'eml' runs in quaternions, not in directors",
    ),
    "quaternions for a scheme of directors": (
        run("{coordinates: quaternions, scheme: ph-mp-ggl}"),
        ":3:27: simulation.coordinates: scheme 'ph-mp-ggl' runs in directors, not in quaternions",
    ),
    "negative step": (
        run("{step: -0.1}"),
        ":3:20: simulation.step: the step is -0.1 s; it must be positive",
    ),
    "end before start": (
        run("{t_start: 5, t_end: 1}"),
        ":3:33: simulation.t_end: t_end = 1 s is not after t_start = 5",
    ),
    "half a step saved": (
        run("{save_every: 0.5}"),
        ":3:26: simulation.save_every: expected a whole number",
    ),
    "nothing saved": (
        run("{save_every: 0}"),
        ":3:26: simulation.save_every: save_every is 0; it must be a whole number, at least 1",
    ),
    "no tolerance": (run("{newton: {rtol: 0}}"), ":3:14: simulation.newton: "),
    "output elsewhere": (run("{output: /etc/passwd}"), ":3:14: simulation: unknown key 'output'"),
    "bodies of nothing": (
        joint("{revolute: {bodies: null, point: [0, 0, 0], axis: [1, 0, 0]}}"),
        ":4:7: joints.J.revolute: the key 'bodies' is missing",
    ),
    # -- events: one message for one mistake --------------------------------------------------
    "event that names a joint only": (
        event("{release: J}"),
        ":5:36: events.E.then.release: expected keys and values, found the text 'J'",
    ),
    "event in a list": (
        event("[stop, {lock: J}]"),
        ":5:40: events.E.then[1].lock: expected keys and values, found the text 'J'",
    ),
    "event of another kind": (
        event("{releases: {joint: J}}"),
        ":5:27: events.E.then: unknown key 'releases'; did you mean 'release'?",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_refused_with_file_line_and_key(case, tmp_path):
    content, expected = MALFORMED[case]
    path = tmp_path / "model.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    start = time.process_time()
    with pytest.raises(ps.ModelFileError) as caught:
        ps.Model.from_yaml(path)
    assert time.process_time() - start < 5
    message = str(caught.value)
    head, *more = expected.split("|")
    if head.startswith(":"):
        assert message.startswith(f"{path}{head}") or f"\n  {path}{head}" in message, message
    else:
        assert head in message, message
    assert message.startswith(str(path))
    assert all(text in message for text in more), message
    assert len(message) < 600
    assert "problems" not in message or not case.startswith("event")
    assert isinstance(caught.value, ps.InputError)


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.yaml"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    start = time.process_time()
    with pytest.raises(ps.ModelFileError, match=r"large.yaml: 100 MB are too large .* 10 MB are"):
        ps.Model.from_yaml(path)
    assert time.process_time() - start < 1


def test_a_large_text_is_refused():
    with pytest.raises(ps.ModelFileError, match=r"<text>: 11 MB are too large"):
        ps.Model.from_yaml_text("# " + "x" * 11_000_000)


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "slider-crank.yaml").touch()
    for path, message in (
        (tmp_path, "this is a folder; name a model file"),
        (tmp_path / "slider_crank.yaml", "no such file; did you mean 'slider-crank.yaml'?"),
        (tmp_path / "none" / "a.yaml", "no such file; there is no folder"),
        (tmp_path / "a.yaml" / "\0", "the file cannot be read"),
        ("/dev/null", "this is not a regular file"),
        (tmp_path / ("x" * 5000), "the file cannot be read"),
        (tmp_path / "slider-crank.yaml" / "b", "the file cannot be read|no such file"),
    ):
        with pytest.raises(ps.ModelFileError, match=message) as caught:
            ps.Model.from_yaml(path)
        assert str(caught.value).startswith(printable(str(path)))


def test_all_problems_are_listed_in_the_order_of_their_lines():
    text = (
        "poinsot: 1\n"
        "gravity: [0, 0]\n"
        "bodies:\n"
        "  a: {sphere: {mass: heavy, radius: 1}, velocity: 3}\n"
        "  b: {spher: {mass: 1}}\n"
        "simulation: {step: .inf}\n"
    )
    with pytest.raises(ps.ModelFileError) as caught:
        ps.Model.from_yaml_text(text)
    places = [problem.split(" ")[0] for problem in caught.value.problems]
    assert places == ["<text>:2:10:", "<text>:4:22:", "<text>:4:51:", "<text>:5:7:", "<text>:6:20:"]
    first, *rest = str(caught.value).splitlines()
    assert first == "5 problems"
    assert rest == [f"  {problem}" for problem in caught.value.problems]


def test_at_most_ten_problems_are_listed():
    bodies = "".join(f"  b{i}: {{}}\n" for i in range(25))
    with pytest.raises(ps.ModelFileError) as caught:
        ps.Model.from_yaml_text(f"poinsot: 1\nbodies:\n{bodies}")
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[0], lines[-1]) == (12, "25 problems", "  and 15 more")
    assert len(caught.value.problems) == 25


def test_parts_that_fail_are_all_named_but_not_what_hangs_on_them():
    text = (
        "poinsot: 1\n"
        "bodies:\n"
        "  a: {point_mass: {mass: -1}}\n"
        "  b: {point_mass: {mass: 1}}\n"
        "  c: {point_mass: {mass: 0}}\n"
        "markers:\n"
        "  m: {body: a, position: [0, 0, 0]}\n"
        "joints:\n"
        "  J: {weld: {bodies: [a, b]}}\n"
        "  K: {revolute: {bodies: [ground, b], point: [0, 0, 0], axis: [0, 0, 0]}}\n"
        "forces:\n"
        "  F: {joint_spring: {joint: K, stiffness: 1}}\n"
        "ports:\n"
        "  P: {force: {body: a}}\n"
    )
    with pytest.raises(ps.ModelFileError) as caught:
        ps.Model.from_yaml_text(text)
    places = [problem.split(" ")[:2] for problem in caught.value.problems]
    assert places == [
        ["<text>:3:3:", "bodies.a:"],
        ["<text>:5:3:", "bodies.c:"],
        ["<text>:10:3:", "joints.K:"],
    ]


@pytest.mark.parametrize("near", [True, False], ids=["misspelt", "unlike any other"])
def test_many_wrong_names_take_no_longer_than_they_must(near):
    count = 4000
    bodies = "".join(f"  body{i:05}: {{point_mass: {{mass: 1}}}}\n" for i in range(count))
    letters = str.maketrans("0123456789", "QWERTZUIPA")
    wrong = [f"bdoy{i:05}" if near else f"{i:05}".translate(letters) for i in range(count)]
    joints = "".join(
        f"  joint{i:05}: {{weld: {{bodies: [ground, {name}]}}}}\n" for i, name in enumerate(wrong)
    )
    start = time.process_time()
    with pytest.raises(ps.ModelFileError) as caught:
        ps.Model.from_yaml_text(f"poinsot: 1\nbodies:\n{bodies}joints:\n{joints}")
    assert time.process_time() - start < 5
    assert len(caught.value.problems) == count
    lines = str(caught.value).splitlines()
    expected = (
        "did you mean 'body0000" if near else "known: 'ground', 'body00000', .* and 3961 more"
    )
    assert all(re.search(expected, line) for line in lines[1:11])
    assert len(str(caught.value)) < 10_000


def test_the_documentation_says_how_many_values_a_file_may_have():
    page = Path(__file__).parents[2] / "docs" / "model-files.md"
    assert f"at most {MOST:,} values nested {DEEPEST} deep" in " ".join(page.read_text().split())
