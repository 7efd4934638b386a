"""Issues: pure detectors over results, with causes and fixes.

`detect.detect_issues` runs the detectors, `detect.group_issues` sums their findings up by cause;
`format_tax.format_tax` says what format alone costs.
"""
