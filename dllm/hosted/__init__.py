"""Models behind an HTTP API: Inception's Mercury, and every server that speaks OpenAI's dialect. Knows text, no logits."""
