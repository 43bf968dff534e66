"""Adding, reading and removing documents over HTTP; what is confirmed is on the disk."""

import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from remask.agent.serve.errors import InvalidRequest
from remask.agent.serve.upload import plain_name
from remask.retrieval import Index

from .running import WHEN, client, in_folder, in_memory, service_over

BOAT = {"id": "boat", "title": "The boat", "text": "The boat of the chapel is called Petrel. It was built in 1911."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return in_folder(tmp_path / "index")


def test_an_added_document_is_found_at_once_and_after_a_restart(folder: Path) -> None:
    with client(service_over(folder)) as web:
        added = web.post("/documents", json={"documents": [BOAT]})
        assert (added.status_code, added.json()["added"], added.json()["ids"]) == (201, 1, ["boat"])
        assert web.get("/documents").json()["total"] == 4
        found = web.post("/ask", json={"question": "What is the boat called?"}).json()["trace"]["hops"][0]["hits"]
        assert found[0]["document_id"] == "boat"
    assert Index.open(folder).document("boat").text == BOAT["text"]


def test_a_removed_document_is_gone_and_after_a_restart_too(folder: Path) -> None:
    with client(service_over(folder)) as web:
        assert web.post("/ask", json={"question": WHEN}).json()["citations"]
        assert web.delete("/documents/mira").json() == {"deleted": "mira"}
        assert web.get("/documents/mira").status_code == 404
        assert web.delete("/documents/mira").status_code == 404
        assert web.post("/ask", json={"question": WHEN}).json()["abstained"]
    assert "mira" not in Index.open(folder).document_ids


def test_a_document_is_not_replaced_unless_that_was_meant(folder: Path) -> None:
    with client(service_over(folder)) as web:
        other = {"id": "mira", "text": "Nothing of the kind."}
        refused = web.post("/documents", json={"documents": [BOAT, other]})
        assert refused.status_code == 409
        assert "'mira'" in refused.json()["error"]["message"]
        assert web.get("/documents/boat").status_code == 404
        assert "1952" in web.get("/documents/mira").json()["text"]
        done = web.post("/documents", json={"documents": [BOAT, other], "replace": True}).json()
        assert (done["added"], done["updated"]) == (1, 1)


def test_what_cannot_be_saved_is_not_there_either(folder: Path) -> None:
    with client(service_over(folder)) as web:
        theirs = Index.open(folder)
        theirs.delete(["river"])
        theirs.save()  # as another process would, meanwhile
        refused = web.post("/documents", json={"documents": [BOAT, {"id": "mira", "text": "New."}], "replace": True})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert web.get("/documents/boat").status_code == 404
        assert "1952" in web.get("/documents/mira").json()["text"]
        assert web.delete("/documents/anne").status_code == 503
        assert web.get("/documents/anne").status_code == 200
    assert set(Index.open(folder).document_ids) == {"mira", "anne"}


def test_documents_are_listed_in_pages() -> None:
    with client(service_over(in_memory())) as web:
        first, rest, none = (
            web.get("/documents", params={"offset": offset, "limit": 2}).json() for offset in (0, 2, 9)
        )
        assert [[one["id"] for one in page["documents"]] for page in (first, rest, none)] == [
            ["mira", "anne"],
            ["river"],
            [],
        ]
        assert first["total"] == 3


def test_an_excerpt_counts_code_points() -> None:
    text = "🌊🌊 Ebbe und Flut\u0301 🌊"
    with client(service_over(in_memory())) as web:
        web.post("/documents", json={"documents": [{"id": "waves", "text": text}]}).raise_for_status()
        found = web.get("/documents/waves", params={"start": 1, "end": 7}).json()
        assert (found["text"], found["start"], found["end"], found["characters"]) == (text[1:7], 1, 7, len(text))
        beyond = web.get("/documents/waves", params={"start": 10_000, "end": 20_000}).json()
        assert (beyond["text"], beyond["start"]) == ("", len(text))


def test_files_are_read_by_their_kind(folder: Path) -> None:
    files = [
        ("files", ("boat.md", b"# The boat\n\nThe boat is called Petrel.", "text/markdown")),
        ("files", ("../../../crew.csv", b"name,text\nAnna,steers\n", "text/csv")),
        ("files", ("Gr\u00f6\u00dfe \U0001f30a.txt", "Die Größe.".encode(), "text/plain")),
    ]
    with client(service_over(folder)) as web:
        sent = web.post("/documents", files=files)
        assert sent.status_code == 201, sent.text
        ids = sent.json()["ids"]
        assert ids[0] == "boat.md"
        assert ids[1].startswith("crew.csv#")
        assert ids[2] == "Gr\u00f6\u00dfe \U0001f30a.txt"
        read = web.get(f"/documents/{ids[0]}").json()
        assert (read["title"], "path" in read["metadata"]) == ("The boat", False)
    assert all("path" not in Index.open(folder).document(one).metadata for one in ids)


@pytest.mark.parametrize(
    ("name", "content", "status", "says"),
    [
        ("tool.exe", b"MZ", 400, "kind that can't be read"),
        ("model.pkl", b"\x80\x04.", 400, "kind that can't be read"),
        ("empty.txt", b"", 422, "no text"),
        ("broken.pdf", b"%PDF-1.7 nothing", 422, "broken.pdf"),
        ("...", b"x", 400, "can't be a document's name"),
        ("x" * 200 + ".txt", b"x", 400, "can't be a document's name"),
    ],
)
def test_a_file_that_cannot_be_read_changes_nothing(name: str, content: bytes, status: int, says: str) -> None:
    good = ("files", ("good.txt", b"Some text.", "text/plain"))
    with client(service_over(in_memory())) as web:
        sent = web.post("/documents", files=[good, ("files", (name, content, "application/octet-stream"))])
        assert sent.status_code == status, sent.text
        assert says in sent.json()["error"]["message"]
        assert "/" not in sent.json()["error"]["message"].replace("remask/", "")
        assert web.get("/documents").json()["total"] == 3


def test_a_packed_document_that_unpacks_without_end_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<w>" + b" " * 3_000_000)
    service = service_over(in_memory(), max_upload_bytes=1_000_000)
    with client(service) as web:
        assert len(packed.getvalue()) < 10_000
        sent = web.post("/documents", files=[("files", ("bomb.docx", packed.getvalue(), "application/zip"))])
        assert sent.status_code == 422
        assert web.get("/documents").json()["total"] == 3


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "a/..", "..\\..", "\x00.txt/..", "notes", "con\u202e", "a" * 121 + ".txt"]
)
def test_a_name_that_could_be_a_path_or_nothing_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        plain_name(name)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("..\\..\\boot.ini.txt", "boot.ini.txt"),
        ("a\x00b.txt", "a_b.txt"),
        ("\u202egnp.txt", "_gnp.txt"),
        (" .hidden.txt", "hidden.txt"),
        ("a\nb.txt", "a_b.txt"),
    ],
)
def test_a_name_becomes_a_plain_one(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd", "%00", "/etc/passwd", "mira%2f.."],
)
def test_a_document_is_looked_up_by_id_and_never_by_path(path: str) -> None:
    with client(service_over(in_memory())) as web:
        response = web.get(f"/documents/{path}")
        assert response.status_code == 404
        assert "root:" not in response.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"documents": []}',
        b'{"documents": [{"id": "", "text": "x"}]}',
        b'{"documents": [{"id": "a", "text": ""}]}',
        b'{"documents": [{"id": "a", "text": "x", "metadata": {"a": [1]}}]}',
        b'{"documents": [{"id": "a", "text": "\\ud800"}]}',
        b'{"documents": [{"id": "a", "text": "x", "url": "http://example.org"}]}',
        b"[" * 200_000,
    ],
)
def test_documents_that_make_no_sense_are_refused(body: bytes) -> None:
    with client(service_over(in_memory())) as web:
        sent = web.post("/documents", content=body, headers={"content-type": "application/json"})
        assert sent.status_code in (400, 422)
        assert web.get("/documents").json()["total"] == 3


