"""A product or a convolution with a weight and the sum with a bias, each made for this one place: what a layer is."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.statements.names import binds, reads
from migrator.analyse.variables.askednames import asked_alike
from migrator.analyse.variables.scopes import VARIABLE_SCOPE
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of, read_once
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, code, expr

from ..symbols.tensorflow_names import whole_name

_VARIABLE = "tensorflow.get_variable"
_FLOAT = "tensorflow.float32"
_PRODUCTS = frozenset({"tensorflow.matmul", "tensorflow.linalg.matmul"})
_CONVOLUTIONS = frozenset({"tensorflow.nn.conv2d"})
_SUMS = frozenset({"tensorflow.add", "tensorflow.math.add", "tensorflow.nn.bias_add"})
_BOTH = {"tensorflow.nn.xw_plus_b": "", "tensorflow.nn.relu_layer": ".nn.relu"}
"""Functions that multiply and add, and the activation behind."""
_ACTIVATIONS = frozenset(
    f"tensorflow.{name}"
    for name in "nn.elu nn.relu nn.relu6 nn.selu nn.sigmoid nn.softplus nn.softsign nn.tanh sigmoid tanh".split()
)
_WIDTHS_UNTOLD = ("from_generator", "py_func", "py_function", "numpy_function")
"""What gives tensors of whose widths nothing need be known before data flow, as a layer has to."""


_GLOROT = frozenset({"tensorflow.glorot_uniform_initializer", "tensorflow.contrib.layers.xavier_initializer"})
_ZEROS = frozenset({"tensorflow.zeros_initializer", "tensorflow.initializers.zeros"})


@dataclass(frozen=True)
class _Weight:
    """A variable that one place reads: its name, initializer and sizes, and the statement that makes it, if not that place."""

    name: ast.expr
    sizes: list[ast.expr]
    initializer: ast.expr | None
    made: ast.stmt | None


@dataclass(frozen=True)
class _Product:
    """``activation(x @ kernel + bias)``, perhaps without a bias, and the statement that multiplies, where that is another one."""

    node: ast.expr
    x: ast.expr
    kernel: ast.expr
    bias: ast.expr | None
    activation: str = ""
    before: ast.stmt | None = None
    settings: tuple[tuple[str, str], ...] | None = None
    """What else a convolution is told; a product is none."""

    @property
    def layer(self) -> str:
        """The function of `tf.layers` that does it."""
        return "dense" if self.settings is None else "conv2d"

    @property
    def rank(self) -> int:
        """How many dimensions the kernel has."""
        return 2 if self.settings is None else 4


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such product; none if there is no more. The layer is told what its variables were called.

    ```python
    import tensorflow as tf


    def network(x, width, units):
        w = tf.get_variable("w", [width, units])
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        return tf.nn.relu(tf.matmul(x, w) + b)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x, width, units):
        return tf.layers.dense(x, units, activation=tf.nn.relu, kernel_name="w", bias_name="b")
    ```
    """
    tf = whole_name(module)
    if tf is None or not module.may_name({"get_variable"}):
        return []
    for node in walk(function):
        product = _product(drafts, module, node) if isinstance(node, ast.expr) else None
        if product is None:
            continue
        kernel = _weight(module, product.kernel, product.rank)
        bias = _weight(module, product.bias, 1) if product.bias is not None else None
        whole = bias is not None or (product.bias is None and kernel is not None and _is_told(module, kernel.sizes[-2]))
        if kernel is not None and whole and _fits(drafts, module, product, kernel, bias):
            return _layer(drafts, module, tf, product, kernel, bias)
    return []


def _is_told(module: Module, size: ast.expr) -> bool:
    """Whether a size is that of a tensor, which is known when data flow: then `call` would have to make the weight."""
    held = [module.assignment(name) for name in walk(size) if isinstance(name, ast.Name)]
    parts = [size, *(made.value for made in held if made is not None)]
    asked = (node for part in parts for node in walk(part) if isinstance(node, ast.Attribute))
    return any(node.attr in ("shape", "get_shape") for node in asked)


