r"""Many machines behind one run: requests and scoring on the workers of a dask cluster.

Queues, limits, budget, retries and the journal stay here, with `pool/`, `calls/` and `runner/`:

```
pool -> TrialJobs -> LLMManager -> RemoteProvider \
                  -> RemoteScorer                  > ClusterSession -> dask -> work on a worker
rescore -> chunks --------------------------------/
```

The package `distributed` is imported by `session` and by nothing else, when a session is opened.
"""
