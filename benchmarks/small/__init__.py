"""Small programs of many kinds, as people write them: what `benchmarks/never_slower.py` runs."""
