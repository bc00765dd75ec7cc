"""Pictures as functions of what was found. They take longer to load than tables: only pages import them."""
