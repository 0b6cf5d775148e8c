"""Extrapolation: losses past the trained length, by protocol, encoding and scaling."""
