"""Review: each change is shown and accepted or declined before anything is written.

What belongs together is asked about together: all changes of a program and of its files are one question, and so is a change with
those that build on it. Programs that only share the file of their helpers are questions of their own.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from migrator.cli.editing import Edited, EditError, edit_all
from migrator.discover.sources import decode
from migrator.engine.fixes import splice
from migrator.engine.runner import Result
from migrator.report.diffs import readable_diff
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Location, Outcome
from migrator.write import journal

HELP = """\
y - make this change
n - leave it
a - make it and all others in this file
A - make it and all others of this rule
d - leave it and all others in this file
e - edit the file with the change in it, in $EDITOR, and make what you save
s - split: ask about the changes of a program one by one
v - view all of the change, in $PAGER
b - back to the change before
q - quit; nothing is written, and the next review goes on here
? - this help"""


@dataclass
class Answers:
    """What was answered so far, by the `key` of each change."""

    chosen: dict[str, bool] = field(default_factory=dict)
    """Whether it is to be made."""
    split: set[str] = field(default_factory=set)
    """Those that are asked about part by part."""
    edits: dict[str, Edited] = field(default_factory=dict)
    """What the user made of a change."""

    def edits_of(self, path: str) -> list[tuple[str, str]]:
        """Pairs of proposed and wanted text of one file."""
        return [edited[path] for key, edited in self.edits.items() if path in edited and self.chosen.get(key)]


@dataclass(frozen=True)
class Item:
    """One question."""

    diagnostics: tuple[Diagnostic, ...]
    diff: tuple[str, ...]
    files: tuple[str, ...] = ()
    """Of a program: the files that change together."""
    outcomes: tuple[Outcome, ...] = ()
    """Those files with this change alone."""

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
    for group in result.programs:
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
            found.append(Item(tuple(applied), diff + new, group, tuple(members)))
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
        alone = replace(outcome, after=after)
        yield Item(tuple(diagnostics), tuple(readable_diff(alone)), outcomes=(alone,))


def parts(item: Item) -> list[Item]:
    """The changes that a program's question holds, each with those that build on it; none if it is only one."""
    originals = {outcome.path: decode(outcome.path, outcome.before) for outcome in item.outcomes if outcome.before}
    grouped: list[list[Diagnostic]] = []
    for diagnostic in item.diagnostics:
        alone = diagnostic.fix is not None and diagnostic.fix.paths and diagnostic.fix.paths <= set(originals)
        if alone or not grouped:
            grouped.append([diagnostic])
        else:
            grouped[0].append(diagnostic)
    found: list[Item] = []
    for diagnostics in grouped if len(grouped) > 1 else ():
        edits = {edit for each in diagnostics if each.fix for edit in each.fix.edits}
        outcomes: list[Outcome] = []
        for path in sorted({edit.path for edit in edits}):
            source = originals[path]
            try:
                after = source.with_data(splice(source.data, sorted(e for e in edits if e.path == path))).raw
            except ValueError:  # a change builds on another one: they cannot be told apart
                return []
            outcomes.append(Outcome(path, "changed", source.raw, after))
        diff = tuple(line for outcome in outcomes for line in readable_diff(outcome))
        found.append(Item(tuple(diagnostics), diff, outcomes=tuple(outcomes)))
    return found


def expanded(questions: Iterable[Item], answers: Answers) -> list[Item]:
    """The questions, with the parts of those that were split in their place."""
    return [part for item in questions for part in (parts(item) if item.key in answers.split else [item])]


def ask(
    questions: Sequence[Item],
    answers: Answers,
    show: Callable[[Item, int, int], None],
    read: Callable[[], str],
    say: Callable[[str], None],
    view: Callable[[Item], None],
) -> bool:
    """Ask about what has no answer yet, and fill `answers`. Returns False where the user quits.

    Args:
      questions: all items.
      answers: those of an earlier review, extended in place.
      show: prints an item, given its number from 0 and how many there are.
      read: reads an answer; raises EOFError at the end of the input.
      say: prints why something could not be done.
      view: shows all of an item.
    """
    path: list[list[str]] = []  # keys answered by each step, for going back
    shown = expanded(questions, answers)
    while True:
        number = next((n for n, item in enumerate(shown) if item.key not in answers.chosen), None)
        if number is None:
            return True
        item = shown[number]
        show(item, number, len(shown))
        try:
            letter = read().strip()
        except EOFError:
            return False
        if letter == "q":
            return False
        if letter == "b" and path:
            for key in path.pop():
                answers.chosen.pop(key, None)
                answers.edits.pop(key, None)
        elif letter == "v":
            view(item)
        elif letter == "s":
            if item.files and parts(item):
                answers.split.add(item.key)
                shown = expanded(questions, answers)
            else:
                say("This is one change: it cannot be split.")
        else:
            try:
                chosen = _chosen(letter, item, [other for other in shown if other.key not in answers.chosen])
                if letter == "e":
                    answers.edits[item.key] = edit_all(item.outcomes)
            except EditError as error:
                say(str(error))
                continue
            answers.chosen.update(chosen)
            path.append(list(chosen))


def _chosen(letter: str, item: Item, open_items: Iterable[Item]) -> dict[str, bool]:
    path, code = item.first.location.path, item.first.code
    if letter in ("y", "n", "e"):
        return {item.key: letter != "n"}
    if letter in ("a", "d"):
        return {other.key: letter == "a" for other in open_items if other.first.location.path == path}
    if letter == "A":
        return {other.key: True for other in open_items if other.first.code == code}
    return {}


def declined(questions: Iterable[Item], answers: Answers) -> tuple[frozenset[str], frozenset[tuple[str, Location]]]:
    """Files not to be touched, and changes not to be made, by code and place in the original."""
    asked = expanded(questions, answers)
    refused = [item for item in asked if not answers.chosen.get(item.key)]
    wanted = {path for item in asked if answers.chosen.get(item.key) for path in item.files}
    files = frozenset(path for item in refused for path in item.files) - wanted  # programs may share a helper file
    places = frozenset((found.code, found.location) for item in refused for found in item.diagnostics)
    return files, places


# -- between reviews --------------------------------------------------------------------------------------------------


def _place() -> Path:
    return journal.place().with_suffix(".review.json")


def remembered(questions: Iterable[Item]) -> Answers:
    """The answers of a review from this folder that was quit, as far as the same is asked."""
    try:
        found = json.loads(_place().read_text("utf-8"))
        answers = Answers(dict(found["chosen"]), set(found["split"]))
        edits = {key: {path: (old, new) for path, (old, new) in each.items()} for key, each in found["edits"].items()}
    except (journal.JournalError, OSError, ValueError, TypeError, LookupError, AttributeError):
        return Answers()
    questions = list(questions)
    answers.split &= {item.key for item in questions}
    keys = {item.key for item in expanded(questions, answers)}
    answers.chosen = {key: bool(yes) for key, yes in answers.chosen.items() if key in keys}
    answers.edits = {key: edited for key, edited in edits.items() if key in keys}
    return answers


def remember(answers: Answers) -> bool:
    """Keep answers for the next review; none forgets them. Only the user may read them, as edits hold code.

    Returns False where there is no place to keep them.
    """
    try:
        target = _place()
        if not answers.chosen and not answers.split:
            target.unlink(missing_ok=True)
            return True
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = target.with_suffix(".tmp")
        content = {"chosen": answers.chosen, "split": sorted(answers.split), "edits": answers.edits}
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(content, file)
        os.replace(temporary, target)
    except (journal.JournalError, OSError):
        return False
    return True
