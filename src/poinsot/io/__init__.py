"""Model files: text to a checked document and back. It knows nothing of models.

The parts are imported where they are used, for pydantic and YAML take their time to start.
"""

from typing import Any


def schema() -> dict[str, Any]:
    """Return the JSON schema of model files, for editors and other programs."""
    from poinsot.io.document import Document

    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return dialect | Document.model_json_schema() | {"title": "Poinsot model file"}
