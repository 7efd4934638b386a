"""Which of two conversations is better: asked in both orders, since judges like the first one."""
