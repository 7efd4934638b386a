"""Issues page: causes of lost score, with fixes."""
