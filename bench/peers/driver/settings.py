# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""The libraries that are compared, each in the settings in which it is best somewhere."""

import dataclasses
import os
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a job of one setting runs."""

    binaries: Path  # the programs of bench/peers/Makefile
    prefix: Path  # an installed commrig
    folder: Path  # the job's own, empty at first
    socket: Path  # where the driver listens
    meeting: Path  # 64 bytes of zeros
    ranks: int
    cores: int

    def program(self, name):
        """The beginning of every rank's command line."""
        return [str(self.binaries / name), str(self.socket), str(self.meeting)]


@dataclasses.dataclass(frozen=True)
class Setting:
    """`commands` gives, for a Place, the command lines that start all ranks together."""

    name: str
    link: str  # "memory" or "tcp"; settings with the same one are compared
    commands: object
    ours: bool = False
    environment: dict = dataclasses.field(default_factory=dict)
    ranks_max: int = 1024
    operations: tuple = ()  # all, unless some are named
    note: str = ""

    def takes(self, cell):
        """Whether this setting is there for the cell at all."""
        return cell.ranks <= self.ranks_max and (
            not self.operations or cell.operation in self.operations
        )


def commrig_run(name, *arguments, with_id=False):
    def commands(place):
        words = place.program(name) + list(arguments)
        if with_id:
            words.append(str(place.folder / "id"))
        run = [str(place.prefix / "bin/commrig"), "run", "-q", "--no-tag"]
        return [run + ["-n", str(place.ranks), "--"] + words]

    return commands


def commrig_threads(place):
    return [place.program("peer_commrig") + ["threads", str(place.ranks)]]


def open_mpi(*parameters):
    """Ranks are pinned while there are cores for them, and yield otherwise."""

    def commands(place):
        fits = place.ranks <= place.cores
        words = ["mpirun.openmpi", "--oversubscribe", "-n", str(place.ranks)]
        words += ["--bind-to", "core" if fits else "none"]
        words += ["--mca", "mpi_yield_when_idle", "0" if fits else "1"]
        if os.geteuid() == 0:
            words.append("--allow-run-as-root")
        for parameter in parameters:
            words += ["--mca"] + parameter.split("=", 1)
        return [words + place.program("peer_openmpi")]

    return commands


def mpich(place):
    fits = place.ranks <= place.cores
    words = ["mpiexec.mpich", "-n", str(place.ranks)]
    return [words + (["-bind-to", "core"] if fits else []) + place.program("peer_mpich")]


def gloo(place):
    return [
        place.program("peer_gloo") + [str(rank), str(place.ranks), str(place.folder)]
        for rank in range(place.ranks)
    ]


VADER = ("pml=ob1", "btl=self,vader")

SETTINGS = (
    Setting("commrig-nccl", "memory", commrig_run("peer_nccl", with_id=True), ours=True,
            note="NCCL programs, buffers from cudaMalloc"),
    Setting("commrig-host", "memory", commrig_run("peer_commrig"), ours=True,
            note="C++ interface, ordinary host memory"),
    Setting("commrig-threads", "memory", commrig_threads, ours=True,
            note="the same, ranks are threads of one process"),
    Setting("ompi-cma", "memory", open_mpi(*VADER, "btl_vader_single_copy_mechanism=cma"),
            note="Open MPI, vader with CMA, its default"),
    Setting("ompi-vader", "memory", open_mpi(*VADER, "btl_vader_single_copy_mechanism=none"),
            note="Open MPI, vader without CMA"),
    Setting("ompi-ucx", "memory",
            open_mpi("pml=ucx", "pml_ucx_tls=any", "pml_ucx_devices=any", "osc=^ucx"),
            environment={"UCX_TLS": "posix,self"},
            note="Open MPI over UCX's shared memory, without CMA"),
    Setting("ompi-sm", "memory",
            open_mpi(*VADER, "btl_vader_single_copy_mechanism=none", "coll_sm_priority=100"),
            ranks_max=2, operations=("all-reduce", "broadcast"),
            note="Open MPI, coll/sm: 2 ranks, and the operations that it has"),
    Setting("mpich", "memory", mpich, note="MPICH as it comes"),
    Setting("mpich-posix", "memory", mpich, environment={"UCX_TLS": "posix,self"},
            note="MPICH over UCX's shared memory, without CMA"),
    Setting("commrig-tcp", "tcp", commrig_run("peer_commrig", "tcp"), ours=True,
            note="C++ interface, processes as if on hosts of their own"),
    Setting("ompi-tcp", "tcp", open_mpi("pml=ob1", "btl=self,tcp", "btl_tcp_if_include=lo"),
            note="Open MPI over TCP"),
    Setting("mpich-tcp", "tcp", mpich,
            environment={"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"},
            note="MPICH over UCX's TCP"),
    Setting("gloo", "tcp", gloo, note="Gloo, which has TCP alone"),
)
