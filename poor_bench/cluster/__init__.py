r"""Many machines behind one run: requests and scoring on the workers of a dask cluster.

Queues, limits, budget, retries and the journal stay here, with `pool/`, `calls/` and `runner/`:

```
pool -> RemoteTrials, in chunks ------------------\
     -> retries -> LLMManager -> RemoteProvider    > ClusterSession -> dask -> work on a worker
rescore -> RemoteScorer, in chunks ---------------/
```

Trials travel in chunks that last about a second: a chunk is one dask task. A worker asks and scores
the trials of a chunk one after another, and tells each answer and each score as soon as it exists.

The package `distributed` is imported when a session is opened, and by nothing else.
"""

from __future__ import annotations

import pickle
from typing import Any


def run_pickled(payload: bytes) -> Any:
    """Call a pickled function with its pickled arguments.

    The one function that dask knows. The scheduler imports it, too, but never opens the payload: so
    this module stays light.
    """
    do, arguments = pickle.loads(payload)  # noqa: S301 - dask itself trusts its clients so
    return do(*arguments)
