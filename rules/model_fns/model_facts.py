"""What translations may ask about a model as a whole."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from migrator.analyse.function.body import Body
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import Translations, Value
from migrator.analyse.layers.helperbodies import HelperBody
from migrator.analyse.layers.site import Site
from migrator.normalise.draft.roots import calls_below
from migrator.resolve.project import Definition
from migrator.vocabulary.settings import Settings

from .dense_tables import dense_lookups


def model_facts(bodies: Sequence[Body], translations: Translations) -> dict[str, bool]:
    """Answers over all `bodies`, those of one model: whether rows are looked up, perhaps several times, rates decay,
    layers of either kind are regularized, and at least one of them whatever the parameters are.

    Lookups count whose gradients are sparse: those in tables of which the loss does not read all rows as well.

    A column asks for each row once; columns that share a table may ask for the same one.
    """
    dense = set().union(*(dense_lookups(body) for body in bodies if isinstance(body, Plan)))
    called = set(_called(bodies, dense))
    once = frozenset() if _shares_tables(bodies, translations) else translations.column_lookups
    sites = [(body, site) for body in bodies for site in body.sites]
    regularizers = [
        (body, site, value)
        for body, site in sites
        for name, value in site.layer.arguments
        if (name or "").endswith("regularizer") and not site.layer.keras
    ]
    outside = any(site.layer.keras and "regularizer" in ast.unparse(site.call) for _, site in sites)
    return {
        "sparse": bool(called & translations.lookups),
        "repeated": bool(called & translations.lookups - once),
        "scheduled": bool(called & translations.schedules),
        "regularized": bool(regularizers),
        "always regularized": any(not _may_be_missing(*each) for each in regularizers),
        "regularized outside": outside,
    }


def chosen_facts(settings: Settings) -> dict[str, bool]:
    """What the settings say of every model: whether optimizers are to be those of TensorFlow 1 to the last bit, and
    whether it may run on Keras 3.
    """
    return {"exact": settings.exact, "keras 3": settings.target == "any"}


def _shares_tables(bodies: Sequence[Body], translations: Translations) -> bool:
    """Whether the program makes columns that share a table, wherever it does."""
    words = [name.rpartition(".")[2] for name in translations.shared_columns]
    modules = [m for body in bodies[:1] for m in body.sublayers.project.modules.values() if m.may_name(words)]
    return any(name in translations.shared_columns for module in modules for _, name in module.references())


def _called(bodies: Sequence[Body], without: Collection[ast.Call]) -> Iterator[str | None]:
    """Names of all that is called, also by functions and classes of the program that stay as they are, but for some calls."""
    waiting = [(body, Definition(body.module, body.function)) for body in bodies]
    seen: set[Definition] = set()
    while waiting:
        body, found = waiting.pop()
        if found in seen:
            continue
        seen.add(found)
        for call in calls_below(found.module, found.node):
            if call not in without:
                yield found.module.resolve(call.func)
            for reference in (call.func, *call.args):  # `tf.map_fn(look_up, ids)`
                inner = body.sublayers.project.definition(found.module, reference)
                waiting += [(body, inner)] if inner is not None else []


def _may_be_missing(body: Body, site: Site, value: Value) -> bool:
    """Whether a layer may go without the regularizer that `value` is: under a condition, or where it may be None."""
    if isinstance(body, HelperBody) or site.turns or any(not isinstance(f.node, ast.With) for f in site.leaf.frames):
        return True
    if isinstance(value, str):
        return False
    made, _ = body.followed_in(value, site.leaf, "train")
    return not isinstance(made, ast.Call) or not (body.module.resolve(made.func) or "").startswith("tensorflow.")


def reached_bodies(start: Body, every: Sequence[Body]) -> list[Body]:
    """A model_fn and the helpers that it calls, out of `every` body of a program, with those that are in sight of none."""

    def below(body: Body, found: dict[int, Body]) -> dict[int, Body]:
        if id(body) not in found:
            found[id(body)] = body
            for site in body.sites:
                for other in (site.layer.helper, *site.layer.alternatives):
                    if other is not None:
                        below(other, found)
        return found

    mine = below(start, {})
    seen: dict[int, Body] = {}
    for body in every:
        if not isinstance(body, HelperBody):
            below(body, seen)
    return [*mine.values(), *(body for body in every if id(body) not in seen)]
