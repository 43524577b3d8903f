#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Tests of the comparison. Usage: peers_test.py FOLDER, where peer_commrig and machine are."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "driver"))

from campaign import FULL, Campaign, plan_visit  # noqa: E402
from cells import KIB, MIB, OPERATIONS, Cell  # noqa: E402
from figures import Record, Sample, compare, meets_goal  # noqa: E402
from job import Job, JobError, Outcome, Visit, call_seconds  # noqa: E402
from machine import Limits, joined_state, state_of  # noqa: E402
from plot import to_svg  # noqa: E402
from report import block, foot, micros  # noqa: E402
from settings import SETTINGS, Setting  # noqa: E402

BINARIES = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path()
OURS = Setting("commrig-x", "memory", None, ours=True)
PEER = Setting("peer-a", "memory", None)
OTHER = Setting("peer-b", "memory", None)
CELL = Cell("all-reduce", "fp32", 64 * KIB, 2)


def record(*samples, **fields):
    return Record([Sample(*sample) for sample in samples], **fields)


def comparison(ours, peer, other=None, cell=CELL, limit=None):
    return compare(cell, "memory", [(OURS, ours), (PEER, peer), (OTHER, other or record())],
                   lambda state: limit)


class Figures(unittest.TestCase):
    def test_a_call_takes_from_the_first_begin_to_the_last_end(self):
        stamps = [[1000, 5000, 20000, 21000], [2000, 7000, 19000, 20000]]
        self.assertEqual(call_seconds(stamps, 2), (3e-6, 1e-6))

    def test_ratios_are_of_one_state(self):
        c = comparison(record(("near", (1.0,), 1, 0), ("far", (9.0,), 1, 0)),
                       record(("near", (2.0,), 1, 0)), record(("near", (3.0,), 1, 0)))
        self.assertEqual(c.state, "near")
        self.assertEqual(c.figure("commrig-x").seconds, 1.0)
        self.assertFalse(c.figure("commrig-x").other_state)

    def test_a_figure_of_another_state_is_marked(self):
        c = comparison(record(("far", (9.0,), 1, 0)), record(("near", (2.0,), 1, 0)),
                       record(("near", (3.0,), 1, 0)))
        self.assertTrue(c.figure("commrig-x").other_state)
        self.assertIn("9000000~", "\n".join(block([c], [OURS, PEER, OTHER])))

    def test_figures_are_medians_with_quartiles(self):
        c = comparison(record(("near", (1.0, 5.0, 3.0), 1, 0)), record(("near", (2.0,), 1, 0)))
        figure = c.figure("commrig-x")
        self.assertEqual((figure.low, figure.seconds, figure.high), (1.0, 3.0, 5.0))

    def test_a_wrong_result_is_shown_and_is_no_best_peer(self):
        c = comparison(record(("near", (5.0,), 1, 0)), record(("near", (1.0,), 1, 7)),
                       record(("near", (6.0,), 1, 0)))
        self.assertEqual(c.best_peer.setting.name, "peer-b")
        self.assertIn("WRONG", "\n".join(block([c], [OURS, PEER, OTHER])))
        self.assertIn("WRONG: peer-a, all-reduce fp32, 2 ranks, 64 KiB", foot([c], []))

    def test_a_failure_is_shown_and_makes_the_comparison_incomplete(self):
        good = record(("near", (5.0,), 1, 0))
        c = comparison(good, record(failure="lost a rank"), good)
        self.assertFalse(c.complete)
        self.assertIn("FAILED", "\n".join(block([c], [OURS, PEER, OTHER])))
        self.assertFalse(meets_goal(comparison(record(failure="x"), good), c.figure("peer-a")))

    def test_what_a_library_does_not_have_is_no_failure(self):
        good = record(("near", (5.0,), 1, 0))
        self.assertTrue(comparison(good, good, record(absent=True)).complete)

    def test_goals(self):
        def meets(ours, peer, cell, limit=None):
            c = comparison(record(("near", (ours,), 1, 0)), record(("near", (peer,), 1, 0)),
                           cell=cell, limit=limit)
            return meets_goal(c, c.figure("commrig-x"))

        small = Cell("all-reduce", "fp32", 8, 2)
        self.assertTrue(meets(1.14e-6, 1e-6, small))
        self.assertFalse(meets(1.16e-6, 1e-6, small))
        self.assertTrue(meets(0.5, 1.0, CELL))
        self.assertFalse(meets(0.51, 1.0, CELL))
        self.assertTrue(meets(0.9, 1.0, CELL, limit=0.8))
        self.assertTrue(meets(0.79, 1.0, Cell("broadcast", "bytes", 128 * MIB, 8)))
        self.assertFalse(meets(0.41, 1.0, Cell("all-reduce", "bf16", 128 * MIB, 8)))

    def test_times_have_three_digits(self):
        self.assertEqual([micros(x) for x in (1.4e-7, 1.234e-6, 4.56e-5, 0.1482)],
                         ["0.14", "1.23", "45.6", "148000"])

    def test_the_plot_is_drawn_from_the_figures(self):
        good = record(("near", (5e-6,), 1, 0))
        svg = to_svg([[comparison(good, good, limit=1e-6)]])
        self.assertIn("all-reduce fp32, 2 ranks", svg)
        self.assertEqual(svg.count("<polyline"), 3)


