"""Settings with defaults."""

DEFAULTS = {"volume": 5, "name": "guest", "dark": True}


def setting(given: dict[str, object], name: str) -> object:
    """The value given, or the default where none is. Raises KeyError for a setting that does not exist."""
    if name not in DEFAULTS:
        raise KeyError(name)
    return given.get(name, DEFAULTS[name])


def known() -> list[str]:
    """The names of all settings."""
    return sorted(DEFAULTS)
