"""What takes the run of a runner backwards in machine code."""

from poinsot.ph.runner import Runner
from poinsot.systems.compiled.backward import DirectorSweep, MechanismSweep, not_backwards
from poinsot.systems.compiled.floating import FloatingRunner
from poinsot.systems.compiled.quaternions import QuaternionRunner
from poinsot.systems.compiled.quaternions_backward import QuaternionSweep, RotationSweep
from poinsot.systems.compiled.rotations import RotationRunner
from poinsot.systems.compiled.runner import DirectorRunner


def sweep_of(runner: Runner | None) -> MechanismSweep | str:
    """Return what takes a run backwards, or why nothing does."""
    match runner:
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
