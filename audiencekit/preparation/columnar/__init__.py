"""The columnar path: decides the values about which it is certain, whole columns at a time."""
