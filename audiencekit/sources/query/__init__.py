"""One SELECT over the sources (`sql=`), executed in a process of its own."""
