"""The explorer's page: the only room that knows NiceGUI."""
