"""The access to the compiled kernels. The code that uses a kernel calls it (`*kernels.py`)."""
