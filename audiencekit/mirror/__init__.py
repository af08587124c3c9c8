"""The state directory in a bucket: sealed, with one holder at a time, each change stored before a request leaves."""
