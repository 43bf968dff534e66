"""Milvus Lite behind a port, which can go away in the middle, or say that it is full."""

import socket
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from milvus_lite.db import MilvusLite
from pymilvus.grpc_gen import common_pb2, milvus_pb2, milvus_pb2_grpc


class Limited(MilvusServicer):
    """Takes `left` upserts, then answers as a server whose disk is full; -1 is no limit."""

    def __init__(self, database: MilvusLite, left: int) -> None:
        super().__init__(database)
        self.left = left

    def Upsert(self, request: Any, context: Any) -> Any:
        if self.left == 0:
            status = common_pb2.Status(code=9, reason="quota exceeded[reason=disk quota exceeded]")
            return milvus_pb2.MutationResult(status=status)
        self.left -= 1
        return super().Upsert(request, context)


class Server:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: tuple[grpc.Server, MilvusLite] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def address(self) -> str:
        return f"milvus:http://127.0.0.1:{self.port}#library"

    def start(self, *, upserts: int = -1) -> None:
        database = MilvusLite(str(self.folder))
        server = grpc.server(futures.ThreadPoolExecutor(4))
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(Limited(database, upserts), server)
        assert server.add_insecure_port(f"127.0.0.1:{self.port}") == self.port
        server.start()
        self._running = server, database

    def stop(self) -> None:
        """At once: whatever is under way breaks off."""
        if self._running:
            server, database = self._running
            server.stop(grace=None).wait()
            database.close()
            self._running = None
