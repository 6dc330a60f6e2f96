"""What translations may ask about a model as a whole."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.modelfn.body import Body
from migrator.modelfn.plan import Plan
from migrator.modelfn.translate import Translations
from migrator.preparing.roots import calls_below


def model_facts(bodies: Sequence[Body], translations: Translations) -> dict[str, bool]:
    """Answers over all `bodies`: whether rows are looked up, rates decay, layers of either kind are
    regularized, and models start from checkpoints of others.
    """
    called = {body.module.resolve(call.func) for body in bodies for call in calls_below(body.module, body.function)}
    regularized = any(
        (name or "").endswith("regularizer") and not site.layer.keras
        for body in bodies
        for site in body.sites
        for name, _ in site.layer.arguments
    )
    outside = any(
        site.layer.keras and "regularizer" in ast.unparse(site.call) for body in bodies for site in body.sites
    )
    return {
        "sparse": bool(called & translations.lookups),
        "scheduled": bool(called & translations.schedules),
        "regularized": regularized,
        "regularized outside": outside,
        "warm": any(isinstance(body, Plan) and body.warm is not None for body in bodies),
    }
