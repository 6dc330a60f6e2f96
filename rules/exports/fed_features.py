"""What a SavedModel is fed, as data: placeholders, and the features that are made of them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.resolve.module import Module

from ..estimator_calls.estimator_values import PREFIX
from .placeholders import Told

RECEIVER = PREFIX + "export.ServingInputReceiver"
OF_TENSOR = PREFIX + "export.TensorServingInputReceiver"
"""What hands on one tensor as it is: the other one makes a dict of it."""
RAW = PREFIX + "export.build_raw_serving_input_receiver_fn"
PARSING = PREFIX + "export.build_parsing_serving_input_receiver_fn"
NAMES = frozenset({RECEIVER, OF_TENSOR, RAW, PARSING})


@dataclass(frozen=True)
class Fed:
    """A placeholder that becomes a parameter."""

    statement: ast.Assign
    name: str
    key: str
    """The text of its name as an input."""
    told: Told


@dataclass(frozen=True)
class FedTogether:
    """A dict of placeholders that becomes one parameter."""

    statement: ast.Assign
    name: str
    fed: tuple[tuple[ast.Call, str], ...]
    """The placeholders, each with the text of its name as an input."""
    added: tuple[tuple[ast.stmt, ast.Call, str], ...] = ()
    """Those that statements add to the dict."""

    @property
    def every(self) -> list[tuple[ast.Call, str]]:
        """All placeholders, each with the text of its name."""
        return [*self.fed, *((call, name) for _, call, name in self.added)]


@dataclass(frozen=True)
class Computed:
    """A function that computes features of placeholders."""

    function: ast.FunctionDef
    parameters: tuple[Fed | FedTogether, ...]


@dataclass(frozen=True)
class Inner:
    """A function in the one that makes placeholders, which computes features of their dict."""

    function: ast.FunctionDef
    tensors: str
    """The name of the dict."""


@dataclass(frozen=True)
class Receiver:
    """What is fed."""

    given: ast.expr
    """The argument of the method that exports: a function, or the call that makes it."""
    names: tuple[ast.expr, ...]
    """References to names of the library that go."""
    parsed: ast.expr | None = None
    """The features of serialized examples."""
    features: ast.expr | None = None
    """Features that are fed as they are, in the file that exports: a dict of placeholders, or the name of one."""
    statement: ast.Assign | None = None
    """What holds the function that is made of either, or their dict by another name, and goes."""
    kept: bool = False
    """Whether it stays for several exports, as what holds the features of serialized examples."""
    returned: tuple[ast.expr, ast.expr] | None = None
    """What a function of the program returns, and the features in it."""
    fed: tuple[tuple[ast.Call, str], ...] = ()
    """The placeholders of that function, or of `features`, each with the text of its name as an input."""
    computed: Computed | None = None
    """How a function of the program computes the features, if it does not return what it is fed."""
    inner: Inner | None = None
    """What computes the features in that function, whose names it may read."""
    changed: ast.Call | None = None
    """The call of a function that changes the dict of placeholders, and returns it: what is fed is what it holds then."""
    function: ast.FunctionDef | None = None
    """The function of the program that says it."""
    maker: ast.FunctionDef | None = None
    """The function that makes that one each time it is called."""
    text: bool = False
    """Whether one string is fed, so that heads serve what classifies, too."""
    maybe_no_dict: bool = False
    """Whether its features are not seen to be a dict."""
    choices: tuple[tuple[Module, Receiver], ...] = ()
    """What functions of a table say, of which an option chooses one, or one of another file, with their files."""

    @property
    def placeholders(self) -> list[ast.Call]:
        """The calls that made what is fed."""
        fed = list(self.fed)
        alone: list[ast.Call] = []
        for each in self.computed.parameters if self.computed is not None else ():
            if isinstance(each, FedTogether):
                fed += each.every
            else:
                alone += [each.statement.value] if isinstance(each.statement.value, ast.Call) else []
        return [*(call for call, _ in fed), *alone]
