#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""NCCL programs as jobs of `commrig run`. Usage: job_test.py PATH_OF_COMMRIG PATH_OF_JOB"""

import os
import signal
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)
JOB = sys.argv.pop(1)
LAUNCHERS = ("COMMRIG_", "CUDA_", "NCCL_", "OMPI_", "PMI_", "SLURM_", "TORCHELASTIC_", "RANK",
             "WORLD_SIZE", "MASTER_", "LOCAL_")


def run(*options, job, quiet=True, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    options = [*(["-q"] if quiet else []), *options]
    return subprocess.run([PROGRAM, "run", *options, JOB, *job], capture_output=True, text=True,
                          check=False, env={**kept, **variables})


class JobTest(unittest.TestCase):
    def assert_well(self, done, ranks, line, errors=0):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), errors, done.stderr)
        width = len(str(ranks - 1))
        self.assertEqual(sorted(done.stdout.splitlines()),
                         sorted(f"[{r:>{width}}] " + line.format(r) for r in range(ranks)))

    def test_every_collective_is_right_in_processes_that_meet_by_address(self):
        for ranks in (2, 3):
            done = run("-n", str(ranks), job=["collectives", "4"])
            self.assert_well(done, ranks, "rank {}: 4 rounds are right")

    def test_64_ranks_go_through_every_collective(self):
        done = run("-n", "64", job=["collectives", "2"])
        self.assert_well(done, 64, "rank {}: 2 rounds are right")

    def test_a_rank_that_is_killed_ends_the_job_which_names_it(self):
        for victim in (0, 2):
            done = run("-n", "4", job=["killed", str(victim)])
            self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
            self.assertRegex(done.stderr,
                             rf"rank {victim} of 4 \(process \d+\) was killed by SIGKILL")

    def test_ranks_on_one_device_are_refused_and_named(self):
        done = run("-n", "3", "--no-tag", job=["same_device"])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertTrue(line.startswith("invalid usage"), line)
            self.assertIn("CR-COL24: ranks 0 and 1 are both on device 0 of one host", line)

    def test_ranks_may_be_on_one_device_where_it_is_their_own_or_they_say_so(self):
        for options, variables in ((["--devices", "1"], {}), ([], {"CUDA_VISIBLE_DEVICES": "0"}),
                                   ([], {"NCCL_MULTI_RANK_GPU_ENABLE": "1"})):
            done = run("-n", "3", *options, job=["same_device"], **variables)
            self.assert_well(done, 3, "no error | ")

    def test_ranks_that_wait_for_one_another_are_named(self):
        done = run("-n", "3", "--no-tag", job=["circle"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 3)
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^invalid usage .*\| CR-COL25: ")
            for rank in range(3):
                self.assertIn(f"rank {rank} waits to receive message 1 from rank {(rank + 1) % 3}",
                              line)

    def test_a_message_of_another_type_is_named_on_both_ends(self):
        done = run("-n", "2", "--no-tag", job=["mistyped"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        for line in done.stdout.splitlines():
            self.assertTrue(line.startswith("invalid usage"), line)
            self.assertIn("CR-NET02: rank 0 has sent a message of 40 bytes of fp32 to rank 1, "
                          "which expected 40 bytes of int32", line)

    def test_a_call_that_the_only_thread_has_not_made_is_named(self):
        done = run("-n", "1", job=["one_thread"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^invalid usage .*\| CR-COL26: rank 0 waits in call 1 \(all-"
                                      r"reduce of 10 int32, sum\) for rank 1, which has begun 0")

    def test_what_ranks_have_done_is_counted(self):
        for ranks, job, done in ((3, ["collectives", "2"], "16 collectives, 6 messages"),
                                 (3, ["circle"], "0 collectives, 0 messages, 0 bytes, 1 finding"),
                                 (2, ["same_device"], "0 collectives, 0 messages, 0 bytes, 1 fin")):
            with self.subTest(job=job):
                told = run("-n", str(ranks), job=job, quiet=False).stderr.splitlines()[-1]
                self.assertRegex(told, rf"^commrig: {ranks} ranks ended well .* s: {done}")

    def test_memory_of_another_process_is_opened_by_its_handle(self):
        done = run("-n", "3", job=["shared_memory"])
        # Rank 0 has made two mistakes on purpose.
        self.assert_well(done, 3, "rank {}: the memory is one", errors=2)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("[0] commrig: CR-RT07"), line)


if __name__ == "__main__":
    unittest.main()
