"""From the files of public benchmarks, and tables of one's own, to tests."""
