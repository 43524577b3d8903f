# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Runs the demo as a user would. Usage: demo_test.py PATH_OF_COMMRIG"""

import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


class DemoTest(unittest.TestCase):
    def test_runs_three_types_in_both_layouts(self):
        done = subprocess.run([PROGRAM, "mc2", "demo"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("upstream-64", "readme-112", "fp16", "bf16", "fp32", "inside their bounds"):
            self.assertIn(text, done.stdout)
        self.assertEqual(done.stdout.count("  ok\n"), 12)
        self.assertIn("CR-MC210: rank 2, slot 0, dataCnt", done.stdout)


if __name__ == "__main__":
    unittest.main()
