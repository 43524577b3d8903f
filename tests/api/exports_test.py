# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""What the shared library shows of itself. Usage: exports_test.py PATH_OF_LIBCOMMRIG"""

import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop(1)


def lines(*command):
    done = subprocess.run([*command, LIBRARY], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class ExportsTest(unittest.TestCase):
    def test_nothing_but_the_interface_is_exported(self):
        names = [line.split(maxsplit=2)[2] for line in lines("nm", "-DC", "--defined-only")]
        self.assertIn("commrig::v0::Communicator::barrier()@@COMMRIG_0", names)
        self.assertIn("commrig::v0::Communicator::world(commrig::v0::Runtime&, "
                      "commrig::v0::CommunicatorOptions const&)@@COMMRIG_0", names)
        self.assertIn("commrig::rig::current_device()@@COMMRIG_PRIVATE", names)
        for name in names:
            if name in ("COMMRIG_0", "COMMRIG_PRIVATE", "COMMRIG_0@@COMMRIG_0",
                        "COMMRIG_PRIVATE@@COMMRIG_PRIVATE"):
                continue
            self.assertRegex(
                name,
                r"^((typeinfo|vtable)( name)? for )?commrig::"
                r"(v0::.*@@COMMRIG_0|rig::.*@@COMMRIG_PRIVATE)$")
            self.assertNotIn("State", name)

    def test_the_name_has_the_version(self):
        text = "\n".join(lines("objdump", "-p"))
        self.assertRegex(text, r"SONAME\s+libcommrig\.so\.0\n")


if __name__ == "__main__":
    unittest.main()
