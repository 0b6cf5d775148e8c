"""What the server does beside showing pages: health, metrics, headers, logs."""
