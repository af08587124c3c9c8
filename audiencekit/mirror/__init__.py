"""The state directory in a bucket: sealed objects, one holder at a time, every change stored before a request leaves."""
