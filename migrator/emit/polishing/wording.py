"""Words about model_fns and their modes, beside code that has none any more."""

from __future__ import annotations

import io
import re
import tokenize

_MODES = r"(?:train(?:ing)?|eval(?:uation)?|predict(?:ion)?|infer(?:ence)?)"
_IN_MODES = re.compile(rf" *\((?:for )?(?:both )?(?:the )?{_MODES}(?:(?:,| and|, and| or|/) *{_MODES})* modes?\)", re.I)
"""``(for TRAIN mode)``, ``(for both TRAIN and EVAL modes)``."""
_OF_SPEC = re.compile(r"#+ *(?:provide|return|create|build|make|define)s? (?:an?|the) (?:estimator ?spec)\b.*", re.I)
"""A comment on what is not there any more."""
_FUNCTION = r"(?:(?:the|a|an|our|my|custom) )*`*(?:model[_ ](?:fn|function)|model_fn)`*(?: f\(x\))?"
_ESTIMATOR = r"`*(?:tf\.estimator\.)?(?:TPU)?Estimators?`*"
_OF_ESTIMATORS = rf"(?: (?:for|of|of type)(?: (?:the|a|an|our|custom))? {_ESTIMATOR})?"
_SAYS_NOTHING = re.compile(
    rf"\s*(?:(?:build|bulid|builds|define|defines) )?{_FUNCTION}{_OF_ESTIMATORS}\s*[.:]?\s*", re.I
)
"""``The `model_fn` for TPUEstimator.``"""
_FUNCTION_FOR = re.compile(rf"(\s*){_FUNCTION} (?:for|of) (?=\S)", re.I)
"""What stands before the subject: ``Model function for CNN.``"""
_SECTION = re.compile(r"([ \t]*)(?:Args|Arguments|Parameters|Params|Returns?)[ \t]*:[ \t]*")
_OLD = re.compile(r"\bmode\b|ModeKeys|EstimatorSpec|\blabels\b")
"""Parts of a section that documents a model_fn, not the constructor of a model."""
_DOCUMENTED = re.compile(
    r'(?P<head>\A\s*class [^\n]*:\n)(?P<indent>[ \t]+)(?P<text>[rRuU]?(?P<quote>"""|\'\'\').*?(?P=quote))[ \t]*\n\n?',
    re.DOTALL,
)
"""The head of a class with its docstring."""
_LITERAL = re.compile(r'([rRuU]?)("""|\'\'\'|"|\')(.*)\2', re.DOTALL)


def reworded(text: str) -> str:
    """A generated class and its factory, where comments and the docstring of the class speak of neither modes nor model_fns."""
    lines, gone = text.split("\n"), set[int]()
    if "#" not in text:
        return _with_docstring(text)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text.lstrip("\n")).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return text
    offset = len(text) - len(text.lstrip("\n"))
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, told = token.start[0] - 1 + offset, _IN_MODES.sub("", token.string)
            lines[row] = lines[row][: token.start[1]] + (told if told.strip("# ") else token.string)
            if _OF_SPEC.fullmatch(token.string) and not token.line[: token.start[1]].strip():
                gone.add(row)
    return _with_docstring("\n".join(line for row, line in enumerate(lines) if row not in gone))


def _with_docstring(text: str) -> str:
    """The class without what its docstring says of a model_fn."""
    found = _DOCUMENTED.match(text)
    literal = _LITERAL.fullmatch(found["text"]) if found else None
    if found is None or literal is None:
        return text
    told = documented(literal[3])
    if told == literal[3]:
        return text
    if not told.strip():
        return found["head"] + text[found.end() :]
    quote = literal[2]
    return f"{found['head']}{found['indent']}{literal[1]}{quote}{told}{quote}\n\n{text[found.end() :]}"


def documented(docstring: str) -> str:
    """The docstring of a model_fn as that of a model; empty where nothing is left."""
    first, *rest = docstring.split("\n")
    if _SAYS_NOTHING.fullmatch(first):
        first = ""
    else:
        subject = _FUNCTION_FOR.sub(r"\1", first, count=1) if _FUNCTION_FOR.match(first) else first
        first = subject[:1].upper() + subject[1:] if subject != first else first
    rest = _without_sections(rest)
    if "\n".join([first, *rest]) == docstring:
        return docstring
    if not first.strip():
        while rest and not rest[0].strip():
            rest.pop(0)
        first = rest.pop(0).strip() if rest else ""
    while len(rest) > 1 and not rest[-1].strip() and not rest[-2].strip():
        rest.pop(-2)
    if rest and not "".join(rest).strip():
        return first
    return "\n".join([first, *rest])


def _without_sections(lines: list[str]) -> list[str]:
    """Lines without sections on the arguments and the results of a model_fn."""
    kept: list[str] = []
    at = 0
    while at < len(lines):
        head = _SECTION.fullmatch(lines[at])
        if head is None:
            kept.append(lines[at])
            at += 1
            continue
        end = at + 1
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > len(head[1])):
            end += 1
        section = lines[at:end]
        if end == len(lines) and not lines[-1].strip():
            end, section = end - 1, section[:-1]
        if not _OLD.search("\n".join(section)):
            kept += section
        at = end
    return kept


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
