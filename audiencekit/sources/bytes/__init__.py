"""The bytes of a file: unpacked, decoded to UTF-8, cut into lines."""
