# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""What the machine can do: the state that it is in, and the least time that a cell can take."""

import os
import subprocess

from cells import KIB, MIB

# A virtual machine's cores are at times near to each other (they share a cache), at times far; and
# somebody else may compute. Bounds of the time in which two pinned threads exchange a flag, in ns.
STATES = (("near", 130), ("far", 700))
FOOTPRINT_MAX = 256 * MIB  # nothing holds that but memory


def state_of(flags_ns):
    for name, bound in STATES:
        if flags_ns < bound:
            return name
    return "busy"


def joined_state(before, after):
    """That of what was measured between two probes."""
    return before if before == after else "mixed"


class Machine:
    """The program `machine`, which measures when it is asked."""

    def __init__(self, program):
        self.cores = os.cpu_count()
        self._process = subprocess.Popen([str(program)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)

    def ask(self, question):
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def flags_ns(self):
        return self.ask("flags")

    def close(self):
        self._process.stdin.close()
        self._process.wait()


class Limits:
    """The least times of cells, by state. What they follow from is measured when it is first
    needed, while the machine is in that state."""

    def __init__(self, machine):
        self._machine = machine
        self._known = {}

    def _measured(self, state, question, best):
        key = state, question
        if key not in self._known:
            self._known[key] = best(self._machine.ask(question) for _ in range(2))
        return self._known[key]

    def latency(self, cell, state):
        """Seconds that it takes ranks to meet."""
        n, cores = cell.ranks, self._machine.cores
        meets = cell.operation not in ("broadcast", "send-recv")
        if n <= cores:
            question = "flags" if meets or cell.operation == "send-recv" else "handover"
            return self._measured(state, question, min) / 1e9
        barrier = self._measured(state, f"barrier {n}", min) / 1e9
        # A barrier takes n / cores switches; the others need half of one.
        return barrier if meets else barrier * cores / n / 2

    def seconds(self, cell, state):
        """Each input read once, each output written once, at the rates of what holds them."""
        read, written = cell.traffic()
        latency = self.latency(cell, state)
        if read + written < 16 * KIB:
            return latency
        threads = min(cell.ranks, self._machine.cores)
        footprint = min(1 << (read + written - 1).bit_length(), FOOTPRINT_MAX)

        def rate(kind):
            return self._measured(state, f"{kind} {footprint} {threads}", max) * 1e9

        return max(read / rate("read"), written / rate("write"),
                   (read + written) / rate("copy"), latency)
