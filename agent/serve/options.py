"""How a server works: where it listens, who may use it, how much it takes on."""

from pydantic import BaseModel, ConfigDict, Field

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServeOptions(BaseModel):
    """Frozen, keyword-only. Out of range raises pydantic's ValidationError, which names the field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """The address to listen on. Any but this machine's own wants keys, or `anyone`."""
    port: int = Field(default=8000, ge=0, le=65535)
    """0 takes a free one."""
    anyone: bool = False
    """Whether to serve other machines without keys."""
    allow_origins: tuple[str, ...] = ()
    """Other sites whose pages may use this server, as `https://example.org`."""
    allow_hosts: tuple[str, ...] = ()
    """Further names that this server is reached by. Other `Host` headers are refused: see THREATS.md, rebinding."""
    read_only: bool = False
    """Whether documents can neither be added nor removed."""

    running: int = Field(default=4, ge=1)
    """Questions that are worked on at once. They share the model pass by pass."""
    waiting: int = Field(default=64, ge=0)
    """Questions that may wait for a turn; beyond it a request gets 503 with Retry-After."""
    threads: int = Field(default=1, ge=1)
    """Threads that take steps of questions, in the order in which the steps come due. With several, the embedded reader
    makes the passes that come together as one."""
    request_seconds: float = Field(default=60, gt=0)
    """The longest a question may take, waiting included."""

    max_connections: int = Field(default=256, ge=1)
    """Open connections; a further one is closed at once."""
    max_header_bytes: int = Field(default=16_384, ge=1024)
    """Request line and headers together."""
    max_body_bytes: int = Field(default=1_000_000, ge=1)
    """Of a request that carries no documents."""
    max_upload_bytes: int = Field(default=32_000_000, ge=1)
    """Of a request that adds documents."""
    max_question_characters: int = Field(default=4_000, ge=1)
    max_embedded_texts: int = Field(default=256, ge=1)
    """Texts that one request may have embedded."""

    header_seconds: float = Field(default=10, gt=0)
    """How long a request's headers may take to arrive."""
    body_seconds: float = Field(default=60, gt=0)
    """How long a request's body may take to arrive."""
    stall_seconds: float = Field(default=30, gt=0)
    """How long a client may leave unread what it was sent before it is cut off."""
    shutdown_seconds: float = Field(default=10, gt=0)
    """How long answers in progress may go on after the server was told to stop."""

    @property
    def names(self) -> tuple[str, ...]:
        """What a `Host` header may name. Empty: whoever listens to every address answers to every name."""
        if self.host in LOOPBACK:
            return (*LOOPBACK, *self.allow_hosts)
        return self.allow_hosts
