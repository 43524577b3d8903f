# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""From samples to figures: medians within one state of the machine, ratios, goals."""

import dataclasses
import statistics

from cells import KIB, MIB


@dataclasses.dataclass(frozen=True)
class Sample:
    state: str
    seconds: tuple  # of one call, a number for each repeat
    batch: int
    wrong: int


@dataclasses.dataclass
class Record:
    """All that is known of a cell in one setting."""

    samples: list = dataclasses.field(default_factory=list)
    absent: bool = False  # the library has no such operation
    failure: str = ""

    @property
    def wrong(self):
        return sum(sample.wrong for sample in self.samples)


@dataclasses.dataclass(frozen=True)
class Figure:
    """Of one setting in a cell. Seconds are None where there is no result, and why is in `remark`:
    "absent", "failed", or "wrong"; a wrong result keeps its time."""

    setting: object
    seconds: float | None
    low: float | None  # quartiles
    high: float | None
    other_state: bool  # nothing was measured in the cell's state
    remark: str = ""

    @property
    def counts(self):
        return self.seconds is not None and not self.remark


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The settings of one link in one cell, in the state in which most of them were measured."""

    cell: object
    link: str
    state: str
    limit: float | None
    figures: tuple

    def figure(self, name):
        return next((f for f in self.figures if f.setting.name == name), None)

    @property
    def best_peer(self):
        """The fastest right result of the others."""
        others = [f for f in self.figures if f.counts and not f.setting.ours]
        return min(others, key=lambda f: f.seconds, default=None)

    @property
    def complete(self):
        """Whether each setting has a figure, or is known to lack the operation."""
        return all(f.seconds is not None or f.remark == "absent" for f in self.figures)


def common_state(records):
    """The state with figures of the most settings, then with the most samples."""
    states = [s.state for record in records for s in record.samples]

    def weight(state):
        settings = sum(any(s.state == state for s in record.samples) for record in records)
        return settings, states.count(state), state

    return max(sorted(set(states)), key=weight, default="busy")


def make_figure(setting, record, state):
    if not record.samples:
        remark = "absent" if record.absent else "failed"
        return Figure(setting, None, None, None, False, remark)
    there = [s for s in record.samples if s.state == state]
    seconds = [x for s in there or record.samples for x in s.seconds]
    low, middle, high = statistics.quantiles(seconds, n=4) if len(seconds) > 1 else seconds * 3
    remark = "wrong" if record.wrong else "failed" if record.failure else ""
    return Figure(setting, middle, max(low, min(seconds)), min(high, max(seconds)), not there,
                  remark)


def compare(cell, link, records, limit_of=lambda state: None):
    """`records` are pairs of a setting and its Record."""
    chosen = [(setting, record) for setting, record in records if setting.link == link]
    state = common_state([record for _, record in chosen])
    figures = tuple(make_figure(setting, record, state) for setting, record in chosen)
    return Comparison(cell, link, state, limit_of(state), figures)


SLACK_SECONDS = 0.15e-6  # of the goal for small cells of 2 ranks
NEAR_THE_LIMIT = 1.25  # is good enough, whatever the others reach


def goal_ratio(cell, link):
    """What ours / best peer is to be; None for "best + SLACK_SECONDS"."""
    column = 0 if cell.size <= KIB else 1 if cell.size <= 16 * MIB else 2
    if link == "tcp":
        return (0.9, 0.8, 0.8)[column]
    if cell.ranks == 2:
        return ((None, 0.5, 0.6) if cell.reduces else (None, 0.65, 0.8))[column]
    return ((0.6, 0.35, 0.4) if cell.reduces else (0.8, 0.55, 0.8))[column]


def meets_goal(comparison, figure):
    """Whether a figure of ours is as fast as it is to be."""
    if not figure.counts:
        return False
    best, limit = comparison.best_peer, comparison.limit
    if best is None or (limit and figure.seconds <= NEAR_THE_LIMIT * limit):
        return True
    ratio = goal_ratio(comparison.cell, comparison.link)
    if ratio is None:
        return figure.seconds <= best.seconds + SLACK_SECONDS
    return figure.seconds <= ratio * best.seconds
