"""Questions about programs: what is read and written, what depends on what, what is provable.  Nothing changes one."""
