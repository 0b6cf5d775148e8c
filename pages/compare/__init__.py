"""Compare, the home page: up to four heads side by side, as maps, walls and curves."""