class FakeMachine:
    cores = 2

    def __init__(self, flags=()):
        self._flags = iter(flags)

    def flags_ns(self):
        return next(self._flags)

    def ask(self, question):
        return {"flags": 100.0, "handover": 60.0, "barrier 4": 4000.0, "barrier 8": 8000.0}.get(
            question, {"read": 8.0, "write": 4.0, "copy": 5.0}.get(question.split()[0]))


class TheMachine(unittest.TestCase):
    def test_states(self):
        self.assertEqual([state_of(ns) for ns in (61, 271, 9000)], ["near", "far", "busy"])
        self.assertEqual(joined_state("near", "far"), "mixed")

    def test_small_cells_take_as_long_as_ranks_need_to_meet(self):
        limits = Limits(FakeMachine())
        self.assertAlmostEqual(limits.seconds(Cell("all-reduce", "fp32", 8, 2), "near"), 100e-9)
        self.assertAlmostEqual(limits.seconds(Cell("broadcast", "bytes", 8, 2), "near"), 60e-9)
        self.assertAlmostEqual(limits.seconds(Cell("all-gather", "bytes", 8, 8), "near"), 8e-6)
        self.assertAlmostEqual(limits.seconds(Cell("broadcast", "bytes", 8, 8), "near"), 1e-6)

    def test_large_cells_take_as_long_as_memory_needs(self):
        limits = Limits(FakeMachine())
        n = 2 * MIB
        self.assertAlmostEqual(limits.seconds(Cell("all-reduce", "fp32", MIB, 2), "near"),
                               max(n / 8e9, n / 4e9, 2 * n / 5e9))
        self.assertAlmostEqual(limits.seconds(Cell("all-gather", "bytes", MIB, 8), "near"),
                               8 * MIB / 4e9)


class FakeEnsemble:
    """Has what was asked for, in the given time."""

    def __init__(self, seconds):
        self._seconds = seconds
        self.visits = []

    def run(self, setting, cell, visit):
        self.visits.append((setting.name, visit))
        if self._seconds is None:
            return None
        return Outcome((self._seconds,) * visit.repeats, 0)


