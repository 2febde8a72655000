"""The intermediate representation: frozen, typed, structured; see `program` for the statements and `expr` for the values."""
