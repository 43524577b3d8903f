# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Goes through the cells, and in each of them from setting to setting, several times."""

import dataclasses
import statistics

from cells import MIB
from figures import Record, Sample
from job import Job, JobError, Visit
from machine import joined_state, state_of

FAILURES_MAX = 3  # of one job, until it is not started again


@dataclasses.dataclass(frozen=True)
class Effort:
    visits: int  # to each setting in each cell, up to 1 MiB
    visits_large: int  # above
    seconds: float  # of timed calls in a visit
    repeats_max: int
    retries: int  # more visits to a cell while the machine is busy with other things


FULL = Effort(visits=3, visits_large=1, seconds=0.02, repeats_max=12, retries=2)
QUICK = Effort(visits=1, visits_large=1, seconds=0.01, repeats_max=8, retries=1)
SMOKE = Effort(visits=1, visits_large=1, seconds=0.001, repeats_max=2, retries=0)
SLOW_SECONDS = 0.02  # of a call of up to 1 MiB; then one repeat of few calls has to do


class Ensemble:
    """A job for each setting, all of as many ranks. One that fails is started again, for the next
    cell."""

    def __init__(self, settings, ranks, binaries, prefix):
        self._make = lambda setting: Job(setting, ranks, binaries, prefix)
        self._failures = {setting.name: 0 for setting in settings}
        self._jobs = {}
        try:
            for setting in settings:
                self._try_to_start(setting)
            for name, job in self._jobs.items():
                if isinstance(job, Job):
                    self._await(name, job)
        except BaseException:
            self.close()
            raise

    def _try_to_start(self, setting):
        try:
            self._jobs[setting.name] = self._make(setting)
        except JobError as error:
            self._fail(setting.name, error)

    def _await(self, name, job):
        try:
            job.await_ranks()
        except JobError as error:
            job.close()
            self._fail(name, error)

    def _fail(self, name, error):
        self._failures[name] += 1
        self._jobs[name] = error

    def run(self, setting, cell, visit):
        """As Job.run."""
        job = self._jobs[setting.name]
        if isinstance(job, JobError):
            if self._failures[setting.name] >= FAILURES_MAX:
                raise job
            self._try_to_start(setting)
            job = self._jobs[setting.name]
            if isinstance(job, Job):
                self._await(setting.name, job)
            job = self._jobs[setting.name]
            if isinstance(job, JobError):
                raise job
        try:
            return job.run(cell, visit)
        except JobError as error:
            job.close()
            self._fail(setting.name, error)
            raise

    def close(self):
        for job in self._jobs.values():
            if isinstance(job, Job):
                job.close()


def plan_visit(cell, effort, seconds, seed):
    """`seconds` is about what a call takes, or None if nobody knows."""
    if seconds is None:
        if cell.size > MIB:
            return Visit(1, cell.batch(), 2, seed)
        return Visit(1, 1, 1, seed)
    if seconds > SLOW_SECONDS and cell.size <= MIB:
        return None
    batch = cell.batch()
    repeats = int(effort.seconds / (batch * seconds))
    return Visit(1, batch, max(2, min(repeats, effort.repeats_max)), seed)


class Campaign:
    """`machine` is probed before and after each visit."""

    def __init__(self, machine, effort):
        self._machine = machine
        self._effort = effort
        self._seed = 1
        self._state = state_of(machine.flags_ns())

    def measure(self, cell, settings, ensemble):
        """A Record for each setting, by its name."""
        records = {setting.name: Record() for setting in settings}
        expected = {}
        effort = self._effort
        visits = effort.visits if cell.size <= MIB else effort.visits_large
        retries = effort.retries
        turn = 0
        while turn < visits:
            for i in range(len(settings)):
                setting = settings[(i + turn) % len(settings)]
                self._visit(cell, setting, ensemble, records[setting.name], expected)
            turn += 1
            if turn == visits and retries > 0 and self._was_busy(records):
                retries -= 1
                visits += 1
        return records

    def _visit(self, cell, setting, ensemble, record, expected):
        if record.failure or record.absent:
            return
        known = expected.get(setting.name)
        try:
            if known is None and cell.size <= MIB:
                first = self._sample(cell, setting, ensemble, None)
                if first is None:
                    record.absent = True
                    return
                known = expected[setting.name] = statistics.median(first.seconds)
                if plan_visit(cell, self._effort, known, 0) is None:
                    record.samples.append(first)
            sample = self._sample(cell, setting, ensemble, known)
        except JobError as error:
            record.failure = str(error)
            return
        if sample is None:
            record.absent = known is None
            return
        record.samples.append(sample)

    def _sample(self, cell, setting, ensemble, known):
        """None if there is nothing to measure, or nothing more."""
        self._seed += 1
        visit = plan_visit(cell, self._effort, known, self._seed)
        if visit is None:
            return None
        outcome = ensemble.run(setting, cell, visit)
        before, self._state = self._state, state_of(self._machine.flags_ns())
        if outcome is None:
            return None
        return Sample(joined_state(before, self._state), outcome.seconds, visit.batch,
                      outcome.wrong)

    @staticmethod
    def _was_busy(records):
        states = [s.state for record in records.values() for s in record.samples]
        quiet = sum(state in ("near", "far") for state in states)
        return 2 * quiet < len(states)
