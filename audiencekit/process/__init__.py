"""The process itself: signals, memory, workers, the event loop, programs that it starts."""
