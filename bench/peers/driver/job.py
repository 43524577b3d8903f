# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""The ranks of one library, which sleep until they are to measure something."""

import contextlib
import dataclasses
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from settings import Place

START_SECONDS = 30
COMMAND_SECONDS = 60


class JobError(Exception):
    """The job can't go on; what it said is in the text."""


@dataclasses.dataclass(frozen=True)
class Visit:
    """What the ranks are told at once: calls in batches, and their check."""

    warm_up: int
    batch: int
    repeats: int
    seed: int


@dataclasses.dataclass(frozen=True)
class Outcome:
    seconds: tuple  # of one call, for each repeat: the slowest rank's end
    wrong: int  # elements, over all ranks


def call_seconds(stamps, batch):
    """From the first rank's begin to the last rank's end, of each repeat. `stamps` has for each
    rank begin and end of one repeat after the other, in ns of one clock."""
    repeats = len(stamps[0]) // 2
    return tuple(
        (max(rank[2 * i + 1] for rank in stamps) - min(rank[2 * i] for rank in stamps))
        / batch / 1e9
        for i in range(repeats)
    )


def give_precedence(connection):
    """To a rank whose launcher has given it a session of its own, so that all ranks have the same
    share of the cores. Only root may; without that, other programs get more time."""
    pid, _, _ = struct.unpack("3i", connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-20")


class Job:
    """Starts the ranks; they are ended by close(), or when this process ends, however it does:
    they then lose the other end of their sockets."""

    def __init__(self, setting, ranks, binaries, prefix):
        self.setting = setting
        self.ranks = ranks
        self._folder = Path(tempfile.mkdtemp(prefix="commrig-peers-"))
        self._processes = []
        self._connections = []
        self._log = open(self._folder / "log", "w+b")
        try:
            self._start(binaries, prefix)
        except BaseException:
            self.close()
            raise

    def _start(self, binaries, prefix):
        rendezvous = self._folder / "rendezvous"
        rendezvous.mkdir()
        place = Place(binaries, prefix, rendezvous, self._folder / "socket",
                      self._folder / "meeting", self.ranks, os.cpu_count())
        place.meeting.write_bytes(bytes(64))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place.socket))
        self._listener.listen(self.ranks)
        environment = {**os.environ, **self.setting.environment}
        for words in self.setting.commands(place):
            try:
                self._processes.append(subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
                    env=environment, process_group=0))
            except OSError as error:
                raise JobError(f"{words[0]}: {error.strerror}") from error

    def await_ranks(self):
        """Waits until all ranks have connected."""
        last = time.monotonic() + START_SECONDS
        with self._listener:
            while len(self._connections) < self.ranks:
                self._listener.settimeout(0.5)
                try:
                    connection, _ = self._listener.accept()
                except socket.timeout:
                    self._check_alive(last)
                    continue
                connection.settimeout(COMMAND_SECONDS)
                give_precedence(connection)
                reader = connection.makefile("r")
                self._connections.append((connection, reader))
        for _, reader in self._connections:
            self._read(reader)

    def _check_alive(self, last):
        ended = [process.poll() for process in self._processes]
        if any(code is not None for code in ended):
            raise JobError(f"ended before it began, exit code {ended}{self._said()}")
        if time.monotonic() > last:
            raise JobError(f"{self.ranks - len(self._connections)} of {self.ranks} ranks have "
                           f"not come within {START_SECONDS} s{self._said()}")

    def run(self, cell, visit):
        """An Outcome, or None if the library does not have the operation."""
        line = (f"run {cell.operation} {cell.dtype} {cell.size} {visit.warm_up} {visit.batch} "
                f"{visit.repeats} {visit.seed}\n").encode()
        try:
            for connection, _ in self._connections:
                connection.sendall(line)
        except OSError as error:
            raise JobError(f"lost a rank{self._said()}") from error
        answers = [self._read(reader).split() for _, reader in self._connections]
        if all(answer == ["absent"] for answer in answers):
            return None
        if any(len(answer) != 2 + 2 * visit.repeats for answer in answers):
            raise JobError(f"not an answer: {answers}")
        stamps = [[int(word) for word in answer[2:]] for answer in answers]
        return Outcome(call_seconds(stamps, visit.batch), sum(int(a[1]) for a in answers))

    def _read(self, reader):
        try:
            line = reader.readline()
        except OSError as error:
            raise JobError(f"no answer within {COMMAND_SECONDS} s{self._said()}") from error
        if not line.endswith("\n"):
            raise JobError(f"lost a rank{self._said()}")
        return line

    def _said(self):
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return ": " + " | ".join(lines[-3:]) if lines else ""

    def close(self):
        """Hangs up, and kills what does not end by itself."""
        for connection, reader in self._connections:
            reader.close()
            connection.close()
        last = time.monotonic() + 2
        for process in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, last - time.monotonic()))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)
