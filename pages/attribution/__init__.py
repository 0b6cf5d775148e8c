"""Attribution: what attention says beside what predictions use."""