def _product(drafts: Drafts, module: Module, node: ast.expr) -> _Product | None:
    """What a node adds to what product, if it does."""
    alone = _factors(drafts, module, node)
    if alone is not None:
        return _Product(node, alone[0], alone[1], None, settings=alone[2])
    two = _operands(drafts, module, node, ast.Add, _SUMS)
    if two is None:
        name = module.resolve(node.func) if isinstance(node, ast.Call) else None
        given = _arguments(drafts, node, 3) if name in _BOTH else None
        return None if given is None else _Product(node, given[0], given[1], given[2], _BOTH[name or ""])
    for value, bias in (two, two[::-1]):
        before = read_once(module, value) if isinstance(value, ast.Name) else None
        factors = _factors(drafts, module, value if before is None else before.value)
        if factors is not None:
            return _Product(node, factors[0], factors[1], bias, before=before, settings=factors[2])
    return None


def _factors(
    drafts: Drafts, module: Module, node: ast.expr
) -> tuple[ast.expr, ast.expr, tuple[tuple[str, str], ...] | None] | None:
    """What a node multiplies with what, or convolves and how."""
    two = _operands(drafts, module, node, ast.MatMult, _PRODUCTS)
    if two is not None:
        return (*two, None)
    if not isinstance(node, ast.Call) or module.resolve(node.func) not in _CONVOLUTIONS:
        return None
    others = [keyword for keyword in node.keywords if keyword.arg == "name"]
    named = [ast.keyword("filter" if k.arg == "filters" else k.arg, k.value) for k in node.keywords if k not in others]
    if not _only_named(drafts, others):
        return None
    try:
        given = bind(ast.Call(node.func, node.args, named), "input filter strides padding", "tf.nn.conv2d")
        strides, padding = (ast.literal_eval(given[name]) for name in ("strides", "padding"))
        one, high, wide, last = strides
    except (Unsupported, KeyError, ValueError, TypeError):
        return None
    if (one, last) != (1, 1) or padding not in ("SAME", "VALID"):
        return None
    settings = [("strides", str(high if high == wide else (high, wide)))] if (high, wide) != (1, 1) else []
    settings += [("padding", f'"{padding.lower()}"')] if padding == "SAME" else []
    return given["input"], given["filter"], tuple(settings)


def _operands(
    drafts: Drafts, module: Module, node: ast.expr, operator: type[ast.operator], functions: frozenset[str]
) -> tuple[ast.expr, ast.expr] | None:
    """The two values that an operator, or a call of one of some functions, takes."""
    if isinstance(node, ast.BinOp):
        return (node.left, node.right) if isinstance(node.op, operator) else None
    known = isinstance(node, ast.Call) and module.resolve(node.func) in functions
    given = _arguments(drafts, node, 2) if known else None
    return (given[0], given[1]) if given is not None else None


