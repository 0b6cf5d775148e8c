"""The server's log: one JSON object a line on standard error, for machines that read logs."""

from __future__ import annotations

import json
import logging
import os
import sys
import time

log = logging.getLogger("atlas")


class Lines(logging.Formatter):
    """A record as one line of JSON: time (UTC), level, message, and what `extra` adds."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        entry = {"time": stamp, "level": record.levelname.lower(), "event": record.getMessage()}
        entry |= getattr(record, "data", {})
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def start() -> None:
    """Sends the app's own log to standard error, as JSON where ATLAS_LOG is "json"."""
    if log.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    if os.environ.get("ATLAS_LOG") == "json":
        handler.setFormatter(Lines())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def unforeseen(error: Exception) -> bool:
    """Logs an error that no page has a sentence for; the page says that there was one."""
    log.error("unforeseen error", exc_info=error)
    return False  # Streamlit shows its type, as the configuration says
