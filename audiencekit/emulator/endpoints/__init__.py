"""The endpoints of the emulator, a module for each section of the specification."""
