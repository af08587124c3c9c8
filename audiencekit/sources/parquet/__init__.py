"""Parquet files, prepared files, and directories of them."""
