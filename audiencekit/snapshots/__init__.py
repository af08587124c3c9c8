"""Who is in an audience under sync, by hash, and until when: sealed files, and how one follows another."""
