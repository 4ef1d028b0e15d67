"""Groups of links that form one body, and the chains of joints between them.

A link without inertia cannot be a body. If it is fixed to another link, it is merged with that one.
Between two joints it is a massless frame: both become one joint of the model, or the frame is lent
a mass by its neighbours (`robot_masses`).
"""

from dataclasses import dataclass
from typing import TypeAlias

from poinsot.errors import RobotFileError
from poinsot.model.robot_joints import Segment, segments
from poinsot.model.robot_masses import Mass, lend
from poinsot.robots.description import Joint, Link, Robot, Step


@dataclass(eq=False)
class Group:
    """Merged links: the one that names the body, all of them, and their total mass."""

    head: Link
    links: list[Link]
    mass: Mass | None
    lent: bool = False
    #: For a frame inside of a joint: the link before it, and the steps from there.
    after: str | None = None
    steps: tuple[Step, ...] = ()


#: A joint, the groups that it connects, and the segments and massless frames between them.
Chain: TypeAlias = tuple[Joint, Group | None, Group, list[Segment | Group]]


def heavy(link: Link) -> bool:
    """Return whether a link can be a body of its own."""
    return bool(link.mass) and bool(link.inertia.any())


class Groups:
    """The groups of links of a robot, and the chains of joints between them.

    Attributes
    ----------
    of : dict
        Name of a link -> its group; None: fixed to the ground.
    chains : list of Chain
        Joints of the model, with masses lent where they are needed.
    """

    def __init__(self, robot: Robot, merge_fixed: bool) -> None:
        self.robot, self.merge_fixed = robot, merge_fixed
        self.of = self._merged()
        self.chains = self._chains()
        self._lend_masses()

    def _refuse(self, element: str, problem: str) -> RobotFileError:
        return RobotFileError(self.robot.file, element, problem)

    def _merged(self) -> dict[str, Group | None]:
        """Return groups of links: those connected by fixed joints, if they are to be merged.

        A link without inertia is always merged with the link that it is fixed to.
        """
        links = self.robot.links
        members: dict[str | None, list[Link]] = {None: []}
        head: dict[str | None, str | None] = {None: None}
        for joint in self.robot.joints:
            link = links[joint.child]
            above = head[joint.parent]
            empty = above is not None and not any(map(heavy, members[above]))
            if joint.fixed and (self.merge_fixed or empty or not heavy(link)):
                head[link.name] = above
            else:
                head[link.name] = link.name
            members.setdefault(head[link.name], []).append(link)
        found: dict[str, Group | None] = dict.fromkeys(link.name for link in members.pop(None))
        for own in members.values():
            parts = [link for link in own if link.mass or link.inertia.any()]
            heads = [link for link in own if heavy(link)] or parts or own
            group = Group(heads[0], own, Mass.joined(map(Mass.of, parts)) if parts else None)
            found |= dict.fromkeys((link.name for link in own), group)
        return found

    def _chains(self) -> list[Chain]:
        """Return joints with both groups, and the segments and massless frames between them.

        A moving group without mass becomes a frame in the chain of the joint after it.
        """
        after: dict[Group, list[Joint]] = {}
        before: dict[Group, Joint] = {}
        moving = [joint for joint in self.robot.joints if self._moves(joint)]
        for joint in moving:
            child = self.of[joint.child]
            parent = None if joint.parent is None else self.of[joint.parent]
            assert child is not None
            before[child] = joint
            if parent is not None:
                after.setdefault(parent, []).append(joint)
        found = []
        for joint in moving:
            child = self.of[joint.child]
            assert child is not None
            if child.mass is None:
                if len(after.get(child, ())) != 1 or joint.free or after[child][0].free:
                    raise self._refuse(
                        f"link '{child.head.name}'",
                        "can move and has no mass; give it an <inertial> or fix it to another link",
                    )
                continue
            parts: list[Segment | Group] = list(segments(joint.steps))
            parent = None if joint.parent is None else self.of[joint.parent]
            while parent is not None and parent.mass is None and parent in before:
                above = before[parent]
                parts = [*segments(above.steps), parent, *parts]
                parent = None if above.parent is None else self.of[above.parent]
            if parent is not None and parent.mass is None:
                raise self._refuse(
                    f"link '{parent.head.name}'",
                    "is free and has no mass; give it an <inertial>, or fix it to another link",
                )
            found.append((joint, parent, child, parts))
        return found

    def _moves(self, joint: Joint) -> bool:
        """Return whether a joint connects two groups, not links of the same one."""
        child = self.of[joint.child]
        parent = None if joint.parent is None else self.of[joint.parent]
        return child is not None and child is not parent

    def _lend_masses(self) -> None:
        """Put a frame with a lent mass between consecutive segments."""
        for k, chain in enumerate(self.chains):
            joint, parent, child, parts = chain
            steps = [s for part in parts if isinstance(part, Segment) for s in part.steps]
            found = self._lent(joint, parent, child, parts)
            frames = [part for part in parts if isinstance(part, Group)]
            if found is None and frames:
                # What lies between may be one joint of the model without these frames.
                parts = list(segments(steps))
                found = self._lent(joint, parent, child, parts)
                for frame in frames:
                    self._drop(frame)
            if found is None:
                names = " and ".join(f"'{step.name}'" for step in steps)
                raise self._refuse(
                    f"joint '{joint.name}'",
                    f"cannot be represented by joints of a model ({names}): put a link with a mass "
                    "between them",
                )
            self.chains[k] = joint, parent, child, found

    def _drop(self, frame: Group) -> None:
        """Leave out a massless frame that would be inside of a joint."""
        for link in frame.links:
            self.robot.omit(
                f"link '{link.name}'", "left out; its two joints become one joint of the model"
            )
            del self.of[link.name]

    def _lent(
        self, joint: Joint, parent: Group | None, child: Group, parts: list[Segment | Group]
    ) -> list[Segment | Group] | None:
        """Return segments with frames between them that were lent a mass; None: impossible."""
        assert child.mass is not None
        above, below = None if parent is None else parent.mass, child.mass
        found: list[Segment | Group] = []
        got: list[tuple[Group, Mass]] = []
        done = list[Step]()
        for part in parts:
            if isinstance(part, Segment) and found and isinstance(found[-1], Segment):
                link = Link(
                    f"{joint.name}.{len(got) + 1}", child.head.position, child.head.rotation
                )
                before = None if parent is None else parent.head.name
                found.append(Group(link, [], None, after=before, steps=tuple(done)))
            frame = found[-1] if isinstance(part, Segment) and found else None
            if isinstance(frame, Group):
                after = [s for each in parts if isinstance(each, Segment) for s in each.steps]
                lent = lend(done, after[len(done) :], above, below)
                if lent is None:
                    return None
                above, below = lent.parent, lent.child
                got.append((frame, lent.own))
            found.append(part)
            if isinstance(part, Segment):
                done += part.steps
        for frame, mass in got:
            frame.mass, frame.lent = mass, True
            self.of[frame.head.name] = frame
        if parent is not None and above is not parent.mass:
            parent.mass, parent.lent = above, True
        if below is not child.mass:
            child.mass, child.lent = below, True
        return found
