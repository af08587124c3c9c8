"""The rule for one value of each kind of identifier. These rules define which values are correct."""
