"""Reports: from results to text in several formats; no files are read or written here."""