class Campaigns(unittest.TestCase):
    def measure(self, seconds, cell, flags=61):
        ensemble = FakeEnsemble(seconds)
        campaign = Campaign(FakeMachine([flags] * 1000), FULL)
        return campaign.measure(cell, [OURS, PEER], ensemble), ensemble.visits

    def test_settings_take_turns(self):
        records, visits = self.measure(1e-6, CELL)
        self.assertEqual(len(records["peer-a"].samples), FULL.visits)
        names = [name for name, visit in visits if visit.batch == 20]
        self.assertEqual(names, ["commrig-x", "peer-a", "peer-a", "commrig-x", "commrig-x",
                                 "peer-a"])

    def test_data_are_new_at_each_visit(self):
        _, visits = self.measure(1e-6, CELL)
        seeds = [visit.seed for _, visit in visits]
        self.assertEqual(len(set(seeds)), len(seeds))

    def test_a_busy_machine_gets_more_visits_but_not_for_ever(self):
        records, _ = self.measure(1e-6, CELL, flags=90000)
        self.assertEqual(len(records["peer-a"].samples), FULL.visits + FULL.retries)

    def test_slow_calls_are_measured_once(self):
        records, visits = self.measure(0.5, CELL)
        self.assertEqual(len(records["peer-a"].samples), 1)
        self.assertEqual([v.batch for n, v in visits if n == "peer-a"], [1])

    def test_what_is_absent_is_asked_for_once(self):
        records, visits = self.measure(None, CELL)
        self.assertTrue(records["peer-a"].absent)
        self.assertEqual(len(visits), 2)

    def test_a_visit_fits_its_time(self):
        visit = plan_visit(CELL, FULL, FULL.seconds / 20 / 5, 1)
        self.assertEqual((visit.batch, visit.repeats), (20, 5))


class Jobs(unittest.TestCase):
    def job(self, program):
        setting = Setting("x", "memory", lambda place: [program(place)])
        job = Job(setting, 2, BINARIES, Path())
        self.addCleanup(job.close)
        return job

    def test_a_program_that_ends_early_is_a_failure_with_its_last_words(self):
        job = self.job(lambda place: ["/bin/sh", "-c", "echo no such fabric; exit 3"])
        with self.assertRaisesRegex(JobError, "exit code .3.: no such fabric"):
            job.await_ranks()

    def test_a_program_that_is_not_there_is_a_failure(self):
        with self.assertRaisesRegex(JobError, "No such file"):
            self.job(lambda place: ["/nowhere/peer"])

    def test_ranks_end_with_an_error_when_told_nonsense(self):
        job = self.job(lambda place: place.program("peer_commrig") + ["threads", "2"])
        job.await_ranks()
        with self.assertRaisesRegex(JobError, "lost a rank"):
            job.run(Cell("all-reduce", "fp12", 8, 2), Visit(1, 1, 1, 1))

    def test_every_operation_of_every_size_is_right(self):
        job = self.job(lambda place: place.program("peer_commrig") + ["threads", "2"])
        job.await_ranks()
        for operation in OPERATIONS:
            for size in (1, 8, 5000, MIB + 4):
                with self.subTest(operation=operation, size=size):
                    outcome = job.run(Cell(*operation, size, 2), Visit(1, 3, 2, size))
                    self.assertEqual(outcome.wrong, 0)
                    self.assertTrue(all(seconds > 0 for seconds in outcome.seconds))


class TheWhole(unittest.TestCase):
    def test_names_are_unique(self):
        self.assertEqual(len({s.name for s in SETTINGS}), len(SETTINGS))

    def test_a_run_writes_its_files(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / "all.json", Path(folder) / "all.svg"]
            ended = subprocess.run(
                [sys.executable, "-B", HERE / "measure", "--smoke", "--only", "commrig-threads",
                 "--binaries", BINARIES, "--json", files[0], "--plot", files[1]],
                capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            cells = json.loads(files[0].read_text())["cells"]
            self.assertEqual(len(cells), len(OPERATIONS))
            self.assertTrue(all(c["settings"][0]["seconds"] > 0 for c in cells))
            self.assertIn("all-reduce fp32, 2 ranks, memory", ended.stdout)
            self.assertIn("</svg>", files[1].read_text())


if __name__ == "__main__":
    unittest.main()
