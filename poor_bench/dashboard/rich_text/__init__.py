"""Answers of models as they meant them to look: Markdown, code, formulas, JSON; never as HTML."""
