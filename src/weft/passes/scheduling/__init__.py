"""The parts of `schedule`: statements become loops."""
