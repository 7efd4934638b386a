"""HTTP for providers: connections, deadlines, streams; knows nothing of any wire format."""
