"""What the explorer does, without its page: what can be changed, undo, and the runs behind each answer."""
