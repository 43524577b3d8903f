# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Runs the built program as a user would. Usage: cli_test.py PATH_OF_COMMRIG"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

PROGRAM = sys.argv.pop(1)


def run(*arguments, program=PROGRAM, env=None):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **(env or {})})


class RunTest(unittest.TestCase):
    def test_prints_error_bound_messages_and_turns(self):
        done = run("mc2", "run", "--op", "all-gather-matmul", "-n", "4", "--shape", "32x16x24",
                   "--dtype", "bf16", "--layout", "readme-112", "--tile-rows", "5", "--seed", "9")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("4 ranks", "bf16", "readme-112", "worst error", "bound", "messages     8",
                     "turns        7", "seed 9"):
            self.assertIn(text, done.stdout)

    def test_runs_many_ranks_on_few_devices(self):
        done = run("mc2", "run", "--op", "matmul-reduce-scatter", "-n", "64", "--devices", "5",
                   "--shape", "128x16x8", "--tile-rows", "1", "--dtype", "bf16", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["op"], report["devices"], report["turns"], report["ok"]),
                         ("matmul-reduce-scatter", 5, 2, True))

    def test_json_is_one_object_and_nothing_else(self):
        done = run("mc2", "run", "-n", "3", "--shape", "9x8x7", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["ranks"], 3)
        self.assertEqual(report["shape"], [9, 8, 7])
        self.assertLessEqual(report["worst_error"], report["worst_bound"])
        self.assertTrue(report["ok"])

    def test_bad_arguments_are_named_and_exit_with_2(self):
        cases = [
            (["--shape", "12x"], "K is not a number"),
            (["--shape", "0x1x1"], "M is 0"),
            (["--shape", "-1x2x3"], "M is not a number"),
            (["--shape", "1x2x3x4"], "stands behind N"),
            (["--shape", "1,2,3"], "no x stands behind M"),
            (["--shape", ""], "M is not a number"),
            (["--shape", "99999999999999999999x1x1"], "M is too large"),
            (["--shape", "99999999999x1x1"], "each side is 1 to"),
            (["--shape", "1000000x1000000x1"], "MiB"),
            (["-n", "0"], '--ranks is "0"; expected a number from 1 to 256'),
            (["-n", "257"], '--ranks is "257"'),
            (["-n", "-3"], '--ranks is "-3"'),
            (["-n", "four"], '--ranks is "four"'),
            (["-n", "4x"], '--ranks is "4x"'),
            (["-n", "4294967300"], '--ranks is "4294967300"'),
            (["-n", "4", "-n", "5"], "--ranks"),
            (["--dtype", "int8"], '--dtype is "int8"; expected one of fp16, bf16, fp32'),
            (["--dtype", "fp17"], '--dtype is "fp17"'),
            (["--layout", "foo"], '--layout is "foo"; expected one of upstream-64, readme-112'),
            (["--seed", "abc"], '--seed is "abc"'),
            (["--seed", "-1"], '--seed is "-1"'),
            (["--seed", "18446744073709551616"], '--seed is "18446744073709551616"'),
            (["--tile-rows", "-1"], '--tile-rows is "-1"'),
            (["--shape", "20000x1x1", "--tile-rows", "1"], "20000 tiles"),
            (["--op", "nothing"], '--op is "nothing"; expected one of all-gather-matmul, '),
            (["left over"], "left over"),
            (["--nonsense"], "nonsense"),
        ]
        for arguments, text in cases:
            with self.subTest(arguments=arguments):
                done = run("mc2", "run", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("commrig: CR-RUN04: ", done.stderr)
                for line in done.stderr.splitlines():
                    self.assertTrue(line.startswith("commrig: "), line)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_the_largest_numbers_are_taken_as_they_are(self):
        done = run("mc2", "run", "-n", "32", "--shape", "3x2x1", "--seed", str(2**64 - 1),
                   "--tile-rows", str(2**64 - 1), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["seed"], 2**64 - 1)
        self.assertEqual((report["tiles"], report["tile_rows"]), (1, 3))

    def test_output_that_does_not_arrive_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in (["mc2", "run", "--shape", "1x1x1", "--json"], ["explain"], ["env"],
                              ["--help"]):
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn("commrig: CR-RUN05: writing to standard output", done.stderr)


class PlanTest(unittest.TestCase):
    def test_show_prints_each_step_and_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "ring.svg"
            done = run("plan", "show", "--op", "all-reduce", "-n", "6", "--algo", "ring",
                       "-o", str(picture))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("all-reduce by ring, 6 ranks, count 12\n", done.stdout)
            self.assertIn("   0  send 2 to rank 1: rank 0 input[0]\n", done.stdout)
            svg = ElementTree.parse(picture).getroot()
            boxes = svg.findall("{http://www.w3.org/2000/svg}g")
            self.assertEqual(len(boxes), sum(" steps, " not in line and line.startswith(" ")
                                             for line in done.stdout.splitlines()))

    def test_show_can_be_asked_for_one_rank(self):
        done = run("plan", "show", "--op", "gather-v", "-n", "3", "--algo", "binomial", "--counts",
                   "2,0,1", "--root", "1", "--rank", "2")
        self.assertEqual(done.stdout, "gather-v by binomial, 3 ranks, root 1, counts 2,0,1\n"
                         "rank 2: 1 steps, 0 elements of scratch, 0 private\n"
                         "   0  send 1 to rank 1: rank 2 input[0]\n")

    def test_verify_says_what_was_proved(self):
        done = run("plan", "verify", "--op", "all-reduce", "-n", "6", "--algo", "two-shot",
                   "--in-place")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("proved: all-reduce by two-shot, 6 ranks, count 12, in place\n", done.stdout)
        self.assertIn("folded in one step, in the order of ranks", done.stdout)

    def test_verify_all_proves_each_row_for_each_collective(self):
        done = run("plan", "verify", "--all", "-n", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        proved = [line.split()[1:3] for line in done.stdout.splitlines()]
        for algorithm, collective, *_ in self.rows():
            self.assertIn([algorithm, collective], proved)
        self.assertIn(["direct", "all-to-all-v"], proved)

    def rows(self):
        """(algorithm, collective, shared memory, rounds, steps, bytes) of each printed line."""
        lines = run("plan", "list").stdout.splitlines()
        heads = ("algorithm", "collective", "shared memory", "rounds", "steps", "bytes")
        starts = [lines[0].index(head) for head in heads] + [None]
        return [tuple(line[begin:end].strip() for begin, end in zip(starts, starts[1:]))
                for line in lines[1:-2]]

    def test_list_is_the_table_in_the_documents(self):
        page = Path(__file__).resolve().parents[2] / "docs" / "algorithms.md"
        text = page.read_text(encoding="utf-8")
        documented = [tuple(cell.strip(" `") for cell in line.strip("|").split("|"))
                      for line in text.splitlines() if line.startswith("| `")]
        listed = [(row[0], row[1], *row[3:]) for row in self.rows()]
        self.assertEqual(documented, listed)
        self.assertEqual({name for name, *_ in listed},
                         set(re.findall(r"^\*\*`([\w-]+)`\*\*", text, re.MULTILINE)),
                         "a paragraph about each algorithm, and no other")

    def test_choose_prints_the_costs_and_obeys_rules(self):
        done = run("plan", "choose", "--op", "all-reduce", "-n", "6", "--bytes", "1000000")
        self.assertIn("two-shot: least cost\n", done.stdout)
        self.assertIn("slots", done.stdout)
        done = run("plan", "choose", "-n", "6", "--bytes", "2000000", "--strict",
                   "--no-shared-memory")
        self.assertIn("pairwise: least cost\n", done.stdout)
        self.assertIn("rounds per hop, which strict mode refuses", done.stdout)
        done = run("plan", "choose", "--op", "broadcast", "--rules", "broadcast=chain")
        self.assertIn('chain: asked for by "broadcast=chain"\n', done.stdout)

    def test_bad_arguments_are_named_and_exit_with_2(self):
        cases = [
            (["show", "--op", "allreduce"], "CR-COL01", 'collective "allreduce"'),
            (["show", "--algo", "rings"], "CR-COL06", 'algorithm "rings"'),
            (["show", "--op", "gather", "--algo", "chain"], "CR-COL08", "no plan for gather"),
            (["show", "-n", "0"], "CR-RUN04", '--ranks is "0"'),
            (["show", "-n", "-1"], "CR-RUN04", '--ranks is "-1"'),
            (["show", "--rank", "4"], "CR-RUN04", '--rank is "4"'),
            (["verify", "--op", "broadcast", "--algo", "chain", "--root", "4"], "CR-COL03",
             "root 4; expected 0 to 3"),
            (["verify", "--dtype", "fp12"], "CR-DTY01", "fp12"),
            (["verify", "--count", "99999999999999999999"], "CR-RUN04", "--count"),
            (["verify", "--count", "9999999999999999999"], "CR-COL05", "have more than"),
            (["verify", "--count", "999999999999"], "CR-RUN04", "--chunk-bytes"),
            (["show", "--op", "gather-v", "--algo", "direct", "--counts", "1,2"], "CR-COL04",
             "takes 4 counts, found 2"),
            (["show", "--op", "gather-v", "--algo", "direct", "--counts", "1,,2"], "CR-RUN04",
             '--counts is ""'),
            (["choose", "--rules", "all-reduce=ring@1MiB"], "CR-COL07", "at character 17"),
            (["choose", "--no-shared-memory", "--rules", "all-reduce=direct"], "CR-COL08",
             "needs shared memory"),
        ]
        for arguments, code, text in cases:
            with self.subTest(arguments=arguments):
                done = run("plan", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"commrig: {code}: ", done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_file_that_cannot_be_written_is_an_error(self):
        done = run("plan", "show", "-o", "/nonexistent/plan.svg")
        self.assertEqual(done.returncode, 1)
        self.assertIn("commrig: CR-RUN05: cannot write /nonexistent/plan.svg", done.stderr)

def bench(*arguments):
    return run("bench", *arguments, "--iterations", "2", "--repeats", "1", "-w", "1")


class BenchTest(unittest.TestCase):
    OPERATIONS = ["all-reduce", "reduce", "broadcast", "all-gather", "reduce-scatter",
                  "all-to-all", "gather", "scatter", "sendrecv"]

    def test_every_operation_gives_right_results_in_each_form(self):
        for operation in self.OPERATIONS:
            with self.subTest(operation=operation):
                done = bench(operation, "-n", "3", "-b", "8", "-e", "100K", "-f", "20", "--root",
                             "2", "--dtype", "bf16")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("# Wrong elements: 0\n", done.stdout)
                rows = [line.split() for line in done.stdout.splitlines() if line[0] != "#"]
                self.assertEqual(len(rows), 4)
                forms = 1 if operation == "sendrecv" else 2
                for row in rows:
                    self.assertEqual(len(row), 5 + 4 * forms)
                    self.assertEqual(row[2], "bf16")

    def test_sizes_and_bandwidths_are_those_of_nccl_tests(self):
        factors = {"all-reduce": 1.5, "reduce": 1, "broadcast": 1, "all-gather": 0.75,
                   "reduce-scatter": 0.75, "all-to-all": 0.75, "gather": 0.75, "scatter": 0.75,
                   "sendrecv": 1}
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "bench.json")
            for operation, factor in factors.items():
                with self.subTest(operation=operation):
                    done = bench(operation, "-n", "4", "-b", "4K", "-e", "4K", "--out-of-place",
                                 "--json", file)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    report = json.loads(Path(file).read_text(encoding="utf-8"))
                    self.assertEqual((report["operation"], report["ranks"]), (operation, 4))
                    row, = report["rows"]
                    blocks = 4 if factor == 0.75 else 1
                    self.assertEqual((row["bytes"], row["count"]), (4096, 1024 // blocks))
                    self.assertIsNone(row["in_place"])
                    figure = row["out_of_place"]
                    self.assertAlmostEqual(
                        figure["algorithm_bytes_per_second"] * figure["seconds"] / 4096, 1)
                    self.assertAlmostEqual(figure["bus_bytes_per_second"]
                                           / figure["algorithm_bytes_per_second"], factor)
                    self.assertEqual(figure["wrong"], 0)

    def test_every_type_and_reduction_is_checked(self):
        types = ("int8", "uint64", "fp16", "fp32", "fp64", "fp8_e4m3fn", "fp8_e5m2")
        for dtype, op in [(dtype, "sum") for dtype in types] + [
                ("fp32", op) for op in ("prod", "max", "min")]:
            with self.subTest(dtype=dtype, op=op):
                done = bench("all_reduce", "-n", "17", "-b", "16", "-e", "40K", "-f", "2500",
                             "--dtype", dtype, "--op", op)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)

    def test_plot_is_xml_with_a_point_for_each_size(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "plot.svg")
            done = bench("all-reduce", "-b", "64K", "-e", "256K", "-o", file, "--algo",
                         "all-reduce=ring@<=1MiB", "--limit")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout.splitlines()[-3], r" \d+ %")
            root = ElementTree.parse(file).getroot()
            space = "{http://www.w3.org/2000/svg}"
            # Two panels, each with two forms of three sizes, and a line for each limit.
            self.assertEqual(len(root.findall(f".//{space}circle")), 12)
            self.assertEqual(len(root.findall(f".//{space}polyline")), 8)
            for point in root.findall(f".//{space}circle"):
                self.assertTrue(0 < float(point.get("cx")) < float(root.get("width")))
                self.assertTrue(0 < float(point.get("cy")) < float(root.get("height")))

    def test_sizes_without_an_element_for_each_rank_are_left_out_and_said(self):
        done = bench("all-gather", "-n", "4", "-b", "4", "-e", "32")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# sizes below 16 bytes are left out", done.stdout)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines() if line[0] != "#"],
                         ["16", "32"])

    def test_bad_arguments_are_named_and_exit_with_2(self):
        cases = [
            (["nothing"], 'OPERATION is "nothing"; expected one of all-reduce, '),
            (["-n", "0"], '--ranks is "0"'),
            (["-n", "257"], '--ranks is "257"'),
            (["-b", "8T"], '--min-bytes is "8T"; expected a number of bytes'),
            (["-b", "0"], '--min-bytes is "0"'),
            (["-e", "99999999999G"], '--max-bytes is "99999999999G"'),
            (["-e", "1000000G"], "three quarters of this machine"),
            (["-b", "8K", "-e", "4K"], "at most --max-bytes, which is 4K"),
            (["-b", "1", "-e", "3"], "at least 4 bytes for all-reduce of fp32 on 2 ranks"),
            (["-f", "1"], '--factor is "1"'),
            (["--iterations", "0"], '--iterations is "0"'),
            (["--repeats", "x"], '--repeats is "x"'),
            (["--processes", "3"], '--processes is "3"; expected a number from 1 to 2'),
            (["--link", "ib"], '--link is "ib"; expected shm or tcp'),
            (["--root", "2"], '--root is "2"; expected a number from 0 to 1'),
            (["--dtype", "fp17"], "CR-DTY01"),
            (["--dtype", "hif8"], "CR-DTY02"),
            (["--op", "xor"], "CR-DTY03"),
            (["--algo", "all-reduce=circle"], "CR-COL06"),
            (["--algo", "all-reduce=chain"], "CR-COL08"),
            (["sendrecv", "--in-place"], "sendrecv has no such form"),
            (["--nonsense"], "nonsense"),
        ]
        for arguments, text in cases:
            with self.subTest(arguments=arguments):
                done = run("bench", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_file_that_cannot_be_written_is_said_before_anything_is_timed(self):
        for option in ("--json", "-o"):
            done = run("bench", option, "/nowhere/file")
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot write /nowhere/file", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_help_has_examples(self):
        self.assertIn("commrig bench all-reduce -n 4", run("bench", "--help").stdout)


class BenchProcessesTest(unittest.TestCase):
    QUICK = ("-b", "8", "-e", "1M", "-f", "64", "--iterations", "2", "--repeats", "1")

    def test_ranks_in_processes_are_measured_and_checked(self):
        for processes, link in (("2", "shm"), ("3", "tcp"), ("5", "shm")):
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "bench.json")
                done = run("bench", "all-gather", "-n", "5", "--processes", processes, "--link",
                           link, "--json", file, *self.QUICK)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.count(
                    f"# all-gather, 5 ranks in {processes} processes, over {link}\n"), 1)
                self.assertIn("# Wrong elements: 0", done.stdout)
                report = json.loads(Path(file).read_text(encoding="utf-8"))
                self.assertEqual(report["ranks_are"], "processes")
                self.assertEqual(report["processes"], int(processes))
                self.assertEqual(report["link"], link)
                self.assertEqual(len(report["rows"]), 2)

    def test_processes_of_a_launcher_share_the_ranks(self):
        done = run("run", "-q", "-n", "2", "--", PROGRAM, "bench", "reduce", "-n", "3", *self.QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[0] # reduce, 3 ranks in 2 processes, over shm\n", done.stdout)
        self.assertNotIn("[1]", done.stdout)
        done = run("run", "-n", "3", "--", PROGRAM, "bench", "-n", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--ranks is \"2\"; expected at least 3", done.stderr)

    def test_process_that_is_killed_is_named_with_its_ranks(self):
        command = [PROGRAM, "bench", "-n", "6", "--processes", "2", "-b", "8", "-e", "8",
                   "--repeats", "1", "--iterations", "1000000"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            process.stdout.readline()  # All ranks are there.
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("utf-8")
            names = {int(pid): Path(f"/proc/{pid}/comm").read_text("utf-8").strip()
                     for pid in children.split()}
            ranks = sorted(pid for pid, name in names.items() if name != "commrig-guard")
            self.assertEqual(len(ranks), 2, names)
            os.kill(ranks[1], signal.SIGKILL)
            errors = process.stderr.read()
        self.assertEqual(process.returncode, 128 + signal.SIGKILL)
        self.assertRegex(errors, f"ranks 3-5 of 6 .process {ranks[1]}. were killed by SIGKILL; "
                                 "ending ranks 0-2")


class OtherCommandsTest(unittest.TestCase):
    def test_explain_lists_and_explains_every_id(self):
        listed = run("explain")
        self.assertEqual(listed.returncode, 0)
        ids = [line.split()[0] for line in listed.stdout.splitlines()]
        self.assertIn("CR-MC210", ids)
        for each in ids:
            done = run("explain", each)
            self.assertEqual(done.returncode, 0)
            self.assertIn("What to do", done.stdout)

    def test_explain_takes_an_id_as_people_type_it(self):
        for typed in ("cr-mc210", "mc210", "MC210"):
            self.assertIn("CR-MC210: ", run("explain", typed).stdout)

    def test_explain_page_is_the_page_in_the_documents(self):
        page = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
        self.assertEqual(run("explain", "--page").stdout, page.read_text(encoding="utf-8"),
                         "write it anew: commrig explain --page > docs/errors.md")

    def test_explain_of_an_unknown_id_lists_close_ones(self):
        for typed, close in (("CR-MC299", "CR-MC209"), ("cr-run94", "CR-RUN04"),
                             ("", "CR-"), ("x" * 10000, "CR-")):
            with self.subTest(typed=typed[:9]):
                done = run("explain", typed)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, "close to it: [^;]*" + close)

    def test_env_can_be_evaluated_from_any_prefix(self):
        with tempfile.TemporaryDirectory(prefix="it's a prefix ") as prefix:
            os.mkdir(os.path.join(prefix, "bin"))
            program = shutil.copy(PROGRAM, os.path.join(prefix, "bin", "commrig"))
            shell = 'eval "$("$1" env)" && command -v commrig && echo "$COMMRIG_HOME"'
            done = subprocess.run(["bash", "-c", shell, "bash", program], capture_output=True,
                                  text=True, check=True)
            self.assertEqual(done.stdout.splitlines()[0], program)
            self.assertEqual(done.stdout.splitlines()[1], prefix)

    def test_doctor_tells_programs_that_run_from_those_that_do_not(self):
        done = run("doctor", PROGRAM)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("neither libcudart nor libnccl", done.stdout)
        self.assertIn(f"commrig run -n 2 {PROGRAM}", done.stdout)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "prog")
            shutil.copyfile(PROGRAM, program)  # without the right to execute it
            done = run("doctor", program)
            self.assertEqual(done.returncode, 1)
            self.assertIn("commrig: CR-RUN10", done.stderr)
            self.assertIn(f"chmod +x {program}", done.stderr)
            for path in (folder, os.path.join(folder, "absent"), __file__):
                done = run("doctor", path)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"commrig: CR-RUN04: {path}", done.stderr)

    def test_version_help_and_unknown_commands(self):
        self.assertRegex(run("--version").stdout, r"^commrig \d+\.\d+\.\d+\n$")
        self.assertIn("mc2", run("--help").stdout)
        for arguments, found in (([], "no command behind `commrig`"),
                                 (["nothing"], '"nothing" is no command of `commrig`'),
                                 (["mc2"], "no command behind `commrig mc2`"),
                                 (["mc2", "x"], '"x" is no command of `commrig mc2`'),
                                 (["plan", "-n"], "")):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("commrig: CR-RUN04: " + found, done.stderr)
        self.assertRegex(run("nothing").stderr, "expected one of run, mc2, bench, plan,")

    def test_help_is_a_command_and_names_what_options_take(self):
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help", "plan", "show").stdout, run("plan", "show", "--help").stdout)
        for command in (["run"], ["mc2", "run"], ["bench"], ["plan", "show"], ["plan", "verify"],
                        ["plan", "choose"], ["plan", "list"], ["explain"], ["env"], ["doctor"],
                        *(["ranktable", name] for name in ("check", "make", "convert", "merge",
                                                           "diff", "show", "draw", "wait"))):
            with self.subTest(command=command):
                done = run(*command, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertNotIn("TEXT", done.stdout)

    def test_explain_page_takes_no_id(self):
        done = run("explain", "--page", "CR-MEM01")
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_kernels_that_do_not_exist_are_named(self):
        done = run("bench", "all-reduce", "-e", "64", env={"COMMRIG_KERNELS": "nonsense"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("COMMRIG_KERNELS=nonsense: there are no such kernels", done.stderr)


if __name__ == "__main__":
    unittest.main()
