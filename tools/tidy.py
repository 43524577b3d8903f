#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Checks the rules of this repository that no common tool knows.

Usage: tools/tidy.py [--self-test]
A banned call is allowed by a reason on its line:  // tidy: allow(RULE) reason
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import sources  # noqa: E402

LINE_COLUMNS_MAX = 100
FILE_LINES_WARN = 400
FILE_LINES_MAX = 600
FILE_BYTES_MAX = 512 * 1024

# A banned call: rule, what it looks like, where it is allowed, what to do instead. Places are
# folders or, where they have no slash, kinds of files.
BASE = {"src/base"}
# Programs as users write them for somebody's interface, which know nothing of base.
USERS = {"examples/nccl", "bench/peers"}
PRINTERS = {"faces/", "examples/", "bench/", "tests"}
BANNED = [
    ("clock", r"\b(?:steady|system|high_resolution)_clock\b|\b(?:clock_gettime|gettimeofday)\s*\(",
     BASE | {"bench/peers"}, "take a base clock through the constructor"),
    ("random", r"\brandom_device\b|(?<![\w.:>])s?rand\s*\(|\bmt19937(?:_64)?\b",
     BASE, "take a seeded base rng"),
    ("sleep", r"\b(?:sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\s*\("
     r"|(?<![\w.>])sleep\s*\(\s*\d", {"src/base, not tests"} | USERS, "wait for what is to happen"),
    ("thread", r"\bstd::j?thread\b(?!::)|\bstd::async\b|\bpthread_create\s*\(",
     BASE | {"tests"} | USERS, "use an executor of base"),
    ("wait", r"\bcondition_variable(?:_any)?\b|\bthis_thread::yield\b|\bsched_yield\s*\("
     r"|\bSYS_futex\b", BASE | {"tests", "bench/peers"}, "wait through base/wait"),
    ("exit", r"(?<![\w.>:])(?:exit|_exit|_Exit|quick_exit)\s*\("
     r"|\bstd::(?:exit|_Exit|quick_exit|abort|terminate)\s*\(|(?<![\w>])::(?:_?exit|abort)\s*\(",
     BASE | {"tests"} | USERS, "return a Result, or use COMMRIG_CHECK"),
    ("print", r"(?<![\w.>])(?:std::)?(?:v?f?printf|f?puts|fputc|putchar|perror)\s*\("
     r"|\bstd::(?:cout|cerr|clog)\b|\bfmt::(?:print|println)\s*\(",
     PRINTERS, "hand the line to log() or return it"),
    ("new", r"(?<!operator )(?<!::)\bnew\s+(?!\()[A-Za-z_:]|(?<!operator )(?<!= )(?<!=)\bdelete\b",
     BASE | {"tests"}, "let a std::unique_ptr or a container own it"),
]
ALLOW = re.compile(r"//.*\btidy: allow\((\w+)\)[ ]+\S")
SPDX = ("SPDX-License-Identifier: Apache-2.0", "SPDX-FileCopyrightText: The commrig authors")


def is_script(root, path):
    with open(root / path, "rb") as file:
        return file.read(2) == b"#!"


def is_code(root, path):
    return (
        path.suffix in sources.CXX + (".py", ".cmake")
        or path.name == "CMakeLists.txt"
        or (not path.suffix and is_script(root, path))
    )


def allowed_at(path, places):
    for place in places:
        if place == "tests":
            allowed = sources.is_test(path)
        elif place == "src/base, not tests":
            allowed = str(path).startswith("src/base/") and not sources.is_test(path)
        else:
            allowed = str(path).startswith(place)
        if allowed:
            return True
    return False


def check_banned(path, text):
    code = sources.code_only(text).split("\n")
    raw = text.split("\n")
    for rule, pattern, places, advice in BANNED:
        if allowed_at(path, places):
            continue
        for number, line in enumerate(code, start=1):
            found = re.search(pattern, line)
            if not found or line.lstrip().startswith("#include"):
                continue
            excuse = ALLOW.search(raw[number - 1])
            if not excuse or excuse.group(1) != rule:
                name = found.group(0).strip().rstrip("( ")
                yield f"{path}:{number}: {name} is banned here ({rule}): {advice}"


