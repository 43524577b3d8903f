# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors
"""The table, and the same as JSON."""

from cells import name_of_size
from figures import goal_ratio, meets_goal

MARKS = {"absent": "-", "failed": "FAILED", "wrong": "WRONG"}


def micros(seconds):
    """Three digits: "0.14", "12.3", "148000"."""
    value = seconds * 1e6
    if value >= 1000:
        digits = len(str(int(value)))
        return str(int(round(value, 3 - digits)))
    return f"{value:.3g}" if value >= 1 else f"{value:.2f}"


def shown(figure):
    if figure.seconds is None:
        return MARKS[figure.remark]
    text = micros(figure.seconds) + ("~" if figure.other_state else "")
    return f"{text} {MARKS[figure.remark]}" if figure.remark else text


def ratio(a, b):
    return f"{a / b:.2f}" if a and b else "-"


def row(comparison, names):
    """Texts of one line: size, state, a time for each setting, and for ours the ratios."""
    best, limit = comparison.best_peer, comparison.limit
    texts = [name_of_size(comparison.cell.size), comparison.state]
    for name in names:
        figure = comparison.figure(name)
        texts.append(shown(figure) if figure else "")
    texts.append(micros(limit) if limit else "-")
    for name in names:
        figure = comparison.figure(name)
        if figure is None or not figure.setting.ours:
            continue
        seconds = figure.seconds if figure.counts else None
        mark = "" if meets_goal(comparison, figure) else "!"
        texts.append(ratio(seconds, best.seconds if best else None) + mark)
        texts.append(ratio(seconds, limit))
    return texts


def head(settings):
    ours = [s.name for s in settings if s.ours]
    texts = ["size", "state"] + [s.name for s in settings] + ["limit"]
    for name in ours:
        short = name.removeprefix("commrig-")
        texts += [f"{short}/best", f"{short}/limit"]
    return texts


def align(rows):
    widths = [max(len(texts[i]) for texts in rows) for i in range(len(rows[0]))]
    return ["  ".join(text.rjust(width) for text, width in zip(texts, widths)).rstrip()
            for texts in rows]


def block(comparisons, settings):
    """The lines of one operation, one number of ranks, one link."""
    first = comparisons[0]
    there = [s for s in settings if s.link == first.link and first.figure(s.name)]
    names = [s.name for s in there]
    title = f"{first.cell.title}, {first.cell.ranks} ranks, {first.link}: microseconds"
    return [title] + align([head(there)] + [row(c, names) for c in comparisons])


def foot(comparisons, failures):
    """How many goals are met, and what went wrong."""
    lines = []
    for name in sorted({f.setting.name for c in comparisons for f in c.figures if f.setting.ours}):
        pairs = [(c, c.figure(name)) for c in comparisons if c.figure(name)]
        met = sum(meets_goal(c, f) for c, f in pairs)
        lines.append(f"{name}: {met} of {len(pairs)} cells meet their goal (\"!\" marks others)")
    lines += [f"FAILED: {failure}" for failure in failures]
    lines += [f"WRONG: {f.setting.name}, {c.cell}" for c in comparisons for f in c.figures
              if f.remark == "wrong"]
    return lines


def to_json(comparisons, records, machine):
    """Everything as plain values. `records` maps a cell to the Record of each setting's name."""

    def cell_json(c):
        by_name = records[c.cell]
        return {
            "operation": c.cell.operation, "dtype": c.cell.dtype, "bytes": c.cell.size,
            "ranks": c.cell.ranks, "link": c.link, "state": c.state, "limit_seconds": c.limit,
            "goal_ratio": goal_ratio(c.cell, c.link),
            "settings": [{
                "name": f.setting.name, "seconds": f.seconds, "low": f.low, "high": f.high,
                "other_state": f.other_state, "remark": f.remark,
                "meets_goal": meets_goal(c, f) if f.setting.ours else None,
                "failure": by_name[f.setting.name].failure,
                "samples": [{"state": s.state, "batch": s.batch, "wrong": s.wrong,
                             "seconds": list(s.seconds)} for s in by_name[f.setting.name].samples],
            } for f in c.figures],
        }

    return {"machine": machine, "cells": [cell_json(c) for c in comparisons]}
