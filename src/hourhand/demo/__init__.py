"""Demo: sample tasks of a small shop, which show what a task can be, and a day that they might have had."""
