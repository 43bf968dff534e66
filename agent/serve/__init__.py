"""An agent over HTTP: its own events, OpenAI's dialect, and a page to watch it work. Needs the extra `serve`."""
