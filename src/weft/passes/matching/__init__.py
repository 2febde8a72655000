"""The parts of `match`: products found by their meaning, in whole, in panels or in blocks."""
