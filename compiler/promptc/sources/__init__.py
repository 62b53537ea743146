"""Where content comes from that is neither in the pack's templates nor in the state: segment stores, retrieval indexes."""
