"""What was found, and how far things are, on a terminal."""
