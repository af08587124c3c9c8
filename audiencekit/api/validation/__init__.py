"""The parameters of a call, checked against the catalogue before anything is sent."""
