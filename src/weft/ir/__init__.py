"""The intermediate representation: frozen, typed, structured; `program` has the statements, `expr` the values."""
