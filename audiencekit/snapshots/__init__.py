"""The members of an audience under sync, by hash, with their expiry: sealed files, and how one replaces another."""
