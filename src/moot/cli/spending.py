"""What a session has cost so far, member by member, as lines people read."""

from moot.core.spending import Spent
from moot.core.state import State
from moot.core.team import Language

_WORDS: dict[Language, str] = {"zh": "{turns} 轮 · {tokens} tokens", "en": "{turns} turn{s} · {tokens} tokens"}


def describe_spending(state: State) -> list[str]:
    """One line a member; empty as long as nobody has reported what it uses."""
    spent = state.spent_by_member
    if not any(each.tokens or each.cost_usd for each in spent.values()):
        return []
    width = max(len(state.team.member(member).display_name) for member in spent)
    return [
        f"  Σ {state.team.member(member).display_name:{width}}  {_describe(each, state.language)}"
        for member, each in spent.items()
    ]


def _describe(spent: Spent, language: Language) -> str:
    cost = f" · {spent.cost_usd:.4f} USD" if spent.cost_usd else ""
    return _WORDS[language].format(turns=spent.turns, s="" if spent.turns == 1 else "s", tokens=spent.tokens) + cost
