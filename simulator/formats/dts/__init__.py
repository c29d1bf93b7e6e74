"""Alibaba Cloud DTS: one module a format; `types` and `text` say how values look. Read `canal_json` first."""
