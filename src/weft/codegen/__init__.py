"""Back ends.  In: a lowered Program; out: code in another language and the description of how to call it."""