def _arguments(drafts: Drafts, node: ast.expr, number: int) -> list[ast.expr] | None:
    """The arguments of a call that has just so many, by their places, and perhaps a name."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    return node.args if len(node.args) == number and _only_named(drafts, node.keywords) else None


def _only_named(drafts: Drafts, keywords: list[ast.keyword]) -> bool:
    """Whether keywords of a call say nothing but a name, for which no text of the program asks."""
    for keyword in keywords:
        name = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg != "name" or not isinstance(name, str):
            return False
        for module in drafts.project.modules.values():
            texts = (node for node in walk(module.tree) if isinstance(node, ast.Constant))
            asked = re.compile(rf"(^|/){re.escape(name)}(:\d+)?$")
            if any(
                isinstance(text.value, str) and asked.search(text.value) and not _says(module, text) for text in texts
            ):
                return False
    return True


def _says(module: Module, text: ast.Constant) -> bool:
    """Whether a text is a name or a key, which asks for nothing."""
    whole = module.parent(text)
    if isinstance(whole, ast.keyword):
        return whole.arg in ("name", "scope")
    scope = isinstance(whole, ast.Call) and (module.resolve(whole.func) or "").endswith("_scope")
    return scope or isinstance(whole, ast.Subscript) or (isinstance(whole, ast.Dict) and text in whole.keys)


def _weight(module: Module, node: ast.expr, rank: int) -> _Weight | None:
    """The variable of a rank that a place reads, if nothing else does."""
    made = read_once(module, node) if isinstance(node, ast.Name) else None
    call = node if made is None else made.value
    if not isinstance(call, ast.Call) or module.resolve(call.func) != _VARIABLE:
        return None
    try:
        given = bind(call, "name shape dtype initializer", "tf.get_variable")
    except Unsupported:
        return None
    shape, dtype = given.get("shape"), given.get("dtype")
    listed = module.assignment(shape) if isinstance(shape, ast.Name) else None
    shape = (
        shape
        if listed is None or block_of(module, listed) != block_of(module, module.statement(node))
        else listed.value
    )
    if "name" not in given or not isinstance(shape, (ast.List, ast.Tuple)) or len(shape.elts) != rank:
        return None
    known = dtype is None or is_none(dtype) or module.resolve(dtype) == _FLOAT
    if not known or any(isinstance(size, ast.Starred) for size in shape.elts):
        return None
    first = given.get("initializer")
    return _Weight(given["name"], shape.elts, None if is_none(first) else first, made)


def _fits(drafts: Drafts, module: Module, product: _Product, kernel: _Weight, bias: _Weight | None) -> bool:
    """Whether a layer has these variables: of one width, made where the product stands, and of names that nobody asks for."""
    weights = [kernel] if bias is None else [kernel, bias]
    if bias is not None and (bias.initializer is None or ast.unparse(kernel.sizes[-1]) != ast.unparse(bias.sizes[0])):
        return False  # what starts as the kernel does by itself, or is the same for all units
    here = module.statement(product.node)
    block = block_of(module, here)
    made = [each for each in (*(weight.made for weight in weights), product.before) if each is not None]
    if any(each not in block for each in made):
        return False
    moved = [*kernel.sizes, *(part for w in weights for part in (w.name, w.initializer) if part is not None)]
    moved += [product.x] if product.before is not None else []
    first = min((block.index(each) for each in made), default=block.index(here))
    between = [each for each in block[first : block.index(here)] if each not in made]
    if any(
        binds(each) & reads(moved) for statement in between for each in walk(statement) if isinstance(each, ast.stmt)
    ):
        return False
    modules = drafts.project.modules.values()
    if any(other.may_name(_WIDTHS_UNTOLD) for other in modules):
        return False
    named = zip(weights, ("kernel", "bias"))
    return all(asked_alike(modules, weight.name, (new, f"{product.layer}/{new}:0")) for weight, new in named)


def _is_default(module: Module, initializer: ast.expr | None, names: frozenset[str]) -> bool:
    """Whether an initializer, or the class of one, is what a layer has without."""
    if isinstance(initializer, ast.Call) and not initializer.args and not initializer.keywords:
        initializer = initializer.func
    return initializer is not None and module.resolve(initializer) in names


def _initializes(module: Module) -> bool:
    """Whether a scope of a file says how kernels start of which nothing else does."""
    calls = (call for call in module.nodes(ast.Call) if any(keyword.arg == "initializer" for keyword in call.keywords))
    return any(module.resolve(call.func) == VARIABLE_SCOPE for call in calls) or module.may_name({"set_initializer"})


def _layer(
    drafts: Drafts, module: Module, tf: str, product: _Product, kernel: _Weight, bias: _Weight | None
) -> list[Change]:
    """The changes that write the layer."""
    node, activation = product.node, code(tf + product.activation) if product.activation else None
    outer = module.parent(node)
    alone = isinstance(outer, ast.Call) and outer.args == [node] and _only_named(drafts, outer.keywords)
    if activation is None and alone and isinstance(outer, ast.Call) and module.resolve(outer.func) in _ACTIVATIONS:
        node, activation = outer, module.cst.expression(outer.func)
    told: dict[str, ast.expr | None] = {}
    if not _is_default(module, kernel.initializer, _GLOROT) or any(map(_initializes, drafts.project.modules.values())):
        told["kernel_initializer"] = kernel.initializer
    if bias is not None and not _is_default(module, bias.initializer, _ZEROS):
        told["bias_initializer"] = bias.initializer
    told["kernel_name"] = kernel.name
    told["bias_name"] = None if bias is None else bias.name
    holes = {} if activation is None else {"activation": activation}
    holes |= {"use_bias": code("False")} if bias is None else {}
    holes |= {name: module.cst.expression(value) for name, value in told.items() if value is not None}
    holes = {name: code(value) for name, value in product.settings or ()} | holes
    sizes = [] if product.settings is None else [code(f"[{', '.join(map(module.segment, kernel.sizes[:2]))}]")]
    places = [module.cst.expression(product.x), module.cst.expression(kernel.sizes[-1]), *sizes]
    listed = ", ".join(f"{name}={{{name}}}" for name in holes)
    new = expr(f"{{tf}}.layers.{product.layer}({{places}}, {listed})", tf=tf, places=places, **holes)
    gone = [kernel.made, None if bias is None else bias.made, product.before]
    return Change.of(module, *(Remove(each) for each in gone if each is not None), Replace(node, new))
