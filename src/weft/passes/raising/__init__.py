"""The parts of `raise_loops`: loops become statements over domains."""
