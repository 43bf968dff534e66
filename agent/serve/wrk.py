"""The same load by `wrk`, where it is installed: another client, so that our own is not the only witness."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .load import Timings

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_SCRIPT = """
local questions = {%s}
local number = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  number = number + 1
  return wrk.format(nil, "/ask", nil, questions[(number - 1) %% #questions + 1])
end
"""


class WrkReport(Timings):
    """What wrk says of itself; it keeps no latencies, only shares of them."""

    def __init__(self, text: str, seconds: float) -> None:
        super().__init__(seconds=seconds)
        self._text = text
        errors = re.findall(r"Non-2xx or 3xx responses: (\d+)", text)
        self.failed = sum(map(int, errors))

    @property
    def per_second(self) -> float:
        return float(re.findall(r"Requests/sec:\s+([\d.]+)", self._text)[0])

    def percentile(self, share: float) -> float:
        """50, 75, 90 and 99 percent are what it tells."""
        number, unit = re.findall(rf"{share:.0%}\s+([\d.]+)(us|ms|s|m)", self._text)[0]
        return float(number) * _UNITS[unit]


def wrk(address: str, questions: Sequence[str], *, connections: int, seconds: float) -> WrkReport:
    """Raises FileNotFoundError where it is not installed."""
    bodies = ", ".join(_lua(json.dumps({"question": question})) for question in questions)
    with TemporaryDirectory() as folder:
        script = Path(folder, "ask.lua")
        script.write_text(_SCRIPT % bodies, encoding="utf-8")
        length = f"{max(1, round(seconds))}s"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{length}", "--timeout", "60s", "--latency", "-s", str(script)]
        run = subprocess.run([*command, address], capture_output=True, text=True, check=True)
    return WrkReport(run.stdout, seconds)


def _lua(text: str) -> str:
    r"""A string of Lua.

    >>> print(_lua('a "b" \\'))
    "a \"b\" \\"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
