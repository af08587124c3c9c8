"""One execution of a plan: from the source to the report, and the files of it that are stored."""
