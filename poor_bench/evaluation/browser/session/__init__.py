"""The life of one Chromium: started for a trial, gone afterwards."""
