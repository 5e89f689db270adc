"""Boolean subscriptions on Spark: build an index in parallel, match DataFrames and streams.

    from boolfilter import spark as bfs

    subscriptions = bfs.generate.subscriptions(session, workload="paper", n=100_000, seed=1)
    events = bfs.generate.events(session, workload="paper", n=1_000_000, seed=2)
    index = bfs.build(subscriptions, id="id", expression="expression", path="/shared/index")
    index.match(events, event_id="event_id")       # DataFrame(event_id, subscription_id), lazy

An index is a folder that the driver and all executors see under one path. Importing boolfilter
never imports this package, which needs pyspark.
"""

from boolfilter.spark import generate
from boolfilter.spark.building import build
from boolfilter.spark.errors import IndexPathError, RejectedSubscriptionsError, ShardError
from boolfilter.spark.index import Index, open_index

open = open_index

__all__ = [
    "Index",
    "IndexPathError",
    "RejectedSubscriptionsError",
    "ShardError",
    "build",
    "generate",
    "open",
]
