"""What takes the run of a runner backwards in machine code."""

from poinsot.ph.hosting import HostedRunner
from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Runner
from poinsot.systems.compiled.backward import DirectorSweep, MechanismSweep, not_backwards
from poinsot.systems.compiled.floating import FloatingRunner
from poinsot.systems.compiled.hosted_backward import HostedSweep
from poinsot.systems.compiled.quaternions import QuaternionRunner
from poinsot.systems.compiled.quaternions_backward import QuaternionSweep, RotationSweep
from poinsot.systems.compiled.rotations import RotationRunner
from poinsot.systems.compiled.runner import DirectorRunner


def sweep_of(runner: Runner | None, times: Vector) -> MechanismSweep | str:
    """Return what takes a run backwards, or why nothing does; steps begin and end at times [s]."""
    match runner:
        case HostedRunner() if isinstance(runner.own, DirectorRunner):
            return not_backwards(runner.own) or HostedSweep(runner, times)
        case HostedRunner():
            return "systems at ports in these coordinates"
        case FloatingRunner():
            return "elastic bodies in floating frames"
        case DirectorRunner():
            return not_backwards(runner) or DirectorSweep(runner)
        case RotationRunner():
            return not_backwards(runner.inner) or RotationSweep(runner)
        case QuaternionRunner() if not runner.turning.mean:
            return "lever arms of mean quaternions"
        case QuaternionRunner():
            return not_backwards(runner) or QuaternionSweep(runner)
    return "these coordinates"
