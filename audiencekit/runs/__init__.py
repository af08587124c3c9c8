"""One execution of a plan: from the source to the report, and what is kept of it."""
