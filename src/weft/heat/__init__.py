"""Hot functions of an unmodified program.  In: a running script; out: its hot functions in native code, or a record of
its types and hot lines.

`manager` samples the stacks and decides, `spots` follows one function from its first sample to its native form,
`trampoline` puts other code behind a function that stays the same object, `elsewhere` compiles in a process of its own.
`recording` notes types for `weft profile`, `hints` keeps them beside the source.
"""
