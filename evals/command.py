"""`remask eval` and its commands, in words. What each does is imported when it runs, so that help appears at once."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..agent.console import MARKUP
from . import baselines, quality
from .arguments import (
    Abstain,
    AtOnce,
    Baselines,
    CorpusFile,
    Data,
    DataOrDownload,
    IndexFolder,
    KindName,
    Limit,
    Load,
    Main,
    Out,
    PlaceName,
    RayAddress,
    Seed,
    SettingName,
    SettingOption,
    Sha256,
    TopK,
    Url,
    default_out,
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
    help="Measure agents: accuracy, time and retrieval, with intervals, beside baselines, in one run on this machine.",
)


@app.command()
def hotpotqa(
    data: DataOrDownload = None,
    setting: SettingOption = SettingName.DISTRACTOR,
    backend: Main = "embedded",
    baseline: Baselines = None,
    index: IndexFolder = None,
    corpus: CorpusFile = None,
    limit: Limit = None,
    seed: Seed = 0,
    top_k: TopK = None,
    abstain: Abstain = False,
    url: Url = None,
    sha256: Sha256 = None,
    ray: RayAddress = None,
    out: Out = None,
) -> None:
    """Answer questions and score answers and cited sentences by HotpotQA's official rules.

    Each question goes through all backends before the next. Writes predictions, a row for each answer, and a report
    as JSON, Markdown and HTML. Ctrl-C stops it; the same command goes on.
    """
    from . import hotpotqa as task
    from .cluster import spreading
    from .download import downloaded, published

    wanted = published(url, sha256)
    data = data or downloaded(Path("runs/data"), wanted)
    folder = out or default_out("hotpotqa", setting.value, data)
    planned = partial(
        task.plan,
        "hotpotqa",
        data,
        setting.value,
        [backend, *(baseline or [])],
        out=folder,
        index=index,
        corpus=corpus,
        limit=limit,
        seed=seed,
        top_k=top_k,
        may_abstain=abstain,
    )
    made = planned()
    with spreading(ray, planned) as spread:
        task.tell(task.run(made, folder, seed=seed, spread=spread), folder)


@app.command()
def latency(
    data: Data,
    setting: SettingOption = SettingName.DISTRACTOR,
    backend: Main = "embedded",
    baseline: Baselines = None,
    index: IndexFolder = None,
    corpus: CorpusFile = None,
    limit: Limit = None,
    seed: Seed = 0,
    top_k: TopK = None,
    warm: Annotated[int, typer.Option("--warm", min=0, help="Questions asked beforehand and not counted.")] = 3,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How often each question is asked.")] = 1,
    at_once: AtOnce = None,
    load: Load = 24,
    out: Out = None,
) -> None:
    """Measure what a caller waits: p50, p95, p99, by stage, and how many times as fast one backend is as another.

    Each question goes through all backends before the next, so that the machine's noise hits all alike. Then the first
    questions again, several at a time: throughput.
    """
    from . import hotpotqa as task
    from . import latency as measuring

    levels = sorted(set(at_once or measuring.LEVELS))
    folder = out or default_out("latency", setting.value, data)
    made = task.plan(
        "latency",
        data,
        setting.value,
        [backend, *(baseline or [])],
        out=folder,
        index=index,
        corpus=corpus,
        limit=limit,
        seed=seed,
        top_k=top_k,
        may_abstain=True,
        at_once=max(levels) if load else 1,
    )
    found = measuring.run(made, folder, seed=seed, warm=warm, repeats=repeats, levels=levels, loaded=load)
    measuring.tell(found, folder)


@app.command()
def retrieval(
    data: Annotated[
        Path,
        typer.Option(
            "--data", help="Questions with supporting facts, or a folder in BEIR's layout.", show_default=False
        ),
    ],
    index: IndexFolder = None,
    corpus: CorpusFile = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Compare ways to search: words, vectors, and each way to fuse them. Recall, nDCG@10 and MRR."""
    from . import search

    folder = out or default_out("retrieval", "search", data)
    search.tell(search.run(data, folder, index=index, corpus=corpus, limit=limit, seed=seed), folder)


@app.command()
def noise(
    data: Data,
    backend: Main = "embedded",
    baseline: Baselines = None,
    documents: Annotated[
        list[int] | None,
        typer.Option("--documents", min=1, help="May be repeated. [default: 2 4 8 12 20 50]", show_default=False),
    ] = None,
    place: Annotated[
        list[PlaceName] | None,
        typer.Option(
            "--place", help="Where the right documents stand. May be repeated. [default: all]", show_default=False
        ),
    ] = None,
    kind: Annotated[
        list[KindName] | None,
        typer.Option(
            "--kind",
            help="What the others are: other texts, near-duplicates, one that contradicts. May be repeated. [default: all]",
            show_default=False,
        ),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """See whether answers hold with more documents around the right ones, wherever those stand."""
    from . import hotpotqa as task
    from . import noise as measuring

    folder = out or default_out("noise", "distractor", data)
    made = task.plan("noise", data, "distractor", [backend, *(baseline or [])], out=folder, limit=limit, seed=seed)
    places = [one for one in measuring.PLACES if not place or one in place]
    counts = documents or measuring.COUNTS
    kinds = [one for one in measuring.KINDS if not kind or one in kind]
    measuring.tell(measuring.run(made, folder, counts=counts, places=places, kinds=kinds, seed=seed), folder)


@app.command()
def compare(
    one: Annotated[Path, typer.Argument(help="A folder of results.", show_default=False)],
    other: Annotated[Path, typer.Argument(help="Another one.", show_default=False)],
    backend: Annotated[
        list[str] | None,
        typer.Option(
            "--backend",
            help="Which backend; given twice, one for each folder. [default: each folder's first]",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Show what changed between two runs, in all and question by question."""
    from .compare import compare as run

    run(one, other, backend or [], seed=seed)


@app.command()
def score(
    data: Data,
    predictions: Annotated[
        Path, typer.Option("--predictions", help="Answers in HotpotQA's official format.", show_default=False)
    ],
    seed: Seed = 0,
) -> None:
    """Score a file of predictions, ours or anyone's, by HotpotQA's official rules."""
    from .scoring import score_file

    score_file(data, predictions, seed=seed)


app.command()(quality.ablation)
app.command()(quality.abstention)
app.command()(quality.citations)
app.command()(quality.ragas)
app.command()(quality.task)
app.command()(baselines.prompts)
app.command()(baselines.results)
