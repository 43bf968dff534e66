import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from remask.retrieval import HashEmbedder, Index
from remask.retrieval.bench import _cell, _documents, _found, app
from typer.testing import CliRunner

PARAGRAPHS = [
    {"id": "p0", "title": "River", "sents": ["The Oker flows north.", " It is long."]},
    {"id": "p1", "title": "Town", "sents": ["Goslar lies on no river."]},
    {"id": "p2", "title": "Tree", "sents": ["Oaks grow slowly."]},
]
QUESTION = {"question": "Where does the Oker flow?", "supporting_facts": [["River", 0], ["Town", 0]]}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in PARAGRAPHS)
    (tmp_path / "questions.jsonl").write_text(
        json.dumps(QUESTION) + "\n" + json.dumps({**QUESTION, "supporting_facts": None})
    )
    return str(tmp_path / "corpus.jsonl.gz"), str(tmp_path / "questions.jsonl")


def test_recall_is_the_share_of_gold_titles_among_the_first(files):
    documents, cut = _documents(Path(files[0]))
    retriever = Index.create(documents, embedder=HashEmbedder(), splitter=cut)._state.retriever
    assert [len(passage.sentences) for passage in retriever.passages] == [2, 1, 1]
    # "River" has a word of the question, "Town" none.
    assert _found(retriever, QUESTION, "lexical") == [0.5, 0.5, 0.5]
    assert _found(retriever, QUESTION, "hybrid")[1:] == [1.0, 1.0]


def test_a_cell_shows_mean_interval_and_the_share_with_everything():
    assert _cell(np.array([1.0, 1.0, 0.5, 0.5])).split() == ["75.0", "[50.0,", "100.0]", "/", "50.0"]


def test_the_recall_command_prints_its_setting_and_a_row_a_setting(files):
    result = CliRunner().invoke(app, ["recall", "--corpus", files[0], "--questions", files[1]])
    assert result.exit_code == 0, result.output
    assert "n = 1 questions, 3 passages, all-MiniLM-L6-v2, seed 0" in result.output
    assert sum(line.startswith(("lexical", "dense", "RRF", "weighted")) for line in result.output.splitlines()) == 14
