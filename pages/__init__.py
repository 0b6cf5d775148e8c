"""The pages of the app, found by folder: each public module exposes one `PAGE`."""
