"""The parts of `simplify`: rules of algebra, domains, dead code."""
