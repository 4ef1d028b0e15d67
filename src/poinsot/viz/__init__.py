"""Pictures of a Result. They read it and never call back."""

from poinsot.names import publish

publish(globals())
