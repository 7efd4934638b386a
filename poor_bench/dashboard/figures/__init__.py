"""Charts: pure functions from rows to plotly figures."""
