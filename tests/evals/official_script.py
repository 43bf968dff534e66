"""HotpotQA's rules written a second time, statement by statement after the description of the official script.

Shares no line with the package: what both say is likely right.
"""

import re
import string
from collections import Counter
from typing import Any


def evaluate(prediction: dict[str, Any], gold: list[dict[str, Any]]) -> dict[str, float]:
    names = [part + name for part in ("", "sp_", "joint_") for name in ("em", "f1", "prec", "recall")]
    total = dict.fromkeys(names, 0.0)
    for row in gold:
        answer, facts = prediction["answer"].get(row["_id"]), prediction["sp"].get(row["_id"])
        if answer is not None:
            said = answer_scores(answer, row["answer"])
            add(total, "", said)
        if facts is not None:
            shown = fact_scores(facts, row["supporting_facts"])
            add(total, "sp_", shown)
        if answer is not None and facts is not None:
            precision, recall = said[2] * shown[2], said[3] * shown[3]
            f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
            add(total, "joint_", (said[0] * shown[0], f1, precision, recall))
    return {name: value / len(gold) for name, value in total.items()}


def add(total: dict[str, float], part: str, scores: tuple[float, ...]) -> None:
    for name, value in zip(("em", "f1", "prec", "recall"), scores, strict=True):
        total[part + name] += value


def plain(text: str) -> str:
    text = text.lower()
    text = text.translate(str.maketrans("", "", string.punctuation))
    text = re.sub(r"\b(a|an|the)\b", " ", text)
    return " ".join(text.split())


def answer_scores(said: str, right: str) -> tuple[float, ...]:
    one, other = plain(said), plain(right)
    em = 1.0 if one == other else 0.0
    for side in (one, other):
        if side in ["yes", "no", "noanswer"] and one != other:
            return em, 0.0, 0.0, 0.0
    words, right_words = one.split(), other.split()
    same = sum((Counter(words) & Counter(right_words)).values())
    if same == 0:
        return em, 0.0, 0.0, 0.0
    precision, recall = same / len(words), same / len(right_words)
    return em, 2 * precision * recall / (precision + recall), precision, recall


def fact_scores(said: list[Any], right: list[Any]) -> tuple[float, ...]:
    shown, gold = {tuple(fact) for fact in said}, {tuple(fact) for fact in right}
    tp, fp, fn = len(shown & gold), len(shown - gold), len(gold - shown)
    precision = tp / (tp + fp) if tp + fp > 0 else 0.0
    recall = tp / (tp + fn) if tp + fn > 0 else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return (1.0 if fp + fn == 0 else 0.0), f1, precision, recall
