"""Pages and modules that are made from the code. `python -m generators` writes them anew; a test compares them."""
