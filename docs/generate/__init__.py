"""Pages and types that are made, not written: from the schema, from the command line, from the examples."""
