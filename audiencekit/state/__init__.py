"""Files that last: private files, locks, keys, credentials, the spool, the state directory."""