def check_shape(path, text):
    lines = text.split("\n")
    if len(lines) > FILE_LINES_MAX:
        yield f"{path}: {len(lines)} lines; split it below {FILE_LINES_MAX}"
    elif len(lines) > FILE_LINES_WARN:
        print(f"{path}: {len(lines)} lines: think of splitting it", file=sys.stderr)
    for number, line in enumerate(lines, start=1):
        if len(line) > LINE_COLUMNS_MAX and not re.search(r"NOLINT|https?://", line):
            yield f"{path}:{number}: {len(line)} columns, {LINE_COLUMNS_MAX} at most"
        if re.search(r"\bTODO\(now\)", line) and path.name != "tidy.py":
            yield f"{path}:{number}: TODO(now) must be done now"
    start = "\n".join(lines[:3])
    if not all(line in start for line in SPDX):
        yield f"{path}: the two SPDX lines are missing at the top"


def check_own_header_first(root, path, text):
    header = path.with_suffix(".h")
    if path.suffix != ".cc" or path.parts[0] != "src" or not (root / header).is_file():
        return
    first = re.search(r'^#include [<"]([^>"]+)[>"]', text, re.MULTILINE)
    if not first or first.group(1) != str(header.relative_to("src")):
        yield f"{path}: must include {header.relative_to('src')} first"


def check_in_build(root, files):
    """Every source file is built; a header without one is in HEADERS, which compiles it."""
    lists = {}
    for path in files:
        if path.name == "CMakeLists.txt":
            text = (root / path).read_text(encoding="utf-8")
            lists[path.parent] = re.sub(r"#[^\n]*", "", text)
    for path in files:
        if path.suffix not in sources.CXX or path.parts[0] not in ("src", "faces", "examples"):
            continue
        if path.suffix == ".h" and (path.parts[0] != "src" or path.with_suffix(".cc") in files):
            continue
        names = [
            (str(path.relative_to(folder)), lists[folder]) for folder in path.parents
            if folder in lists
        ]
        if not any(re.search(rf"(?<![\w/]){re.escape(n)}(?![\w.])", text) for n, text in names):
            kind = "HEADERS of" if path.suffix == ".h" else "of"
            yield f"{path}: in no list {kind} a CMakeLists.txt"


def check_blob(root, path):
    content = (root / path).read_bytes()
    if len(content) > FILE_BYTES_MAX:
        yield f"{path}: {len(content)} bytes, {FILE_BYTES_MAX} at most"
    if b"\0" in content and path.parts[:2] != ("tests", "data"):
        yield f"{path}: binary files belong into tests/data only"


def check_codes(root):
    """Each error code has one row with an id of its own, and a word in the documents."""
    header, table = root / "src/base/codes.h", root / "src/base/codes.cc"
    if not header.is_file() or not table.is_file():
        return
    code = sources.code_only(header.read_text())
    body = re.search(r"enum class Code\b[^{]*\{(.*?)\}", code, re.DOTALL)
    names = re.findall(r"\bk[A-Z]\w*", body.group(1)) if body else []
    rows = dict(re.findall(r'CodeInfo\{\s*(?:Code::)?(k\w+),[^"]*"(CR-\w+)"', table.read_text()))
    document = root / "docs/errors.md"
    documented = document.read_text(encoding="utf-8") if document.is_file() else None
    if not names:
        yield "src/base/codes.h: no enumerators of Code found"
    for name in names:
        if name not in rows:
            yield f"src/base/codes.cc: {name} has no row"
        elif list(rows.values()).count(rows[name]) > 1:
            yield f"src/base/codes.cc: {rows[name]} is used twice"
        elif documented is not None and not re.search(rf"{rows[name]}\b", documented):
            yield f"docs/errors.md: {rows[name]} ({name}) is not explained"


def check(root):
    files = sources.list_files(root)
    findings = []
    for path in files:
        findings += check_blob(root, path)
        if not is_code(root, path):
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace").rstrip("\n")
        findings += check_shape(path, text)
        if path.suffix in sources.CXX:
            findings += check_banned(path, text)
            findings += check_own_header_first(root, path, text)
    findings += check_in_build(root, files)
    findings += check_codes(root)
    return findings


TAG = f"// {SPDX[0]}\n// {SPDX[1]}\n"
HASH_TAG = f"# {SPDX[0]}\n# {SPDX[1]}\n"


def tree(path, code):
    """One source file, listed in its folder, with the two lines at its top."""
    folder = Path(path).parent
    return {path: TAG + code, f"{folder}/CMakeLists.txt": HASH_TAG + f"{Path(path).name} a.cc\n"}


