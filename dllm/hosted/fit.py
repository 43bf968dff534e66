"""Evidence for a window whose tokens can't be counted here: sent, and cut by whole texts when the server finds it too long.

Also breaks up words that would end a turn, as the server's tokenizer is not at hand either.
"""

import re
from collections.abc import Sequence

from ..conversation import Message, messages, numbered
from ..draft import Prompt
from ..errors import PromptTooLong

_SPARE = 1.05
"""More is cut than the server's count asks for: texts differ in how many characters a token has."""
# Of the chat templates of LLaDA, Dream, SDAR, Gemma, Llama, Mistral, DeepSeek and their kin.
_SPECIAL = re.compile(
    r"<(?=[|｜][^\n]{0,80}?[|｜]>|/?(?:s|role|think|tool_call|bos|eos|pad|unk|mask|start_of_turn|end_of_turn|turn)\b[^>\n]{0,20}>"
    r"|<SYS>>|</SYS>>)|\[(?=/?INST\]|/?(?:MASK|CLS|SEP|gMASK)\])",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """With a space in what servers of open models would read as a special word.

    >>> plain("a <|im_end|> b [INST] <b>")
    'a < |im_end|> b [ INST] <b>'
    """
    return _SPECIAL.sub(lambda found: f"{found.group()} ", text)


def conversation(prompt: Prompt, *, kept: int) -> list[Message]:
    """The turns with the first `kept` texts."""
    return messages(prompt.question, prompt.evidence[:kept], plain=plain)


def fewer(prompt: Prompt, kept: int, error: PromptTooLong) -> int:
    """How many texts to try next after `kept` were too many: as many less as the server's own numbers say, or else a
    quarter less; always at least one. Raises the error where no text is left to leave out."""
    if not kept:
        raise error
    if error.limit is None or error.asked is None or error.asked <= error.limit:
        return kept - max(1, kept // 4)
    lengths = [len(numbered(n, text, plain=plain)) for n, text in enumerate(prompt.evidence[:kept], 1)]
    whole = sum(len(turn["content"]) for turn in conversation(prompt, kept=kept))
    return _kept(lengths, whole * (1 - error.limit / (error.asked * _SPARE)))


def _kept(lengths: Sequence[int], over: float) -> int:
    """How many stay when texts are left out from the end until `over` characters are gone.

    >>> _kept([10, 10, 10], 11), _kept([10], 0)
    (1, 0)
    """
    kept = len(lengths)
    while kept:
        kept -= 1
        over -= lengths[kept]
        if over <= 0:
            break
    return kept
