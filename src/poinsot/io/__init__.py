"""Model files: from text to a checked document and back, without knowledge of models.

Modules are imported where they are used, because pydantic and YAML take time to import.
"""

from typing import Any


def schema() -> dict[str, Any]:
    """Return the JSON schema of model files, for editors and other programs."""
    from poinsot.io.document import Document

    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return dialect | Document.model_json_schema() | {"title": "Poinsot model file"}
