"""The door to the compiled kernels. Each function of theirs is called by the code that has its use (`*kernels.py`)."""
