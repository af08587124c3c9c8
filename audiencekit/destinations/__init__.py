"""The places where people go, a module each: what they take, the form of their requests, the calls that send these."""
