"""What the server counts of itself, for Prometheus: computations, who waits, what is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from viz_core.errors import AtlasError

registry = CollectorRegistry()
computations = Counter(
    "atlas_computations", "Computations by kind and outcome", ["what", "outcome"], registry=registry
)
seconds = Histogram(
    "atlas_computation_seconds",
    "Time of computations that were finished",
    ["what"],
    buckets=(0.1, 0.3, 1, 3, 10, 30, 100, 300),
    registry=registry,
)
waiting = Gauge("atlas_waiting", "People in line for the device", registry=registry)
found = Counter("atlas_found", "Results that were there already", ["where"], registry=registry)


@contextmanager
def counted(what: str) -> Iterator[None]:
    """Counts the work within as "done", "refused" (with a sentence), "cancelled" or "failed"."""
    started, outcome = time.monotonic(), "cancelled"  # what Streamlit stops is no Exception
    try:
        yield
        outcome = "done"
        seconds.labels(what).observe(time.monotonic() - started)
    except AtlasError:
        outcome = "refused"
        raise
    except Exception:
        outcome = "failed"
        raise
    finally:
        computations.labels(what, outcome).inc()


def exposition() -> bytes:
    """All of it in Prometheus' text format."""
    return generate_latest(registry)
