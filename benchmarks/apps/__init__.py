"""Applications: algorithms of graph analytics, machine learning and everyday programming, as people write them."""
