"""The explorer without its page: fields to change, undo, and the runs behind each answer."""
