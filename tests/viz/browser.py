"""A real browser without a window, driven through its DevTools protocol."""

import base64
import io
import json
import shutil
import subprocess
import time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from websockets.sync.client import connect

PROGRAM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--mute-audio"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"),
)


def until(condition, seconds=60):
    """Wait for something that is seen in time, however slow the machine."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.02)


class Browser:
    """A running browser; use it in a `with` statement."""

    def __init__(self, *extra):
        self.folder = TemporaryDirectory(ignore_cleanup_errors=True)
        command = [PROGRAM, *FLAGS, *extra, "--remote-debugging-port=0"]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={self.folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port, path = self._address()
        address = f"ws://127.0.0.1:{port}{path}"
        self.socket = connect(address, max_size=None)
        self.numbers, self.events = count(1), []

    def _address(self, seconds=60):
        """Wait for the file in which the browser says where it listens."""
        file, end = Path(self.folder.name, "DevToolsActivePort"), time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if file.exists() and len(lines := file.read_text().split()) == 2:
                return lines
            time.sleep(0.05)
        raise RuntimeError("the browser did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("Browser.close")
        self.socket.close()
        self.process.wait(20)
        self.folder.cleanup()

    def call(self, method, session=None, **params):
        """Send a command and return its answer; what else arrives is kept as events."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        self.socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, width=1000, height=700, dark=False):
        return Tab(self, url, width, height, dark)


class Tab:
    """A page that is open."""

    def __init__(self, browser, url, width, height, dark):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def evaluate(self, expression):
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"not true after {seconds} s: {condition}")
            time.sleep(0.05)

    def settle(self):
        """Wait until everything that has changed is painted."""
        frames = (
            "requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(go)))"
        )
        self.evaluate(f"new Promise((go) => {frames})")

    def screenshot(self, path=None):
        """Return what is seen as numbers; (height, width, 3)."""
        self.settle()
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(data)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)

    def press(self, key, modifiers=0):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)

    def drag(self, start, end, button="left"):
        mouse = {"button": button, "buttons": {"left": 1, "right": 2}[button], "clickCount": 1}
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **mouse)

    def own(self, *methods):
        """Return events of this page so far."""
        self.evaluate("0")
        return [
            event["params"]
            for event in self.browser.events
            if event.get("sessionId") == self.session and event["method"] in methods
        ]

    @property
    def complaints(self):
        """Errors and warnings on the console, and exceptions nobody caught."""
        thrown = [e["exceptionDetails"] for e in self.own("Runtime.exceptionThrown")]
        said = [
            e for e in self.own("Runtime.consoleAPICalled") if e["type"] in ("error", "warning")
        ]
        logged = [e["entry"] for e in self.own("Log.entryAdded")]
        return thrown + said + [e for e in logged if e["level"] in ("error", "warning")]

    @property
    def requests(self):
        """Addresses of everything that the page asked for."""
        return [event["request"]["url"] for event in self.own("Network.requestWillBeSent")]
