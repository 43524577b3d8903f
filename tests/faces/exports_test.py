# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""What the faces show of themselves. Usage: exports_test.py LIBNCCL NCCL_H LIBCUDART CUDA_H"""

import re
import subprocess
import sys
import unittest

NCCL, NCCL_HEADER, CUDART, CUDA_HEADER = sys.argv[1:5]
del sys.argv[1:5]


def symbols(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                          check=True)
    found = {}
    for line in done.stdout.splitlines():
        kind, name = line.split()[1:3]
        found[name.split("@")[0]] = kind
    return found


def soname(library):
    done = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True)
    return re.search(r"SONAME\s+(\S+)", done.stdout).group(1)


def declared(header, pattern):
    with open(header, encoding="utf-8") as file:
        return set(re.findall(pattern, file.read(), re.MULTILINE))


class ExportsTest(unittest.TestCase):
    def test_nccl_has_each_function_twice_the_plain_one_weak(self):
        names = declared(NCCL_HEADER, r"^[a-z][\w *]*[ *](nccl[A-Z]\w*)\(")
        self.assertEqual(len(names), 41)
        found = symbols(NCCL)
        self.assertEqual(set(found), names | {"p" + name for name in names})
        for name in names:
            self.assertEqual((found[name], found["p" + name]), ("W", "T"), name)
        self.assertEqual(soname(NCCL), "libnccl.so.2")

    def test_cudart_has_what_its_header_declares_and_nothing_foreign(self):
        names = declared(CUDA_HEADER, r"^[a-z][\w *]*[ *](cuda[A-Z]\w*)\(")
        found = symbols(CUDART)
        self.assertGreater(len(names), 80)
        self.assertEqual(names - set(found), set())
        for name in set(found) - {"libcudart.so.12"}:
            self.assertRegex(name, r"^(__)?cuda[A-Z]|^commrigRegisterKernelBody$")
        self.assertIn("cudaGetDeviceProperties_v2", found)
        self.assertEqual(soname(CUDART), "libcudart.so.12")


if __name__ == "__main__":
    unittest.main()
