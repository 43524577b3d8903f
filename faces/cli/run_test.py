# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""`commrig run` as a user has it. Usage: run_test.py PATH_OF_COMMRIG PATH_OF_EXAMPLE"""

import collections
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
EXAMPLE = sys.argv.pop(1)
PYTHON = "/usr/bin/python3"
LAUNCHERS = ("COMMRIG_", "OMPI_", "PMI_", "SLURM_", "TORCHELASTIC_", "RANK", "WORLD_SIZE",
             "MASTER_", "LOCAL_")


def environment(**more):
    """That of this process, but for what a launcher has left in it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    return {**kept, **more}


def run(*arguments, program=PROGRAM, env=None, **more):
    return subprocess.run([program, "run", *arguments], capture_output=True, text=True, check=False,
                          env=env or environment(), **more)


def python(text):
    """A program of Python, as words of a command line."""
    return ["--", PYTHON, "-B", "-c", text]


def start(*arguments):
    return subprocess.Popen([PROGRAM, "run", *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment())


def read_lines(process, count):
    return [process.stdout.readline().rstrip("\n") for _ in range(count)]


def wait_gone(pid):
    """Waits until a process has ended; at once where there is none."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([descriptor], [], [])
    os.close(descriptor)


class OutputTest(unittest.TestCase):
    def test_each_line_has_its_rank_and_its_stream(self):
        done = run("-n", "3", "-q", *python(
            "import os, sys; r = os.environ['RANK']\n"
            "print('out', r); print('err', r, file=sys.stderr)"))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{r}] out {r}" for r in range(3)])
        self.assertEqual(sorted(done.stderr.splitlines()), [f"[{r}] err {r}" for r in range(3)])

    def test_output_of_one_rank_is_unchanged(self):
        text = "import os; os.write(1, bytes(range(256)))"
        done = subprocess.run([PROGRAM, "run", *python(text)], capture_output=True, check=False,
                              env=environment())
        self.assertEqual(done.stdout, bytes(range(256)))
        self.assertEqual(run("--tag", *python("print(1)")).stdout, "[0] 1\n")
        whole = "import os; os.write(1, b'one\\n')"
        self.assertEqual(run("-n", "2", "--no-tag", *python(whole)).stdout, "one\none\n")

    def test_lines_are_never_mixed(self):
        # Each line comes in three pieces, through both streams into one file.
        text = ("import os\nr = os.environ['RANK']\n"
                "for i in range(400):\n"
                "    for piece in (r, ':' + 'x' * (i % 97), f':{i}\\n'):\n"
                "        os.write(1 + i % 2, piece.encode())\n")
        done = subprocess.run([PROGRAM, "run", "-n", "4", "-q", *python(text)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env=environment())
        seen = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            found = re.fullmatch(r"\[(\d)\] (\d):(x*):(\d+)", line)
            self.assertTrue(found, line)
            self.assertEqual(found[1], found[2])
            self.assertEqual(len(found[3]), int(found[4]) % 97)
            seen[found[1]].append(int(found[4]))
        for rank in "0123":
            self.assertEqual(sorted(seen[rank]), list(range(400)))

    def test_last_line_without_newline_and_long_lines_arrive(self):
        done = run("-n", "2", "-q", *python("print('y' * 300000); print('end', end='')"))
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(
            ["[0] " + "y" * 300000, "[0] end", "[1] " + "y" * 300000, "[1] end"]))

    def test_first_and_last_line_say_what_ran(self):
        done = run("-n", "2", *python("print(1)"), env=environment(COMMRIG_SEED="17"))
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], "commrig: 2 ranks, engine threads, seed 17, no GPU used")
        self.assertRegex(lines[-1], r"^commrig: 2 ranks ended well after \d+\.\d\d s: "
                                    r"0 collectives, 0 messages, 0 bytes, 0 findings$")
        self.assertEqual(run("-q", *python("")).stderr, "")

    def test_last_line_counts_what_ranks_have_done(self):
        # A broadcast of 128 bytes, and a sum of a float of each.
        done = run("-n", "3", EXAMPLE)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r" s: 2 collectives, 0 messages, 140 bytes, 0 findings$")
        # What one of them had ended counts, and its end is a finding.
        done = run("-n", "2", *python(
            "import os, subprocess\n"
            f"subprocess.run([{EXAMPLE!r}], stdout=subprocess.DEVNULL, check=True)\n"
            "if os.environ['RANK'] == '0': os.kill(os.getpid(), 9)"))
        self.assertRegex(done.stderr.splitlines()[-1],
                         r" s: 2 collectives, 0 messages, 13[26] bytes, 1 finding$")

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "run", "-n", "2", "-q", "echo", "line"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False,
                                  env=environment())
        self.assertEqual(done.returncode, 1)
        self.assertIn("CR-RUN05: writing to standard output: No space left", done.stderr)

    def test_a_small_stack_is_enough(self):
        shell = f"ulimit -s 64; exec '{PROGRAM}' run -n 2 -q echo line"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False,
                              env=environment())
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())),
                         (0, ["[0] line", "[1] line"]), done.stderr)

    def test_reader_that_goes_ends_the_ranks(self):
        shell = f"'{PROGRAM}' run -n 2 -q yes | head -n 1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False,
                              env=environment())
        self.assertRegex(done.stdout, r"^\[[01]\] y\n$")
        self.assertEqual(done.returncode, 128 + signal.SIGPIPE)


