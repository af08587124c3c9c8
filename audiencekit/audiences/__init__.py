"""The features that are built of runs: sync, erasure, do-not-reach lists, flexible audiences, setups."""
