"""The commands of `remask eval` that judge more than the answer's words, in words. What they do is imported late."""

from pathlib import Path
from typing import Annotated

import typer

from .arguments import (
    Baselines,
    CorpusFile,
    Data,
    IndexFolder,
    Limit,
    Main,
    Out,
    Seed,
    SettingName,
    SettingOption,
    TopK,
    default_out,
)


def task(
    file: Annotated[Path, typer.Argument(help="A task file, TOML: questions and what is wanted.", show_default=False)],
    index: IndexFolder = None,
    docs: Annotated[
        list[Path] | None,
        typer.Option("--docs", help="Files and folders to ask without an index. May be repeated.", show_default=False),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help="Your own agent, FILE.py:NAME: a function of a question, or an object with `ask`.",
            show_default=False,
        ),
    ] = None,
    backend: Main = "embedded",
    baseline: Baselines = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Ask an agent the questions of a task file, on your own documents: resolved, wrong, held back when it should.

    Writes a row for each answer and a report as JSON, Markdown and HTML. Ctrl-C stops it; the same command goes on. The
    exit code is 1 where a bar that the file sets is missed.
    """
    from . import resolution

    folder = out or default_out("task", "own" if agent else "agent", file)
    names = [backend, *(baseline or [])]
    made = resolution.plan(file, index=index, docs=docs or [], agent=agent, names=names, limit=limit, seed=seed)
    found = resolution.run(made, folder, seed=seed)
    raise typer.Exit(resolution.tell(found, made, folder))


def citations(
    data: Data,
    setting: SettingOption = SettingName.DISTRACTOR,
    backend: Main = "embedded",
    baseline: Baselines = None,
    scorer: Annotated[
        str,
        typer.Option(
            "--scorer",
            help="What says whether a quotation carries a sentence: lexical, or reread by the first backend.",
        ),
    ] = "lexical",
    supported_from: Annotated[
        float,
        typer.Option("--supported-from", min=0, max=1, help="The scorer's number from which a sentence is carried."),
    ] = 0.6,
    index: IndexFolder = None,
    corpus: CorpusFile = None,
    limit: Limit = None,
    seed: Seed = 0,
    top_k: TopK = None,
    out: Out = None,
) -> None:
    """Judge citations: precision and recall by ALCE's definitions, exact quotations, quotations without an answer."""
    from . import citations as measuring
    from . import hotpotqa

    folder = out or default_out("citations", setting.value, data)
    made = hotpotqa.plan(
        "citations",
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
    )
    measuring.tell(measuring.run(made, folder, scorer=scorer, supported_from=supported_from, seed=seed), folder)


def abstention(
    data: Data,
    setting: SettingOption = SettingName.DISTRACTOR,
    backend: Main = "embedded",
    baseline: Baselines = None,
    calibrate: Annotated[
        Path | None,
        typer.Option(
            "--calibrate",
            help="Other questions of both kinds, to fit thresholds and confidence on; writes calibration.json.",
            show_default=False,
        ),
    ] = None,
    index: IndexFolder = None,
    corpus: CorpusFile = None,
    limit: Limit = None,
    seed: Seed = 0,
    top_k: TopK = None,
    out: Out = None,
) -> None:
    """See whether the agent knows when there is no answer: AUROC, risk against coverage, refusals, calibration.

    Needs questions with and without right answers (`"answers": []`).
    """
    from . import abstention as measuring
    from . import hotpotqa

    folder = out or default_out("abstention", setting.value, data)
    made = hotpotqa.plan(
        "abstention",
        data,
        setting.value,
        [backend, *(baseline or [])],
        out=folder,
        index=index,
        corpus=corpus,
        limit=limit,
        seed=seed,
        top_k=top_k,
    )
    fit = measuring.fitting(made, calibrate) if calibrate else None
    measuring.tell(measuring.run(made, folder, fit=fit, seed=seed), folder)


def ablation(
    data: Data,
    setting: SettingOption = SettingName.DISTRACTOR,
    backend: Annotated[
        str, typer.Option("--backend", help="The embedded reader's weights: embedded[:FILE].")
    ] = "embedded",
    passes: Annotated[int, typer.Option("--passes", min=2, help="What several passes are.")] = 4,
    threshold: Annotated[
        list[float] | None,
        typer.Option(
            "--threshold",
            min=0,
            max=1,
            help="Also commit what is at least so sure, 0 to 1. May be repeated.",
            show_default=False,
        ),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Take denoising apart: one pass, several, re-masking, candidates; and what is committed a pass against F1."""
    from . import ablation as measuring

    folder = out or default_out("ablation", setting.value, data)
    load, fingerprint = measuring.loader(backend)
    chosen = measuring.variants(passes=passes, thresholds=threshold or [])
    made = measuring.plan(data, setting.value, chosen, load, fingerprint=fingerprint, limit=limit, seed=seed)
    measuring.tell(measuring.run(made, folder, seed=seed), folder)


def ragas(
    run: Annotated[Path, typer.Argument(help="A folder of results, such as of hotpotqa.", show_default=False)],
    data: Data,
    index: IndexFolder = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="URL#MODEL of an OpenAI-compatible server; its key from OPENAI_API_KEY. Without one, only what needs none.",
            show_default=False,
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="A model's name or folder. [default: the packaged MiniLM]", show_default=False),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Score a finished run by ragas: faithfulness, answer relevancy, context precision and recall. Needs remask[ragas]."""
    from . import judging

    found = judging.run(run, data=data, index=index, judge=judge, embedder=embedder, limit=limit, seed=seed)
    judging.tell(found, run)
