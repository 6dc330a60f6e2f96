"""Review: each change is shown and accepted or declined before anything is written.

What belongs together is asked about together: all changes of a program and of its files are one question, and so is a change with
those that build on it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from migrator import journal
from migrator.diagnostics import Diagnostic, Edit, Location, Outcome
from migrator.fixes import splice
from migrator.reporting.diffs import readable_diff
from migrator.runner import Result
from migrator.sources import decode

HELP = """\
y - make this change
n - leave it
a - make it and all others in this file
A - make it and all others of this rule
d - leave it and all others in this file
b - back to the change before
q - quit; nothing is written, and the next review goes on here
? - this help"""

Answers = dict[str, bool]
"""Whether each change, by its `key`, is to be made."""


@dataclass(frozen=True)
class Item:
    """One question."""

    diagnostics: tuple[Diagnostic, ...]
    diff: tuple[str, ...]
    files: tuple[str, ...] = ()
    """Of a program: the files that change together."""

    @property
    def first(self) -> Diagnostic:
        """What the question is about."""
        return self.diagnostics[0]

    @property
    def key(self) -> str:
        """The same in another run, as long as the change is the same."""
        text = "\0".join([self.first.code, str(self.first.location), *self.diff])
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def items(result: Result) -> list[Item]:
    """The questions about a run, in the order of files and lines."""
    outcomes = {outcome.path: outcome for outcome in result.outcomes}
    found: list[Item] = []
    for group in result.groups:
        members = [outcomes[path] for path in group]
        applied = [item for outcome in members for item in outcome.applied]
        plain = all(outcome.status == "changed" for outcome in members) and not any(_program(item) for item in applied)
        if plain:
            found += [item for outcome in members for item in _single(outcome)]
        elif applied:
            applied.sort(key=lambda item: (not _program(item), item.location))
            diff = tuple(line for outcome in members if outcome.status == "changed" for line in readable_diff(outcome))
            new = tuple(
                f"new file {o.path}: {o.after.count(bytes([10]))} lines\n" for o in members if o.status == "created"
            )
            found.append(Item(tuple(applied), diff + new, group))
    return sorted(found, key=lambda item: item.first.location)


def _program(item: Diagnostic) -> bool:
    return item.fix is not None and (bool(item.fix.new_files) or len(item.fix.paths) > 1)


def _single(outcome: Outcome) -> Iterator[Item]:
    """One question for each change of a file; a change of text that another one made belongs to it."""
    source = decode(outcome.path, outcome.before)
    grouped: list[list[Diagnostic]] = []
    for item in sorted(outcome.applied, key=lambda item: item.location):
        if item.fix is not None and item.fix.edits or not grouped:
            grouped.append([item])
        else:
            grouped[-1].append(item)
    for diagnostics in grouped:
        edits: list[Edit] = sorted({edit for item in diagnostics if item.fix for edit in item.fix.edits})
        try:
            after = source.with_data(splice(source.data, edits)).raw
        except ValueError:  # they overlap: made in several rounds
            after = outcome.after
        yield Item(tuple(diagnostics), tuple(readable_diff(replace(outcome, after=after))))


def ask(
    questions: Sequence[Item], answers: Answers, show: Callable[[Item, int], None], read: Callable[[], str]
) -> bool:
    """Ask about what has no answer yet, and fill `answers`. Returns False where the user quits.

    Args:
      questions: all items.
      answers: those of an earlier review, extended in place.
      show: prints an item, given its number from 0.
      read: reads an answer; raises EOFError at the end of the input.
    """
    path: list[list[str]] = []  # keys answered by each step, for going back
    while True:
        number = next((n for n, item in enumerate(questions) if item.key not in answers), None)
        if number is None:
            return True
        item = questions[number]
        show(item, number)
        try:
            letter = read().strip()
        except EOFError:
            return False
        if letter == "q":
            return False
        if letter == "b" and path:
            for key in path.pop():
                del answers[key]
            continue
        chosen = _chosen(letter, item, [other for other in questions if other.key not in answers])
        if chosen is not None:
            answers.update(chosen)
            path.append(list(chosen))


def _chosen(letter: str, item: Item, open_items: Iterable[Item]) -> Answers | None:
    path, code = item.first.location.path, item.first.code
    if letter in ("y", "n"):
        return {item.key: letter == "y"}
    if letter in ("a", "d"):
        return {other.key: letter == "a" for other in open_items if other.first.location.path == path}
    if letter == "A":
        return {other.key: True for other in open_items if other.first.code == code}
    return None


def declined(
    questions: Iterable[Item], answers: Mapping[str, bool]
) -> tuple[frozenset[str], frozenset[tuple[str, Location]]]:
    """Files not to be touched, and changes not to be made, by code and place in the original."""
    refused = [item for item in questions if not answers.get(item.key)]
    files = frozenset(path for item in refused for path in item.files)
    places = frozenset((found.code, found.location) for item in refused for found in item.diagnostics)
    return files, places


# -- between reviews --------------------------------------------------------------------------------------------------


def _place() -> Path:
    return journal.place().with_suffix(".review.json")


def remembered() -> Answers:
    """The answers of a review from this folder that was quit."""
    try:
        found = json.loads(_place().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): bool(value) for key, value in found.items()} if isinstance(found, dict) else {}


def remember(answers: Answers) -> None:
    """Keep answers for the next review; none forgets them. They hold no code."""
    target = _place()
    if not answers:
        target.unlink(missing_ok=True)
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = target.with_suffix(".tmp")
    temporary.write_text(json.dumps(answers), "utf-8")
    os.replace(temporary, target)
