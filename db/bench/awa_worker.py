"""Awa's own worker, for a run of the experiment.

Usage: awa_worker.py QUEUE, with DATABASE_URL in the environment.

Completes what the queue holds. Says "ready" once it works, and ends with its
standard input.
"""

import asyncio
import os
import sys

import awa


async def main(queue):
    client = awa.AsyncClient(os.environ["DATABASE_URL"])

    @client.task(dict, kind="rehearsal", queue=queue)
    async def complete(job):
        return None

    await client.start([{"name": queue, "max_workers": 64}], poll_interval_ms=50)
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await client.shutdown(timeout_ms=500)
    await client.close()


asyncio.run(main(sys.argv[1]))
