"""Results of several kinds, and a browser that all tests share."""

import browser
import pytest
from runs import evil, run


@pytest.fixture(scope="session")
def slider_crank():
    return run("spatial-slider-crank", t_end=1.0)


@pytest.fixture(scope="session")
def results(slider_crank):
    """One result of every kind, by name."""
    return {
        "slider-crank": slider_crank,
        "squeezer": run("andrews-squeezer", h=2e-4, t_end=4e-3),  # springs, ports, repeated rows
        "motor": run("dc-motor", t_end=0.01),  # no bodies
        "free body": run("free-body", t_end=0.5),  # no joints
        "pendulum": run("pendulum", t_end=0.2),  # a point on a rod
        "top": run("heavy-top", t_end=0.1),
        "pair": run("flying-cylindrical-pair", t_end=0.02),
        "quaternions": run("spatial-slider-crank", t_end=0.2, scheme="emh-mean"),
        "one step": run("spatial-slider-crank", t_end=0.01),
        "evil": evil(),
    }


@pytest.fixture(scope="session")
def chromium():
    if browser.PROGRAM is None:
        pytest.skip("no browser: install chromium to test pages as they are seen")
    with browser.Browser() as running:
        yield running
