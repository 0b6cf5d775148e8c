"""What pages share: URL state, controls, cached work, drawing."""
