"""What crosses the border between this process and candidate code: values, messages, frames."""
