"""LangChain parts made of ours. Needs the extra: pip install 'remask[langchain]'."""
