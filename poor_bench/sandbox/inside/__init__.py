"""What runs in processes of the sandbox: the zygote, and the children that it forks."""
