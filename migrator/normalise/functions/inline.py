"""Puts the body of a function in the place of a call of it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.analyse.statements.names import reads, thrown_away
from migrator.normalise.draft.arguments import defaults, given, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import outer_names
from migrator.normalise.draft.local_names import binds_locally, first_reads, is_dotted, names_in
from migrator.normalise.draft.returns import check_structure, has_return, own_returns, terminates
from migrator.resolve.module import Module
from migrator.resolve.parsing import expression_tree
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import (
    Insert,
    Remove,
    Replace,
    Statement,
    code,
    commented,
    expr,
    in_its_line,
    source,
    statements,
    unspaced,
    with_body,
)
from migrator.vocabulary.unsupported import Unsupported

if TYPE_CHECKING:
    import libcst as cst

_NOISE = re.compile(r"^_*(build|create|make|get|construct|define|add|apply|compute|model)_+(?=[a-z])|_(fn|func)$")
_TRACELESS = (ast.Name, ast.Constant)


class Inliner:
    """One call of one function. `changes` raises Unsupported where the body cannot stand in the call's place.

    `skip` is the number of parameters that the call does not give (``self``): `receiver` stands for them.
    """

    def __init__(self, drafts: Drafts, module: Module, call: ast.Call, definition: Definition, skip: int = 0) -> None:
        assert isinstance(definition.node, ast.FunctionDef)
        self.drafts = drafts
        self.module = module
        self.call = call
        self.home = definition.module
        self.function = definition.node
        self.skip = skip
        self.statement = module.statement(call)
        self.caller = module.nearest(call, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        body = self.function.body
        self.body = body[1:] if ast.get_docstring(self.function, clean=False) is not None else body
        self.tail = isinstance(self.statement, ast.Return) and self.statement.value is call
        self.text: dict[str, str] = {}
        """What stands for a name of the function."""
        self.entering: dict[ast.AST, str] = {}
        """What stands for a parameter where the function first gives it another value."""
        self.extra: list[rewrite.Change] = []
        """Imports of names that the body reads."""
        self.receiver = ""
        """What the first parameter of a method stands for."""

    def changes(self) -> list[Change]:
        """The edits that put the body into the caller."""
        self._check()
        arguments = given(self.function, self.call, self.skip)
        for name in parameters(self.function)[: self.skip]:
            self.text[name] = self.receiver
        returns = own_returns(self.function)
        single = len(self.body) == 1 and len(returns) == 1 and self.body[0] is returns[0]
        single = single and returns[0].value is not None and not self.tail
        names = outer_names(self.drafts, self.module, self.call, self.home, self.function)
        self.extra = names.changes
        self.text.update(names.texts)
        if single and self._fits_into(returns[0].value, arguments):
            value = returns[0].value
            assert value is not None
            return self._every(Replace(self.call, self._expression(value)))
        self._check_place()
        target = self._target()
        return self._every(*self._placed(self._lines(arguments, target), target))

    def _every(self, *changes: rewrite.Change) -> list[Change]:
        return Change.every(((self.module, change) for change in (*self.extra, *changes)), [self.home])

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        method = isinstance(self.home.parent(self.function), ast.ClassDef)
        if self.function.decorator_list and not method:
            raise Unsupported("a decorated function is not followed", self.function)
        if self.caller is None or not isinstance(self.caller, ast.FunctionDef):
            raise Unsupported("the call stands outside of a function", self.call)
        if self.caller is self.function or self.module.is_inside(self.call, self.function):
            raise Unsupported("a function that calls itself is not followed", self.call)
        for node in walk(self.function):
            if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)):
                raise Unsupported("a generator, or a function that changes names from outside, is not followed", node)
        if not self.tail:
            check_structure(self.body)
            silent = isinstance(self.statement, ast.Expr) and self.statement.value is self.call
            silent = silent and all(found.value is None for found in own_returns(self.function))
            if has_return(self.body) and not terminates(self.body) and not silent:
                raise Unsupported("a function that returns on some ways only is not followed", self.function)
        elif not terminates(self.body):
            raise Unsupported("a function that returns on some ways only is not followed", self.function)

    def _check_place(self) -> None:
        """A nested call can be moved before its statement if it runs exactly once there."""
        node: ast.AST = self.call
        while node is not self.statement:
            parent = self.module.parent(node)
            conditional = isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension))
            conditional = conditional or isinstance(parent, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
            if conditional or parent is None:
                raise Unsupported("the call may run any number of times", self.call)
            node = parent
        if not isinstance(self.statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)):
            raise Unsupported("the call stands in the head of a compound statement", self.call)
        if self.module.indent(self.statement) is None:
            raise Unsupported("several statements stand on one line", self.statement)

    # -- names --------------------------------------------------------------------------------------------------------

    def _own_names(self) -> set[str]:
        """Parameters and local names of the function."""
        return set(parameters(self.function)).union(*(binds_locally(s) for s in self.body))

    def _counts(self, name: str) -> int:
        return sum(
            1
            for statement in self.body
            for n in walk(statement)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        )

    def _rebound(self) -> set[str]:
        return set().union(*(binds_locally(statement) for statement in self.body))

    def _in_strings(self) -> set[str]:
        """Names that f-strings read: their text has no reliable place."""
        return {
            n.id
            for statement in self.body
            for part in walk(statement)
            if isinstance(part, ast.JoinedStr)
            for n in walk(part)
            if isinstance(n, ast.Name)
        }

    def _value(self, name: str, arguments: dict[str, ast.expr]) -> tuple[str, ast.expr]:
        """Text and node of what a parameter gets."""
        if name in arguments:
            return self.module.segment(arguments[name]), arguments[name]
        node = defaults(self.function)[name]
        if not isinstance(node, ast.Constant) and reads(node):
            free = reads(node)
            same = all(self.text.get(n, n) == n for n in free) and free <= set(self.text)
            if not same:
                raise Unsupported(f"the default of `{name}` is not a constant", node)
        return self.home.segment(node), node

    def _fits_into(self, value: ast.expr | None, arguments: dict[str, ast.expr]) -> bool:
        """Whether the one returned expression can take the place of the call, and the parameters' texts for that."""
        frozen = self._in_strings()
        for name in parameters(self.function)[self.skip :]:
            text, node = self._value(name, arguments)
            plain = isinstance(node, _TRACELESS) or is_dotted(node)
            if not plain and self._counts(name) > 1:
                return False
            if (name in frozen and text != name) or (self._hidden_in(value, name) and text != name):
                return False
            self.text[name] = text
        return "\n" not in "".join(self.text.values())

    @staticmethod
    def _hidden_in(value: ast.expr | None, name: str) -> bool:
        """Whether a lambda or a comprehension of the expression reads the name: it may run later, or often."""
        inner = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        parts = [n for n in walk(value) if isinstance(n, inner)] if value is not None else []
        return any(isinstance(n, ast.Name) and n.id == name for part in parts for n in walk(part))

    def _target(self) -> str | None:
        """The name that the result gets: that of the assignment, or a new one for a nested call."""
        statement = self.statement
        if self.tail or (isinstance(statement, ast.Expr) and statement.value is self.call):
            return None
        if isinstance(statement, ast.Assign) and statement.value is self.call and len(statement.targets) == 1:
            return self.module.segment(statement.targets[0])
        parent = self.module.parent(self.call)
        wanted = parent.arg if isinstance(parent, ast.keyword) and parent.arg else None
        returned = {r.value.id for r in own_returns(self.function) if isinstance(r.value, ast.Name)}
        if wanted is None and len(returned) == 1:
            wanted = returned.pop()
        wanted = wanted or _NOISE.sub("", self.function.name).strip("_") or "result"
        return self._free(wanted, self._callers_names())

    def _callers_names(self) -> set[str]:
        """Names that the caller binds or reads, without the own names of functions in it."""
        caller = self.caller
        assert isinstance(caller, ast.FunctionDef)
        inside = {id(node) for node in walk(caller)}
        found = set(self.module.scope(caller.body[0]).bindings) | set(parameters(caller))
        for node, scope in self.module.analysis.loads:
            holder = scope.lookup(node.id) if id(node) in inside else scope
            if holder is None or holder.node is caller or (id(node) in inside and id(holder.node) not in inside):
                found.add(node.id)
        return found

    def _free(self, name: str, taken: set[str]) -> str:
        if name not in taken:
            return name
        stem = _NOISE.sub("", self.function.name).strip("_")
        wanted = f"{stem}_{name}" if stem and stem != name else f"{name}_2"
        number = 2
        while wanted in taken:
            number += 1
            wanted = f"{name}_{number}"
        return wanted

    def _bind(self, arguments: dict[str, ast.expr], target: str | None) -> list[Statement]:
        """Decides what stands for each own name; gives the assignments of parameters."""
        rebound, frozen = self._rebound(), self._in_strings()
        kept: set[str] = set()
        first: dict[str, tuple[str, ast.expr]] = {}
        entering: dict[str, list[ast.Name]] = {}
        for name in parameters(self.function)[self.skip :]:
            text, node = self._value(name, arguments)
            plain = isinstance(node, _TRACELESS) or is_dotted(node)
            if plain and name not in rebound and (name not in frozen or text == name) and "\n" not in text:
                self.text[name] = text
                kept |= reads(node)
            else:
                first[name] = text, node
                if plain and "\n" not in text and name not in frozen:
                    entering[name] = first_reads(self.body, name)
                    kept |= reads(node) if entering[name] else set()
        caller = self._callers_names()
        targets = names_in(target)
        local = (rebound | set(first)) - set(self.text)
        outside = set(self.text.values()) | kept
        after = caller if not self.tail else set()
        results = self._result_names(target)
        taken = (after | outside) - thrown_away(self.function, self.caller)
        captured = self._captured()  # these keep their values when the target gets its own
        for name in sorted(local):
            wanted = results.get(name, name)
            allowed = wanted not in taken or (wanted in targets and wanted not in outside and name not in captured)
            same = name in first and isinstance(first[name][1], ast.Name) and first[name][0] == name
            if same and name not in rebound:
                allowed = True
            new = wanted if allowed else self._free(wanted, taken | local | caller)
            if new != name and (name in frozen or self._is_fixed(name)):
                raise Unsupported(f"`{name}` would have to get another name", self.function)
            self.text[name] = new
            taken = taken | {new}
            if new != name and name not in results:
                self.drafts.rename(new, name)
        lines: list[Statement] = []
        done: set[str] = set()
        for name, (text, node) in first.items():
            if done & reads(node):
                raise Unsupported("the arguments read names that the function assigns", self.call)
            self.entering.update(dict.fromkeys(entering.get(name, []), text))
            if self.text[name] != text and not entering.get(name):
                file = (self.module if name in arguments else self.home).cst
                lines += assigned(self.text[name], file.expression(node))
                done.add(self.text[name])
        return lines

    def _result_names(self, target: str | None) -> dict[str, str]:
        """Own names that may take the name of what their value is assigned to."""
        returned = [r.value for r in own_returns(self.function)]
        if target is None or len(returned) != 1 or returned[0] is None:
            return {}
        value = returned[0]
        wanted = [t.strip() for t in target.strip("()[]").split(",")]
        got = value.elts if isinstance(value, ast.Tuple) else [value]
        if len(got) != len(wanted) or not all(w.isidentifier() for w in wanted):
            return {}
        pairs = {g.id: w for g, w in zip(got, wanted) if isinstance(g, ast.Name) and g.id in self._rebound()}
        own = self._own_names()
        return {g: w for g, w in pairs.items() if g == w or (w not in own and not self._is_fixed(g))}

    def _captured(self) -> set[str]:
        """Names that functions inside of the function read when they run."""
        inner = [n for s in self.body for n in walk(s) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
        return {n.id for function in inner for n in walk(function) if isinstance(n, ast.Name)}

    def _is_fixed(self, name: str) -> bool:
        """Whether the name is bound by something else than a plain name, so that it cannot be written differently."""
        for statement in self.body:
            for node in walk(statement):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                    return True
                if isinstance(node, ast.ExceptHandler) and node.name == name:
                    return True
                if isinstance(node, ast.alias) and (node.asname or node.name.split(".")[0]) == name:
                    return True
        return False

    # -- code ---------------------------------------------------------------------------------------------------------

    def _instead(self, node: ast.AST) -> cst.BaseExpression | None:
        if not isinstance(node, ast.Name):
            return None
        holder = self.home.scope(node).lookup(node.id)
        if holder is not None and holder.kind == "comprehension":
            return None
        if holder is not None and holder.node is not self.function and self.home.is_inside(holder.node, self.function):
            return None
        text = self.entering.get(node, self.text.get(node.id))
        return None if text is None or text == node.id else code(text)

    def _expression(self, node: ast.expr) -> cst.BaseExpression:
        return self.home.cst.substituted(node, self._instead)

    def _lines(self, arguments: dict[str, ast.expr], target: str | None) -> list[Statement]:
        """The statements that take the place of the call."""
        return [*self._bind(arguments, target), *self._body(self.body, target)]

    def _body(self, nodes: list[ast.stmt], target: str | None) -> list[Statement]:
        """The statements of a block, with assignments for its returns."""
        found: list[Statement] = []
        for node, statement in zip(nodes, self.home.cst.statements(nodes, self._instead, apart=True)):
            if self.tail or not has_return([node]):
                found.append(statement)
            elif isinstance(node, ast.Return):
                found += in_its_line(statement, self._assigned(node, target))
            elif isinstance(node, ast.With):
                found.append(with_body(statement, self._body(node.body, target)))
            else:
                assert isinstance(node, ast.If)
                return [*found, self._parted(node, statement, nodes[nodes.index(node) + 1 :], target)]
        return found

    def _parted(self, node: ast.If, statement: Statement, rest: list[ast.stmt], target: str | None) -> Statement:
        """A condition some ways of which return; what follows it comes into the other one."""
        body, orelse = node.body, [*node.orelse, *rest]
        if not terminates(node.body):
            body, orelse = [*node.body, *rest], node.orelse
        done, inner = self._body(body, target), self._body(orelse, target)
        if done:
            return with_body(statement, done, inner)
        if not inner:
            return statements("pass")[0]
        # It returned what the target holds already.
        (inverted,) = statements("if {test}:\n    {body}", test=self._inverted(node.test), body=inner)
        return inverted.with_changes(leading_lines=statement.leading_lines)

    def _inverted(self, test: ast.expr) -> cst.BaseExpression:
        """The opposite of a condition."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._expression(test.operand)
        return expr("not {test}", test=self._expression(test))

    def _assigned(self, node: ast.Return, target: str | None) -> list[Statement]:
        """What takes the place of a return."""
        if target is None or node.value is None:
            if node.value is not None and not (isinstance(node.value, ast.Constant) or is_dotted(node.value)):
                return statements("{value}", value=self._expression(node.value))
            return statements("{target} = None", target=code(target)) if target is not None else []
        wanted = [t.strip() for t in target.strip("()[]").split(",")]
        if isinstance(node.value, ast.Tuple) and len(wanted) == len(node.value.elts):
            values = [self._expression(e) for e in node.value.elts]
            texts = [source(value) for value in values]
            later = [reads(expression_tree(text)) for text in texts]
            triples = [(w, v, r) for w, v, r, t in zip(wanted, values, later, texts) if w != t]
            crossing = any(w in r for i, (w, _, _) in enumerate(triples) for _, _, r in triples[i + 1 :])
            if not crossing and "\n" not in "".join(texts):
                return [line for name, value, _ in triples for line in assigned(name, value)]
        value = self._expression(node.value)
        return assigned(target, value) if source(value) != target else []

    def _placed(self, new: list[Statement], target: str | None) -> list[rewrite.Change]:
        """The statements in the place of that of the call, or before it if the call is a part of it."""
        statement, new = self.statement, unspaced(new)
        whole = getattr(statement, "value", None) is self.call
        whole = whole and isinstance(statement, (ast.Return, ast.Expr, ast.Assign))
        whole = whole and len(getattr(statement, "targets", [None])) == 1
        if whole and not new:
            return [Remove(statement)]
        if whole:
            return [Replace(statement, commented(self.module.cst.statement(statement), new))]
        assert target is not None
        return [Insert(new, before=statement), Replace(self.call, code(target))]


def assigned(name: str, value: cst.BaseExpression) -> list[Statement]:
    """``name = value``."""
    return statements("{name} = {value}", name=code(name), value=value)
