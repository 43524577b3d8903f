# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""What the checks share: which files there are, C++ without comments, and the self-test."""

import re
import subprocess
import tempfile
from pathlib import Path

CXX = (".h", ".cc", ".c")

_TOKENS = re.compile(
    r"""(?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
      |(?P<comment>//[^\n]*|/\*.*?\*/)
      |(?P<string>"(?:\\.|[^"\\\n])*")
      |(?P<char>(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)


def repository():
    return Path(__file__).resolve().parent.parent


def list_files(root):
    """Relative paths of the files of a tree: in a checkout, all that git doesn't ignore."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"]
        names = set(subprocess.run(command, check=True, capture_output=True).stdout.split(b"\0"))
        paths = [Path(name.decode()) for name in names if name]
    else:
        paths = [path.relative_to(root) for path in root.rglob("*")]
        paths = [path for path in paths if path.parts[0] != "build"]
    return sorted(path for path in paths if (root / path).is_file())


def code_only(text):
    """C++ with comments and the insides of literals blanked; lines stay where they are."""

    def blank(match):
        newlines = "\n" * match.group(0).count("\n")
        return newlines + " " if match.group("comment") else '""' + newlines

    return _TOKENS.sub(blank, text)


def is_test(path):
    """Tests, and what only tests include."""
    return path.parts[0] == "tests" or re.search(r"_(test|testing)\.(h|cc|c)$", path.name)


def self_test(name, cases, check, good):
    """Each case is (what it shows, files, text that a finding must have); `good` must pass."""

    def findings_of(files):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text if isinstance(text, bytes) else text.encode())
            return check(Path(folder))

    failures = [f"good tree refused: {finding}" for finding in findings_of(good)]
    for title, files, expected in cases:
        findings = findings_of({**good, **files})
        if not any(expected in finding for finding in findings):
            failures.append(f"{title}: no finding with '{expected}' in {findings}")
    for failure in failures:
        print(f"{name}: self-test: {failure}")
    if not failures:
        print(f"{name}: self-test: {len(cases)} bad trees refused")
    return 1 if failures else 0


def report(name, findings):
    for finding in findings:
        print(finding)
    print(f"{name}: {len(findings)} findings" if findings else f"{name}: no findings")
    return 1 if findings else 0
