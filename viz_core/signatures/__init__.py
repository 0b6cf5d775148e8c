"""Statistics of a head's attention by distance, each with what chance or uniform attention gives.

Arrays in, small frozen dataclasses out; nothing here knows a model. Curves are nats by distance
d = query - key, for all heads at once, and every null that is drawn has a seed.
"""
