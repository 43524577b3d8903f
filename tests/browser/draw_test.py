# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""Looks at drawn rank tables in a browser. Usage: draw_test.py PATH_OF_COMMRIG

A script inside the page measures what the browser has laid out; a screenshot shows that something
is to be seen.
"""

import html
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

PROGRAM = sys.argv.pop(1)
BROWSER = shutil.which("chromium")

# Boxes of each kind, of every text the smallest box of its group, and what reaches out of it.
MEASURE = """
<script>
const box = e => { const r = e.getBoundingClientRect();
                   return [r.left, r.top, r.right, r.bottom]; };
const inside = (a, b) =>
  a[0] >= b[0] - 1 && a[1] >= b[1] - 1 && a[2] <= b[2] + 1 && a[3] <= b[3] + 1;
const apart = (a, b) => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
const all = s => Array.from(document.querySelectorAll(s));
const out = {};
const page = box(document.querySelector("svg"));
out.width = page[2] - page[0];
out.height = page[3] - page[1];
for (const kind of ["pod", "server", "device", "folded"]) out[kind] = all("g." + kind).length;
out.outside = [];
for (const group of all("svg g")) {
  const own = box(group.querySelector("rect"));
  for (const e of group.querySelectorAll("text, rect")) {
    if (!inside(box(e), own)) out.outside.push(e.outerHTML);
  }
  if (!inside(own, page)) out.outside.push(group.querySelector("rect").outerHTML);
}
for (const e of all("svg > text")) if (!inside(box(e), page)) out.outside.push(e.outerHTML);
out.overlaps = 0;
for (const kind of ["rect.pod", "rect.server", "rect.device"]) {
  const boxes = all(kind).map(box);
  for (let i = 0; i < boxes.length; ++i)
    for (let j = 0; j < i; ++j) if (!apart(boxes[i], boxes[j])) ++out.overlaps;
}
out.font = Math.min(...all("svg text").map(e => parseFloat(getComputedStyle(e).fontSize)));
out.texts = all("svg text").map(e => e.textContent);
out.rows = all("table tr").length;
out.cut = 0;  // lines that end nowhere
for (const e of all("svg line")) if (!inside(box(e), page)) ++out.cut;
const result = document.createElement("pre");
result.id = "measured";
result.textContent = JSON.stringify(out);
document.body.appendChild(result);
</script>
"""


def colours(png):
    """The set of colours of an 8-bit RGB or RGBA picture."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour_type = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    size = {2: 3, 6: 4}[colour_type]
    raw = zlib.decompress(data)
    previous, found = bytearray(width * size), set()
    for row in range(height):
        start = row * (width * size + 1)
        filter_type, line = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
        for i in range(len(line)):
            left = line[i - size] if i >= size else 0
            corner = previous[i - size] if i >= size else 0
            up = previous[i]
            if filter_type == 1:
                line[i] = (line[i] + left) & 255
            elif filter_type == 2:
                line[i] = (line[i] + up) & 255
            elif filter_type == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            elif filter_type == 4:
                guess = left + up - corner
                distances = (abs(guess - left), abs(guess - up), abs(guess - corner))
                nearest = (left, up, corner)[distances.index(min(distances))]
                line[i] = (line[i] + nearest) & 255
        found.update(bytes(line[i:i + 3]) for i in range(0, len(line), size))
        previous = line
    return found


class DrawTest(unittest.TestCase):
    def setUp(self):
        self.assertIsNotNone(BROWSER, "chromium is missing: tools/install-deps browser")
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def browse(self, page, *options):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage",
                   f"--user-data-dir={self.folder / 'profile'}", *options, page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout

    def drawn(self, kind, *make):
        table = self.folder / "hccl.json"
        picture = self.folder / f"topo.{kind}"
        subprocess.run([PROGRAM, "ranktable", "make", *make, "-o", table], check=True)
        subprocess.run([PROGRAM, "ranktable", "draw", table, "-o", picture], check=True)
        return picture

    def measured(self, text):
        page = self.folder / "page.html"
        page.write_text(text, encoding="utf-8")
        dom = self.browse(page, "--dump-dom")
        found = re.search(r'<pre id="measured">(.*?)</pre>', dom, re.S)
        return json.loads(html.unescape(found.group(1)))

    def measured_svg(self, *make):
        svg = self.drawn("svg", *make).read_text(encoding="utf-8")
        found = self.measured(
            '<!doctype html><meta charset="utf-8"><body style="margin: 0">' + svg + MEASURE)
        self.assertEqual(found["outside"], [])
        self.assertEqual((found["overlaps"], found["cut"]), (0, 0))
        self.assertGreaterEqual(found["font"], 11)
        self.assertLess(found["width"], 2000)
        return found

    def test_small_clusters_are_drawn_whole(self):
        found = self.measured_svg("-n", "8")
        self.assertEqual((found["server"], found["device"], found["folded"]), (1, 8, 0))
        found = self.measured_svg("--version", "1.2", "-n", "64", "--devices", "16",
                                  "--super-pod-servers", "2", "--device-ip", "10.0.0.1")
        self.assertEqual((found["pod"], found["server"], found["device"], found["folded"]),
                         (2, 4, 64, 0))
        for rank in range(64):
            self.assertIn(str(rank), found["texts"])

    def test_large_clusters_are_folded_and_stay_readable(self):
        for version, ranks in (("1.0", "1024"), ("1.2", "384"), ("1.2", "16384"),
                               ("2.0", "16384")):
            with self.subTest(version=version, ranks=ranks):
                found = self.measured_svg("--version", version, "-n", ranks, "--devices", "16",
                                          "--super-pod-servers", "24", "--device-ip", "10.0.0.1")
                self.assertGreater(found["folded"], 0)
                self.assertLess(found["height"], 3000)
                self.assertIn(str(int(ranks) - 1), found["texts"])
                self.assertTrue(any("more servers" in text for text in found["texts"]))

    def test_long_names_stay_inside_their_boxes(self):
        for letter in ("w", "W", "i", "\u8282"):
            count = 64 // len(letter.encode())
            found = self.measured_svg("--host", letter * count + " 198.51.100.1",
                                      "--device-ip", "192.0.2.1")
            self.assertEqual(found["server"], 1)

    def test_a_page_lists_all_servers(self):
        text = self.drawn("html", "--version", "1.2", "-n", "16384", "--devices", "16",
                          "--super-pod-servers", "24", "--device-ip", "10.0.0.1").read_text()
        found = self.measured(text.replace("</body>", MEASURE + "</body>"))
        self.assertEqual(found["rows"], 1025)
        self.assertEqual(found["outside"], [])

    def test_something_is_to_be_seen(self):
        picture = self.folder / "shot.png"
        self.browse(self.drawn("svg", "-n", "8"), f"--screenshot={picture}",
                    "--window-size=400,300")
        seen = colours(picture.read_bytes())
        for colour in ("dbe8ff", "f4f6fa", "b35900"):  # devices, super pods, the network
            self.assertIn(bytes.fromhex(colour), seen)


if __name__ == "__main__":
    unittest.main()