class StartTest(unittest.TestCase):
    def test_ranks_know_their_place(self):
        names = ("RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE OMPI_COMM_WORLD_RANK "
                 "OMPI_COMM_WORLD_SIZE COMMRIG_RANK COMMRIG_RANKS COMMRIG_DEVICES").split()
        done = run("-n", "2", "--devices", "5", *python(
            f"import os; print(*(os.environ[name] for name in {names}))"))
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [f"[{r}] {r} 2 {r} 2 {r} 2 {r} 2 5" for r in range(2)])
        done = run("-n", "3", *python(
            "import os; print(os.environ['MASTER_ADDR'], os.environ['MASTER_PORT'],"
            " os.environ['COMMRIG_PORT'], os.environ['COMMRIG_SEED'])"))
        self.assertEqual(len({line[4:] for line in done.stdout.splitlines()}), 1, done.stdout)
        self.assertRegex(done.stdout, r"^\[.\] 127\.0\.0\.1 \d+ \d+ \d+\n")

    def test_arguments_of_the_program_are_left_alone(self):
        words = ["-n", "9", "--", "--help", "", "a b", "--tag"]
        text = "import sys; print(sys.argv[1:])"
        for separator in (["--"], []):
            done = run("-n", "1", *separator, PYTHON, "-c", text, *words)
            self.assertEqual(done.stdout, f"{words}\n")

    def test_scripts_run(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script")
            with open(script, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho rank $RANK\n")
            os.chmod(script, 0o755)
            done = run("-n", "2", script)
            self.assertEqual(sorted(done.stdout.splitlines()), ["[0] rank 0", "[1] rank 1"])

    def test_what_cannot_be_started_is_said(self):
        for program, text in (("no-such-program", "No such file"), ("/etc", "Permission denied"),
                              ("/etc/passwd", "Permission denied")):
            done = run("-n", "2", program)
            self.assertEqual(done.returncode, 127)
            self.assertIn(f"CR-RUN04: cannot start {program}: {text}", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_rank_0_reads_the_input(self):
        done = run("-n", "2", *python("import sys; print(sys.stdin.read())"), input="words")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] words", "[1] "])

    def test_library_folders_of_the_installation_come_first(self):
        with tempfile.TemporaryDirectory() as prefix:
            for folder in ("bin", "nccl/lib", "cuda/lib64"):
                os.makedirs(os.path.join(prefix, folder))
            program = shutil.copy(PROGRAM, os.path.join(prefix, "bin", "commrig"))
            text = "import os; print(os.environ['LD_LIBRARY_PATH'])"
            expected = f"{prefix}/nccl/lib:{prefix}/cuda/lib64:/mine\n"
            done = run(*python(text), program=program, env=environment(LD_LIBRARY_PATH="/mine"))
            self.assertEqual(done.stdout, expected)
            inside = environment(LD_LIBRARY_PATH="/mine", OMPI_COMM_WORLD_RANK="1",
                                 OMPI_COMM_WORLD_SIZE="2")
            self.assertEqual(run(*python(text), program=program, env=inside).stdout, expected)

    def test_inside_a_launcher_nothing_is_started_twice(self):
        inside = environment(OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2")
        text = "import os; print(os.environ['OMPI_COMM_WORLD_RANK'], 'RANK' in os.environ)"
        done = run(*python(text), env=inside)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1 False\n", ""))
        done = run("-n", "2", *python(text), env=inside)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Open MPI has started this as rank 1 of 2", done.stderr)

    def test_mistakes_are_named_and_start_nothing(self):
        for arguments, text in ((["-n", "0", "true"], '--ranks is "0"'),
                                (["--timeout", "soon", "true"], '--timeout is "soon"'),
                                (["--devices", "0", "true"], '--devices is "0"'),
                                (["-n", "2"], "no program"), ([], "no program"),
                                (["--nonsense", "true"], "nonsense")):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_help_has_examples(self):
        self.assertIn("commrig run -n 4", run("--help").stdout)


class EndTest(unittest.TestCase):
    def test_exit_code_is_that_of_the_first_that_fails(self):
        done = run("-n", "3", *python(
            "import os, signal, sys\n"
            "if os.environ['RANK'] == '1': sys.exit(3)\n"
            "signal.pause()"))
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"CR-NET01: rank 1 of 3 \(process \d+\) ended with exit code "
                                      r"3; ending ranks 0, 2\. ")
        self.assertIn("3 ranks ended with exit code 3", done.stderr)

    def test_rank_that_is_killed_is_named(self):
        done = run("-n", "4", *python(
            "import os, signal\n"
            "if os.environ['RANK'] == '2': os.kill(os.getpid(), signal.SIGKILL)\n"
            "signal.pause()"))
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertRegex(done.stderr, r"rank 2 of 4 \(process \d+\) was killed by SIGKILL; ending "
                                      r"ranks 0-1, 3\.")

    def test_time_that_is_over_names_who_still_runs(self):
        done = run("-n", "3", "--timeout", "400ms", *python("import signal\nsignal.pause()"))
        self.assertEqual(done.returncode, 124)
        self.assertIn("CR-RUN03: ranks 0-2 of 3 still run after 0.4 s", done.stderr)

    def test_signals_are_passed_on(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            process = start("-n", "3", *python(
                "import signal, sys\n"
                f"signal.signal({number.value}, lambda n, f: (print('got', n), sys.exit(0)))\n"
                "print('ready', flush=True)\nsignal.pause()"))
            with process:
                read_lines(process, 3)
                process.send_signal(number)
                lines = process.stdout.read().splitlines()
                self.assertEqual(sorted(lines), [f"[{r}] got {number.value}" for r in range(3)])
            self.assertEqual(process.returncode, 0)

    def test_second_signal_kills(self):
        process = start("-n", "2", *python(
            "import signal\n"
            "signal.signal(signal.SIGINT, lambda n, f: print('no', flush=True))\n"
            "print('ready', flush=True)\nwhile True: signal.pause()"))
        with process:
            read_lines(process, 2)
            process.send_signal(signal.SIGINT)
            self.assertEqual(sorted(read_lines(process, 2)), ["[0] no", "[1] no"])
            process.send_signal(signal.SIGINT)
            process.stdout.read()
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)

    def test_nobody_is_left_behind(self):
        # In the rank's group, and in a session of its own.
        text = ("import subprocess, sys\n"
                "for apart in (False, True):\n"
                "    print(subprocess.Popen(['sleep', '1000'], start_new_session=apart).pid)\n")
        for ranks in ("1", "2"):
            done = run("-n", ranks, *python(text))
            self.assertEqual(done.returncode, 0)
            found = [int(line.split()[-1]) for line in done.stdout.splitlines()]
            self.assertEqual(len(found), 2 * int(ranks))
            for pid in found:
                self.assertFalse(os.path.exists(f"/proc/{pid}"), pid)

    def test_ranks_and_their_children_end_with_a_run_that_is_killed(self):
        process = start("-n", "2", *python(
            "import os, signal, subprocess\n"
            "print(os.getpid(), subprocess.Popen(['sleep', '1000']).pid, flush=True)\n"
            "signal.pause()"))
        with process:
            pids = [int(word) for line in read_lines(process, 2) for word in line.split()[1:]]
            self.assertEqual(len(pids), 4)
            process.kill()
            for pid in pids:
                wait_gone(pid)
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_ranks_of_mpirun_meet_on_their_host_by_the_name_of_their_job(self):
        for namespace in (f"{os.getpid()}1", f"{os.getpid()}2"):
            ranks = [subprocess.Popen([EXAMPLE], stdout=subprocess.PIPE, text=True,
                                      env=environment(OMPI_COMM_WORLD_RANK=str(rank),
                                                      OMPI_COMM_WORLD_SIZE="3",
                                                      OMPI_COMM_WORLD_LOCAL_SIZE="3",
                                                      PMIX_NAMESPACE=namespace))
                     for rank in range(3)]
            for rank, process in enumerate(ranks):
                self.assertEqual(process.communicate()[0], f"rank {rank} of 3: sum 6\n")
                self.assertEqual(process.returncode, 0)

    def test_files_of_shared_memory_are_not_left(self):
        before = sorted(os.listdir("/dev/shm"))
        self.assertEqual(run("-n", "2", EXAMPLE).returncode, 0)
        self.assertEqual(sorted(os.listdir("/dev/shm")), before)


class WorldTest(unittest.TestCase):
    def test_ranks_of_a_run_are_a_communicator(self):
        for ranks in (1, 2, 5):
            done = run("-n", str(ranks), "-q", EXAMPLE)
            self.assertEqual(done.returncode, 0, done.stderr)
            total = ranks * (ranks + 1) // 2
            for rank in range(ranks):
                self.assertIn(f"rank {rank} of {ranks}: sum {total}\n", done.stdout)

    def test_many_ranks_on_few_cores(self):
        done = run("-n", "64", "-q", EXAMPLE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 64)

    def test_rank_that_never_joins_is_named(self):
        # Rank 1 ends well, but is no part of the world; the others learn it from the root.
        text = ("import os, signal, sys\n"
                "if os.environ['RANK'] == '1': os.kill(os.getpid(), signal.SIGABRT)\n"
                f"os.execv({EXAMPLE!r}, [{EXAMPLE!r}])")
        done = run("-n", "3", *python(text))
        self.assertEqual(done.returncode, 128 + signal.SIGABRT)
        self.assertIn("rank 1 of 3", done.stderr)


if __name__ == "__main__":
    unittest.main()
