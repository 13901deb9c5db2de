"""OpenAI's Codex CLI as a host, written with the public names of hindnote alone."""
