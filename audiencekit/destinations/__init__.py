"""The places where people are sent, a module each: the kinds that they take, the form of requests, and the calls."""
