"""What the Linux kernel offers to lock a process in; each part raises OSError where it does not."""
