"""Reports as web pages, and as parts of notebooks."""
