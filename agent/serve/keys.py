"""Bearer keys: which are known, and whose a request carries. Compared in constant time; kept only as hashes."""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .errors import Unservable

SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Keys:
    """No keys at all means that nobody is asked for one."""

    hashes: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, keys: Iterable[str]) -> "Keys":
        """Raises Unservable for a key that could be guessed."""
        return cls(tuple(_hashed(_long_enough(key)) for key in keys))

    @classmethod
    def read(cls, path: Path) -> "Keys":
        """From a file with a key a line; blank lines and lines that begin with # don't count.

        Raises Unservable where there is none, so that a wrong file never opens the server to everyone.
        """
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise Unservable(f"{path}: can't be read as keys: {error}. Write one key a line") from error
        keys = cls.of(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))
        if not keys.hashes:
            raise Unservable(f"{path}: has no keys. Write one key a line, of at least {SHORTEST} characters")
        return keys

    def owner(self, authorization: str) -> str | None:
        """A short name for whoever holds this key; empty where no keys are asked for, None where the key is unknown.

        >>> keys = Keys.of(["correct horse battery"])
        >>> keys.owner("Bearer correct horse battery") == keys.owner("bearer  correct horse battery"), keys.owner("")
        (True, None)
        """
        if not self.hashes:
            return ""
        scheme, _, key = authorization.partition(" ")
        given = _hashed(key.strip())
        # All are compared, and whole: time must not tell how far a guess was right.
        known = [hmac.compare_digest(given, one) for one in self.hashes]
        return given.hex()[:16] if any(known) and scheme.lower() == "bearer" else None


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _long_enough(key: str) -> str:
    if len(key) < SHORTEST:
        raise Unservable(f"a key has {len(key)} characters, and at least {SHORTEST} are wanted. Make it longer")
    return key
