# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Other programs that compute meanwhile would be measured too, so ranks go before them. Only root
may ask for that; without it, everything works, and is disturbed more."""

import contextlib
import os
from pathlib import Path

NICENESS = -20


def take_precedence():
    """For this process and what it starts from now on."""
    with contextlib.suppress(OSError):
        os.nice(NICENESS)


def give_precedence(pid):
    """To the session of a process that this one, which has taken precedence, has started: kernels
    may share the cores among sessions first."""
    if os.getpriority(os.PRIO_PROCESS, 0) != NICENESS:
        return
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(NICENESS))
