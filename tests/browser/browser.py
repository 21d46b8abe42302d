"""Chromium without a window, driven over a pipe by the DevTools protocol."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

SECONDS = 60  # that any answer may take


def find_chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class BrowserError(Exception):
    pass


class Browser:
    """One page. Messages end with a zero byte; descriptors 3 and 4 are the browser's ends."""

    def __init__(self):
        # Its processes may write there a little longer than it lives.
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()
        command = [
            find_chromium(), "--headless=new", "--remote-debugging-pipe", "--disable-gpu",
            "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update",
            f"--user-data-dir={self.profile.name}", "about:blank",
        ]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # which root has none of

        def place_pipes():
            # Away from 3 and 4 first, where the other one may be.
            reading, writing = os.dup(to_read), os.dup(to_write)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            command, close_fds=False, preexec_fn=place_pipes, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self.last = 0
        self.pending = b""
        self.session = None
        self.errors = []  # what the console said, and exceptions
        self.requests = []  # addresses that the page asked for
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.profile.cleanup()

    def send(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        return self.last

    def ask(self, method, **parameters):
        number = self.send(method, **parameters)
        while True:
            answer = self.receive(SECONDS)
            if answer.get("id") != number:
                continue
            if "error" in answer:
                raise BrowserError(f"{method}: {answer['error']}")
            return answer["result"]

    def receive(self, seconds):
        """The next message; events are noted on the way."""
        deadline = time.monotonic() + seconds
        while b"\0" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.from_browser], [], [], left)[0]:
                raise BrowserError(f"the browser said nothing for {seconds} s")
            more = os.read(self.from_browser, 1 << 20)
            if not more:
                raise BrowserError("the browser has ended")
            self.pending += more
        text, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"])[:400])
        if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.errors.append(json.dumps(parameters["args"])[:400])
        if method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(parameters["entry"]["text"])
        if method == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + parameters["message"])
            self.send("Page.handleJavaScriptDialog", accept=False)  # or the page stands still
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def forget(self):
        """What happened so far."""
        self.errors.clear()
        self.requests.clear()

    def open(self, address):
        self.ask("Page.navigate", url=address)
        while self.evaluate("document.readyState") != "complete":
            pass

    def evaluate(self, expression):
        """Its value, also of a promise."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"])[:600])
        return answer["result"].get("value")

    def resize(self, width, height, phone=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=2 if phone else 1, mobile=phone)

    def prefer(self, scheme, media=""):
        self.ask("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def key(self, name, code):
        key = {"key": name, "code": name, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text="\r" if name == "Enter" else "", **key)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **key)

    def screenshot(self, file):
        """Of the whole page."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(picture["data"]))

    def print(self, file):
        file.write_bytes(base64.b64decode(
            self.ask("Page.printToPDF", printBackground=False)["data"]))
