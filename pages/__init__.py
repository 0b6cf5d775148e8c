"""The pages of the app: a folder each, with `page.py`; what two of them use is in `_shared`."""
