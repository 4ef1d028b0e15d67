"""The public names, and where each of them comes from."""

from poinsot.result.checkpoint import find_checkpoint as find_checkpoint
from poinsot.result.load import load as load
from poinsot.result.records import Array as Array
from poinsot.result.records import BodyRecord as BodyRecord
from poinsot.result.records import Counts as Counts
from poinsot.result.records import JointRecord as JointRecord
from poinsot.result.records import Lazy as Lazy
from poinsot.result.records import Observation as Observation
from poinsot.result.records import PortRecord as PortRecord
from poinsot.result.records import ReactionRecord as ReactionRecord
from poinsot.result.records import SensorRecord as SensorRecord
from poinsot.result.records import StateRecord as StateRecord
from poinsot.result.records import Stats as Stats
from poinsot.result.records import StressRecord as StressRecord
from poinsot.result.result import Result as Result
from poinsot.result.result import SimulationError as SimulationError
from poinsot.result.result import Status as Status
from poinsot.result.scene import Carried as Carried
from poinsot.result.scene import Piece as Piece
from poinsot.result.scene import Pin as Pin
from poinsot.result.scene import Point as Point
from poinsot.result.scene import Scene as Scene
from poinsot.result.scene import Slender as Slender
from poinsot.result.scene import Strut as Strut
from poinsot.result.writer import Writer as Writer
from poinsot.result.writer import output_path as output_path
