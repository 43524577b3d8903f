# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Ranks of two hosts: two network namespaces that only a cable of theirs joins.

Usage: hosts_test.py PATH_OF_HOSTS_RANK

Needs root, or the right to make user namespaces, and iproute2. Nothing has a name outside and
everything runs in a process namespace of its own, so all of it goes when this process does.
"""

import os
import re
import signal
import subprocess
import sys
import unittest

INSIDE = "COMMRIG_HOSTS_TEST_INSIDE"
LEFT, RIGHT = "10.77.0.1", "10.77.0.2"
PORT = "29400"  # in a network of its own
RANKS = 4  # the first half of them on the left


def go_inside():
    """Becomes the same program in namespaces of its own."""
    command = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*command, sys.executable, "-B", *sys.argv])


def ip(*words, within=()):
    subprocess.run([*within, "ip", *words], check=True)


class Hosts:
    """This namespace as the left host, and another one as the right."""

    def __init__(self):
        # The right one lives as long as this process, which it reads from.
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo ready; exec cat"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.enter_right = ["nsenter", "--target", str(self.holder.pid), "--net"]
        ip("link", "add", "left0", "type", "veth", "peer", "name", "right0", "netns",
           str(self.holder.pid))
        for within, name, address in (((), "left0", LEFT), (self.enter_right, "right0", RIGHT)):
            ip("address", "add", f"{address}/24", "dev", name, within=within)
            ip("link", "set", name, "up", within=within)
            ip("link", "set", "lo", "up", within=within)
        # The kernel says a little later that the cable is plugged in at both ends.
        for within, name in (((), "left0"), (self.enter_right, "right0")):
            while "state UP" not in subprocess.check_output([*within, "ip", "link", "show", name],
                                                            text=True):
                pass

    def start(self, program, what, rank):
        left = rank < RANKS // 2
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR=LEFT,
                   MASTER_PORT=PORT, COMMRIG_HOSTID="left" if left else "right",
                   NCCL_SOCKET_IFNAME="left0" if left else "right0")
        return subprocess.Popen([*([] if left else self.enter_right), program, what], env=env,
                                stdout=subprocess.PIPE, text=True)

    def close(self):
        self.holder.communicate()


class HostsTest(unittest.TestCase):
    hosts = None
    program = None

    @classmethod
    def setUpClass(cls):
        cls.hosts = Hosts()
        cls.addClassCleanup(cls.hosts.close)

    def start(self, what):
        ranks = [self.hosts.start(self.program, what, rank) for rank in range(RANKS)]
        for each in ranks:
            self.addCleanup(each.__exit__, None, None, None)
            self.addCleanup(each.kill)
        return ranks

    def test_hosts_see_each_other_and_nobody_else(self):
        links = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True, check=True)
        self.assertEqual(sorted(re.split(r"[@\s]", line)[0] for line in links.stdout.splitlines()),
                         ["left0", "lo"])
        pids = ("self", self.hosts.holder.pid)
        here, there = (os.readlink(f"/proc/{pid}/ns/net") for pid in pids)
        self.assertNotEqual(here, there)

    def test_random_program_agrees_with_the_reference(self):
        ranks = self.start("program")
        for rank, each in enumerate(ranks):
            said = each.communicate()[0]
            self.assertEqual((said, each.returncode), ("good\n", 0), f"rank {rank}")

    def test_rank_that_is_killed_is_named_on_both_hosts(self):
        for victim in (1, RANKS - 1):
            ranks = self.start("endless")
            for each in ranks:
                self.assertEqual(each.stdout.readline(), "summed\n")
            ranks[victim].send_signal(signal.SIGKILL)
            for rank, each in enumerate(ranks):
                if rank != victim:
                    self.assertRegex(each.communicate()[0], rf"^CR-[A-Z0-9]+: .*rank {victim}\b")


if __name__ == "__main__":
    if INSIDE not in os.environ:
        go_inside()
    HostsTest.program = sys.argv.pop(1)
    unittest.main()
