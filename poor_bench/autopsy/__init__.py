"""Why a model's scores changed between two runs, by re-runs with single changes taken back."""
