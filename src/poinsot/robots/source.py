"""Read XML files of other programs safely, with errors that name the file."""

from pathlib import Path
from xml.etree import ElementTree

from poinsot.errors import RobotFileError

#: A larger file is refused before it is read [bytes].
LARGEST = 50_000_000


def read_xml(path: str | Path, kind: str, root: str) -> ElementTree.Element:
    """Return the root element of an XML file that declares no entities.

    Entities can make a few lines expand to gigabytes or read other files; no robot needs them.
    """
    name = str(path)
    try:
        if Path(path).stat().st_size > LARGEST:
            raise RobotFileError(
                name, kind, f"is larger than {LARGEST / 1e6:g} MB, the limit for robot files"
            )
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise RobotFileError(name, kind, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RobotFileError(name, kind, "is not UTF-8 text; convert it to UTF-8") from None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise RobotFileError(
            name, kind, "declares a document type or entities, which are unsafe; remove them"
        )
    try:
        found = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise RobotFileError(name, kind, f"is not well-formed XML: {error}") from None
    except ValueError as error:
        raise RobotFileError(name, kind, f"cannot be read as XML: {error}") from None
    if found.tag != root:
        raise RobotFileError(name, kind, f"begins with <{found.tag}>, expected <{root}>")
    return found
