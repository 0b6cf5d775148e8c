"""What at least two pages use, or the frame around them all; it knows no page."""
