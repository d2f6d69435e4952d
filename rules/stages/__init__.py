"""``fatcrate stages``: one kernel from source to machine code, tied by source line."""
