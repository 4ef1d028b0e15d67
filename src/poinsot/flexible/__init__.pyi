"""The public names, and where each of them comes from; they are imported when first used."""

from poinsot.elements.continua import ElasticMesh as ElasticMesh
from poinsot.flexible.elastodynamics import BodyForce as BodyForce
from poinsot.flexible.elastodynamics import Continuum as Continuum
from poinsot.flexible.elastodynamics import Traction as Traction
from poinsot.flexible.elastodynamics import continuum as continuum
