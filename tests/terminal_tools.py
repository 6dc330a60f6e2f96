"""Runs the command on a terminal: a pseudo-terminal of its own, with keys that are typed."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time

from cli_tools import with_pack


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        options = with_pack({"env": {"TERM": "xterm", "COLUMNS": "80", **environment}})
        command = [sys.executable, "-m", "migrator", *arguments]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, close_fds=True, **options
        )
        os.close(slave)
        self.shown = ""

    def until(self, text: str) -> str:
        """What is shown up to the next `text`, without colours. Raises AssertionError where it does not come."""
        end = time.monotonic() + 60
        while text not in self.plain:
            assert time.monotonic() < end, self.shown
            if not self._read():
                break
        before, found, after = self.plain.partition(text)
        assert found, self.shown
        self.shown = after
        return before

    def type(self, keys: str) -> None:
        """Type something, and the Enter key."""
        os.write(self.master, (keys + "\n").encode())

    def close(self) -> int:
        """The exit status, once the command has ended."""
        while self._read():
            pass
        return self.process.wait(30)

    @property
    def plain(self) -> str:
        """What is shown and not looked at yet."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.shown).replace("\r\n", "\n")

    def _read(self) -> bool:
        if not select.select([self.master], [], [], 30)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)
