"""The names that others build on. A name that goes or moves breaks someone's program: change this test on purpose only."""

import importlib

import pytest

PROMISED = {
    "agent": "Agent AgentError AgentOptions Answer AnswerReady Citation CitationsFound Conversation DraftMade DraftRefined"
    " EvidenceFound InvalidQuestion InvalidSession LexicalScorer ModelFailed PassMade QuestionRewritten Scorer Sessions"
    " StageBegan Structured Tool ToolCalled ToolFailed Trace",
    "agent.langchain": "DiffusionChatModel HybridRetriever LocalEmbeddings as_runnable",
    "agent.memory": "Conversation RuleRewriter SessionInfo SessionLimits Sessions Turn",
    "agent.tools": "FieldAnswer SchemaUnusable Structured Tool ToolCall ToolFailed",
    "dllm.structured": "CallsTools CompletesJson InfillsJson",
    "agent.errors": "GuardUnusable",
    "agent.guard": "Guard Guarded Rule",
    "agent.handover": "Desk",
    "agent.reply": "Asks Reply Said",
    "agent.report": "Contradiction Report Reporting Statement report",
    "agent.versions": "Version VersionOptions Versions differ disagreements",
    "retrieval": "Document DocumentUnreadable Embedder EmbedderUnavailable FusionOptions HashEmbedder Hit Index IndexBusy"
    " IndexUnusable InvalidDocuments LexicalOptions Passage RetrievalError Retriever SplitOptions build load_embedder split",
    "dllm.backends": "BACKENDS backend looked_at",
    "dllm.draft": "Budget CanvasPass Draft Evidence Generator Mark Prompt Source Token finish",
    "dllm.errors": "BackendUnavailable GenerationFailed ModelError PromptTooLong TrainingDataUnusable WeightsUnusable",
    "dllm.hosted.endpoint": "Endpoint mercury openai",
    "dllm.hosted.generator": "HostedGenerator",
    "dllm.mini.reader": "EmbeddedReader ReaderOptions",
    "dllm.mini.train": "TrainOptions Trainer",
    "dllm.scripted": "ScriptedGenerator",
}


@pytest.mark.parametrize("home", PROMISED)
def test_promised_names_are_there(home: str) -> None:
    module = importlib.import_module(f"remask.{home}")
    assert [name for name in PROMISED[home].split() if not hasattr(module, name)] == []


@pytest.mark.parametrize("home", ["agent", "retrieval"])
def test_every_name_that_a_package_lists_can_be_imported_and_is_listed_once(home: str) -> None:
    module = importlib.import_module(f"remask.{home}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(module.__all__) == len(set(module.__all__))