GOOD = {
    **tree("src/mc2/m.cc", "auto t = std::make_unique<int>(1'000); // new int, exit(1)\n"
           "M(const M&) = delete; auto n = std::thread::hardware_concurrency(); group.abort();\n"
           'auto s = "std::cout << new T"; x.delete_all(); new (place) T; snprintf(b, 1, "");\n'
           "auto p = new T;  // tidy: allow(new) handed to the vendor's API, which frees it\n"),
    **tree("src/base/clock.cc", "auto x = std::chrono::steady_clock::now(); usleep(1);\n"),
    **tree("src/dtype/a_test.cc", "std::thread t; auto p = new T; _exit(1);\n"),
    **tree("faces/cli/main.cc", 'std::cout << 1; fmt::print("x");\n'),
    "src/base/codes.h": TAG + "enum class Code : int {\n  kA,  // first\n  kB,\n};\n",
    "src/base/codes.cc": TAG + '#include "base/codes.h"\nCodeInfo{kA, Kind::kX, "CR-A01"}\n'
    'CodeInfo{kB,\n Kind::kX, "CR-A02"}\n',
    "src/base/CMakeLists.txt": HASH_TAG + "clock.cc codes.cc\n",
    "docs/errors.md": "CR-A01 CR-A02\n",
    "tests/data/golden.bin": b"\0\1",
}
CASES = [
    (rule, tree("src/mc2/x.cc", code + "\n"), f"({rule})")
    for rule, code in [
        ("clock", "auto t = std::chrono::steady_clock::now();"),
        ("clock", "using Clock = std::chrono::system_clock;"),
        ("clock", "clock_gettime(CLOCK_MONOTONIC, &t);"),
        ("random", "std::random_device seed;"),
        ("sleep", "std::this_thread::sleep_for(1ms);"),
        ("sleep", "sleep(1);"),
        ("thread", "std::jthread t;"),
        ("thread", "pthread_create(&t, 0, f, 0);"),
        ("wait", "std::condition_variable c;"),
        ("wait", "std::this_thread::yield();"),
        ("exit", "exit(1);"),
        ("exit", "std::abort();"),
        ("exit", "if (x) ::abort();"),
        ("print", 'printf("x");'),
        ("print", "std::cerr << 1;"),
        ("new", "auto* p = new T();"),
        ("new", "auto* p = new T();  // tidy: allow(new)"),
        ("new", "auto* p = new T();  // tidy: allow(exit) wrong rule"),
        ("new", "delete p;"),
    ]
] + [
    ("sleep in a test", tree("src/base/b_test.cc", "usleep(1);\n"), "(sleep)"),
    ("sleep in tests", tree("tests/b.cc", "std::this_thread::sleep_until(t);\n"), "(sleep)"),
    ("clock in a face", tree("faces/cli/x.cc", "system_clock::now();\n"), "(clock)"),
    ("print in src", tree("src/dtype/x.cc", 'std::puts("x");\n'), "(print)"),
    ("long file", tree("src/mc2/x.cc", "int x;\n" * 600), "split it"),
    ("long line", tree("src/mc2/x.cc", "x" * 101 + "\n"), "101 columns"),
    ("to do", tree("src/mc2/x.cc", "// TODO(now): finish\n"), "must be done"),
    ("no licence", {"cmake/x.cmake": "set(x 1)\n"}, "SPDX"),
    ("no licence in a script", {"tools/x": "#!/bin/sh\n"}, "SPDX"),
    ("blob", {"docs/x.png": b"\x89\0"}, "binary"),
    ("huge", {"docs/x.md": "x" * (FILE_BYTES_MAX + 1)}, "bytes"),
    ("not built", {"src/mc2/y.cc": TAG}, "in no list of"),
    ("only in a comment", {**tree("src/mc2/m.cc", ""), "src/mc2/y.cc": TAG,
                           "src/mc2/CMakeLists.txt": HASH_TAG + "m.cc # y.cc\n"}, "in no list of"),
    ("header not verified", {"src/mc2/y.h": TAG}, "in no list HEADERS"),
    ("own header late", {"src/mc2/m.h": TAG, **tree("src/mc2/m.cc", "#include <a>\n")}, "first"),
    ("no row", {"src/base/codes.h": TAG + "enum class Code { kA, kB, kC };\n"}, "kC has no row"),
    ("same id", {"src/base/codes.cc": TAG + '#include "base/codes.h"\nCodeInfo{kA, "CR-A01"}'
                 'CodeInfo{kB, "CR-A01"}\n'}, "used twice"),
    ("not documented", {"docs/errors.md": "CR-A01 CR-A020\n"}, "not explained"),
]


def main():
    if "--self-test" in sys.argv[1:]:
        return sources.self_test("tidy", CASES, check, GOOD)
    return sources.report("tidy", check(sources.repository()))


if __name__ == "__main__":
    sys.exit(main())
