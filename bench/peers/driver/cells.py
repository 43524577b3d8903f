# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""What is measured: operations, sizes, ranks; how much work that is for the memory."""

import dataclasses

KIB = 1024
MIB = 1024 * KIB

OPERATIONS = (
    ("all-reduce", "fp32"),
    ("all-reduce", "bf16"),
    ("reduce-scatter", "fp32"),
    ("all-gather", "bytes"),
    ("all-to-all", "bytes"),
    ("broadcast", "bytes"),
    ("send-recv", "bytes"),
)
SIZES = (8, KIB, 64 * KIB, MIB, 16 * MIB, 128 * MIB)
RANKS = (2, 4, 8)


def name_of_size(size):
    for unit, letters in ((MIB, "MiB"), (KIB, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {letters}"
    return f"{size} B"


@dataclasses.dataclass(frozen=True)
class Cell:
    operation: str
    dtype: str
    size: int  # bytes, as nccl-tests counts: the larger of a rank's input and output
    ranks: int

    @property
    def title(self):
        """As it stands above a table: "all-reduce bf16"; moved bytes have no type."""
        return self.operation if self.dtype == "bytes" else f"{self.operation} {self.dtype}"

    def __str__(self):
        return f"{self.title}, {self.ranks} ranks, {name_of_size(self.size)}"

    @property
    def is_small(self):
        return self.size <= 64 * KIB

    @property
    def reduces(self):
        return self.operation in ("all-reduce", "reduce-scatter")

    def traffic(self):
        """Bytes that all ranks together have to read and to write: each input once, each output
        once. A broadcast is in place."""
        n, size = self.ranks, self.size
        return {
            "all-reduce": (n * size, n * size),
            "reduce-scatter": (n * size, size),
            "all-gather": (size, n * size),
            "all-to-all": (n * size, n * size),
            "broadcast": (size, (n - 1) * size),
            "send-recv": (n * size, n * size),
        }[self.operation]

    def batch(self):
        """Calls that are timed together."""
        if self.is_small:
            return 20
        return {MIB: 5, 16 * MIB: 2}.get(self.size, 1)


def cells(operations, sizes, ranks):
    return [Cell(*operation, size, ranks) for operation in operations for size in sizes]
