"""Malformed model files on the command line: exit status 2, one message, no traceback."""

import importlib.util
import time
from itertools import cycle
from pathlib import Path

import pytest
from commands import here

SOURCE = Path(__file__).parents[1] / "io" / "test_malformed_files.py"
SPEC = importlib.util.spec_from_file_location("malformed", SOURCE)
malformed = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(malformed)


#: Both commands read files alike, and take turns.
CASES = list(zip(malformed.MALFORMED, cycle(["run", "check"]), strict=False))


@pytest.mark.parametrize(("case", "command"), CASES)
def test_a_malformed_file_is_exit_status_two(case, command, tmp_path, monkeypatch, capsys):
    content, _ = malformed.MALFORMED[case]
    path = tmp_path / "model.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    start = time.process_time()
    status, out, err = here(monkeypatch, capsys, command, path)
    assert time.process_time() - start < 5
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert str(path) in err
    assert "Traceback" not in err
