"""Space-time adaptive processing of radar data: `cubes` makes data, `chain` finds the targets in it, `python -m
benchmarks.apps.stap` measures."""
