# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Runs `commrig ranktable` as a user would. Usage: ranktable_test.py PATH_OF_COMMRIG"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)
ROOT = Path(__file__).resolve().parents[2]


def run(*arguments, text=None):
    return subprocess.run([PROGRAM, "ranktable", *arguments], input=text, capture_output=True,
                          text=True, check=False, timeout=120)


class RankTableTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def made(self, name, *arguments):
        path = str(self.folder / name)
        done = run("make", *arguments, "-o", path)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return path

    def test_made_tables_are_clean_and_broken_ones_are_named_by_line(self):
        path = self.made("hccl.json", "-n", "16", "--device-ip", "192.0.2.1")
        self.assertEqual(run("check", path, "--chip", "a2", "--strict").returncode, 0)
        text = Path(path).read_text().replace('"192.0.2.9"', '"-.-.-.-"')
        done = run("check", self.write("bad.json", text), "--chip", "a2")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"bad\.json:\d+:\d+ +error +CR-TAB31 +server_list\[1\]")
        self.assertIn("^~~~~~~~~", done.stdout)
        self.assertIn("EI0014", done.stdout)

    def test_exit_codes_tell_good_bad_unreadable_and_foreign_files_apart(self):
        good = self.made("good.json", "-n", "8")
        bad = self.write("bad.json", Path(good).read_text().replace('"1.0"', '"1.3"'))
        foreign = self.write("global.json", '{"server_group_list": []}')
        loopback = Path(good).read_text().replace('"node_0"', '"127.0.0.1"')
        warned = self.write("warned.json", loopback)
        self.assertEqual(run("check", good).returncode, 0)
        self.assertEqual(run("check", bad).returncode, 1)
        self.assertEqual(run("check", warned).returncode, 0)
        self.assertEqual(run("check", warned, "--strict").returncode, 1)
        self.assertEqual(run("check", foreign).returncode, 2)
        self.assertEqual(run("check", str(self.folder / "absent.json")).returncode, 2)
        self.assertEqual(run("check", good, bad, foreign).returncode, 2)
        self.assertEqual(run("check", good, "--chip", "b7").returncode, 2)

    def test_a_table_that_is_not_completed_is_an_error_unless_it_is_expected(self):
        path = self.write("hccl.json", '{"status": "initializing"}')
        self.assertEqual(run("check", path).returncode, 1)
        self.assertEqual(run("check", path, "--allow-initializing").returncode, 0)

    def test_json_and_sarif_are_one_object_each(self):
        path = self.write("t.json", '{"version": "1.0", "server_list": [],}')
        report = json.loads(run("check", path, "--json").stdout)
        self.assertEqual(report["files"][0]["verdict"], "bad")
        sarif = json.loads(run("check", path, "--sarif").stdout)
        found = {each["ruleId"] for each in sarif["runs"][0]["results"]}
        self.assertIn("CR-TAB02", found)

    def test_standard_input_is_a_table(self):
        self.assertEqual(run("check", "-", text="{}").returncode, 2)

    def test_fix_mends_what_needs_no_guess_and_lists_it(self):
        fixed = str(self.folder / "fixed.json")
        page = str(ROOT / "examples" / "ranktable" / "page.json")
        done = run("check", page, "--brief", "--fix", fixed)
        self.assertEqual(done.returncode, 1)
        self.assertIn("CR-TAB01", done.stderr)
        self.assertIn("written to", done.stderr)
        left = json.loads(run("check", fixed, "--json").stdout)["files"][0]["findings"]
        self.assertEqual([each["id"] for each in left if each["severity"] == "error"], ["CR-TAB31"])

    def test_a_topology_file_is_compared_with_its_table(self):
        table = self.made("t.json", "--version", "2.0", "-n", "2", "--device-ip", "192.0.2.1")
        topology = {"version": "2.0", "peer_count": 1, "peer_list": [{"local_id": 0}],
                    "edge_count": 1, "edge_list": [
                        {"net_layer": 0, "link_type": "PEER2NET", "protocols": ["TCP"],
                         "local_a": 0, "local_a_ports": ["0/0"]}]}
        path = self.write("topo.json", json.dumps(topology))
        self.assertEqual(run("check", table).returncode, 0)
        done = run("check", table, "--topology", path)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("CR-TAB83", done.stdout)
        self.assertEqual(run("check", path).returncode, 2)

    def test_hccn_conf_gives_addresses(self):
        conf = self.write("hccn.conf", "address_0=192.0.2.7\naddress_1=192.0.2.8\n")
        path = self.made("t.json", "--host", "a 198.51.100.1", "--devices", "2",
                         "--hccn-conf", f"a={conf}")
        self.assertIn("192.0.2.8", Path(path).read_text())
        self.assertIn("198.51.100.1", Path(path).read_text())
        self.assertEqual(run("make", "--host", "a", "--hccn-conf", f"b={conf}").returncode, 2)

    def test_convert_says_what_is_lost_and_what_is_missing(self):
        path = self.made("t.json", "--version", "1.2", "-n", "32", "--devices", "16",
                         "--device-ip", "10.0.0.1")
        other = str(self.folder / "o.json")
        done = run("convert", path, "--to", "1.0", "-o", other)
        self.assertEqual(done.returncode, 0)
        self.assertIn("lost: super_device_id of 32 ranks", done.stderr)
        self.assertEqual(run("check", other, "--chip", "a3").returncode, 0)
        self.assertEqual(run("convert", path, "--to", "2.0").returncode, 2)
        done = run("convert", path, "--to", "2.0", "--port", "0/0", "-o", other)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(run("check", other, "--chip", "950").returncode, 0)
        self.assertEqual(run("convert", self.write("b.json", "{}"), "--to", "1.0").returncode, 2)

    def test_merge_numbers_ranks_by_the_order_of_the_files(self):
        parts = [self.made(f"{i}.json", "--host", f"host_{i}", "--devices", "2",
                           "--device-ip", f"10.0.{i}.1") for i in range(3)]
        merged = str(self.folder / "m.json")
        self.assertEqual(run("merge", *reversed(parts), "-o", merged).returncode, 0)
        self.assertEqual(run("check", merged).returncode, 0)
        self.assertRegex(run("show", merged).stdout, r"(?m)^0 +host_2 +0 +10\.0\.2\.1$")
        self.assertEqual(run("merge", parts[0], parts[0]).returncode, 2)

    def test_diff_ends_with_one_where_tables_differ(self):
        first = self.made("a.json", "-n", "8", "--device-ip", "192.0.2.1")
        second = self.made("b.json", "-n", "8", "--device-ip", "192.0.2.2")
        self.assertEqual(run("diff", first, first).returncode, 0)
        done = run("diff", first, second)
        self.assertEqual(done.returncode, 1)
        self.assertIn("rank 0: device_ip 192.0.2.1 -> 192.0.2.2", done.stdout)

    def test_draw_writes_pictures_and_pages_and_nothing_else(self):
        path = self.made("t.json", "-n", "8")
        for name in ("t.svg", "t.html"):
            self.assertEqual(run("draw", path, "-o", str(self.folder / name)).returncode, 0)
            self.assertIn("<svg", (self.folder / name).read_text())
        self.assertEqual(run("draw", path, "-o", str(self.folder / "t.png")).returncode, 2)

    def test_wait_ends_when_the_table_is_completed_or_at_its_deadline(self):
        path = self.write("t.json", '{"status": "initializing"}')
        done = run("wait", path, "--deadline", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("CR-RUN03", done.stderr)
        self.assertIn('its status is "initializing"', done.stderr)
        waiting = subprocess.Popen([PROGRAM, "ranktable", "wait", path, "--deadline", "60"])
        self.addCleanup(waiting.kill)
        os.replace(self.made("new.json", "-n", "1"), path)
        self.assertEqual(waiting.wait(60), 0)

    def test_every_finding_is_explained(self):
        listed = subprocess.run([PROGRAM, "explain"], capture_output=True, text=True, check=True)
        ids = re.findall(r"^(CR-TAB\d+) ", listed.stdout, re.MULTILINE)
        self.assertEqual(len(ids), 85)
        page = (ROOT / "docs" / "ranktable.md").read_text(encoding="utf-8")
        for each in ids:
            self.assertIn(f"| {each} |", page)


if __name__ == "__main__":
    unittest.main()
