"""Tell a person how runs ended: which notices follow from a run, the message, and its delivery."""
