"""The rules of identifiers over whole columns."""
