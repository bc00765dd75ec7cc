"""What was found as columns and rows of text, and in a sentence; no pictures, no terminal."""
