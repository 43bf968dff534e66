"""A server as a process: its socket, its log, how it starts and how it ends. Knows uvicorn; nothing of requests."""

import logging
import math
import socket
import sys
from collections.abc import Callable

import uvicorn

from .app import application
from .errors import Unservable
from .options import LOOPBACK, ServeOptions
from .protocol import protocol
from .service import Service


def listening(options: ServeOptions) -> socket.socket:
    """A socket at the wanted address. Raises Unservable where it is taken or is not this machine's."""
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        listener = socket.create_server((options.host, options.port), family=family, backlog=options.max_connections)
    except OSError as error:
        raise Unservable(
            f"can't listen on {options.host}:{options.port}: {error.strerror or error}. Choose another --port or --host"
        ) from error
    # asyncio does this only where it makes the socket. Else each small packet waits 40 ms for the client to confirm the last.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def check_reach(options: ServeOptions, *, keys: bool) -> None:
    """Raises Unservable where every machine that reaches this one could ask and change everything by mistake."""
    if options.host not in LOOPBACK and not keys and not options.anyone:
        raise Unservable(
            f"{options.host!r} is open to other machines. Give --keys-file FILE, or --anyone to ask for no key"
        )


def server(service: Service) -> uvicorn.Server:
    """Ready to run on a socket. On SIGTERM and SIGINT it takes no more requests, lets answers end, and stops."""
    options = service.options
    config = uvicorn.Config(
        application(service),
        http=protocol(options),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=options.max_header_bytes,
        timeout_graceful_shutdown=math.ceil(options.shutdown_seconds),
    )
    return uvicorn.Server(config)


def run(service: Service, *, started: Callable[[str], None]) -> None:
    """Serves until it is told to stop. `started` is given the address."""
    check_reach(service.options, keys=bool(service.keys.hashes))
    with listening(service.options) as listener:
        host, port = listener.getsockname()[:2]
        started(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
        server(service).run(sockets=[listener])


def log_to_stderr() -> None:
    """One line a request, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("remask.serve")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