def test_a_form_without_files_or_with_a_broken_frame_is_refused() -> None:
    with client(service_over(in_memory())) as web:
        frame = {"content-type": "multipart/form-data; boundary=x"}
        assert web.post("/documents", content=b"--x--\r\n", headers=frame).status_code == 400
        assert web.post("/documents", content=b"no frame at all", headers=frame).status_code == 400
        bare = {"content-type": "multipart/form-data"}
        assert web.post("/documents", content=b"--x", headers=bare).status_code == 400
        many = [("files", (f"{i}.txt", b"x", "text/plain")) for i in range(40)]
        assert web.post("/documents", files=many).status_code == 400


def test_a_server_that_only_reads_refuses_changes() -> None:
    with client(service_over(in_memory(), read_only=True)) as web:
        assert web.post("/documents", json={"documents": [BOAT]}).status_code == 403
        assert web.delete("/documents/mira").status_code == 403
        assert web.post("/ask", json={"question": WHEN}).json()["text"] == "1952"


def test_documents_come_and_go_while_others_ask(folder: Path) -> None:
    """Every answer stands on a whole index, and nothing that was confirmed is lost."""
    with client(service_over(folder, waiting=200)) as web:

        def change(number: int) -> int:
            new = {"id": f"n{number}", "text": f"Note {number} tells of the fresco. Nothing else."}
            status = web.post("/documents", json={"documents": [new]}).status_code
            if number % 2 and status == 201:
                status = web.delete(f"/documents/n{number}").status_code
            return status

        def ask(number: int) -> dict[str, Any]:
            answer: dict[str, Any] = web.post("/ask", json={"question": WHEN}).raise_for_status().json()
            return answer

        with ThreadPoolExecutor(8) as pool:
            changed, answers = pool.map(change, range(8)), pool.map(ask, range(24))
            assert set(changed) <= {200, 201}
            assert all(answer["text"] == "1952" for answer in answers)
        left = {one["id"] for one in web.get("/documents").json()["documents"]}
    assert left == {"mira", "anne", "river", "n0", "n2", "n4", "n6"} == set(Index.open(folder).document_ids)
