"""Hot functions of an unmodified program.  In: a running script; out: its hot functions in native code, or a record of
its types and hot lines.

`early` waits until a program has run for a while, `manager` samples the stacks and decides, `spots` follows a function
from its first sample to its native form, `trampoline` puts other code behind a function that stays the same object,
`elsewhere` compiles in a process of its own.  `underway` follows the loop that the main thread is in (`standing`),
`outline` makes a function of it, `loops` and `entering` let native code take it over while it runs.  `remembered` notes
for the next run what was hot.  `recording` notes
types for `weft profile`, `hints` keeps them beside the source.
"""
