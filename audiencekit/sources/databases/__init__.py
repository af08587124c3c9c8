"""The result of one query to a database: read only, of one moment, in batches."""
