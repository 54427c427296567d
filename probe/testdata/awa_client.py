"""Awa's own Python client, told what to do by a test.

Usage: awa_client.py URL

Reads commands from standard input, one JSON object a line, and answers each
with one line: {"ok": ...} or {"error": "..."}. Ends with its input.
"""

import asyncio
import collections
import dataclasses
import itertools
import json
import sys
import threading
import time

import awa


@dataclasses.dataclass
class Work:
    n: int


class Load:
    """Producers that insert one job a transaction and keep it open for a while."""

    def __init__(self, client, queue, producers, hold):
        self.client, self.queue, self.hold = client, queue, hold
        self.counts, self.errors = [0] * producers, collections.Counter()
        self.ending = threading.Event()
        self.threads = [threading.Thread(target=self.produce, args=(n,)) for n in range(producers)]
        for t in self.threads:
            t.start()

    def produce(self, n):
        while not self.ending.is_set():
            try:
                with self.client.transaction() as tx:
                    tx.insert(Work(n=n), kind="work", queue=self.queue)
                    time.sleep(self.hold)
                self.counts[n] += 1
            except Exception as e:  # counted by class, reported at the end
                self.errors[f"{type(e).__name__}: {e}"] += 1

    def stop(self):
        self.ending.set()
        for t in self.threads:
            t.join()
        return dict(self.errors)


async def work(url, queue, most):
    """Runs Awa's worker until it has completed so many jobs, maybe a few more."""
    client = awa.AsyncClient(url)
    done, enough = 0, asyncio.Event()

    @client.task(Work, kind="work", queue=queue)
    async def handle(job):
        nonlocal done
        if enough.is_set():
            await asyncio.sleep(3600)  # cut off by the shutdown
        await asyncio.sleep(0.002)
        done += 1
        if done >= most:
            enough.set()

    await client.start([{"name": queue, "max_workers": 16}], poll_interval_ms=50)
    try:
        await asyncio.wait_for(enough.wait(), 40)
        await asyncio.sleep(0.2)  # completions go out in batches
    finally:
        await client.shutdown(timeout_ms=200)
        await client.close()
    return done


class Session:
    def __init__(self, url):
        self.url, self.client = url, awa.Client(url, max_connections=40)
        self.held, self.numbers, self.load = {}, itertools.count(1), None

    def version(self):
        return awa.current_migration_version()

    def begin(self, queue, priority, key):
        """Enqueues one job and keeps the transaction open."""
        tx = self.client.transaction().__enter__()
        pid = tx.fetch_one("select pg_backend_pid() as pid")["pid"]
        tx.insert(Work(n=0), kind="work", queue=queue, priority=priority, ordering_key=key or None)
        number = next(self.numbers)
        self.held[number] = tx
        return {"number": number, "pid": pid}

    def commit(self, number):
        self.held.pop(number).commit()

    def rollback(self, number):
        self.held.pop(number).rollback()

    def batch(self, queue, priority, jobs, key):
        many = [Work(n=n) for n in range(jobs)]
        return self.client.enqueue_many_copy(
            many, kind="work", queue=queue, priority=priority, ordering_key=key or None)

    def cancel(self, ids):
        for n in ids:
            if self.client.cancel(n) is None:
                raise RuntimeError(f"job {n} was not cancelled")

    def stats(self, queue):
        for s in self.client.queue_stats():
            if s.queue == queue:
                return {"available": s.available, "lag": s.lag_seconds}
        return {"available": 0, "lag": None}

    def work(self, queue, jobs):
        return asyncio.run(work(self.url, queue, jobs))

    def produce(self, queue, producers, hold):
        self.load = Load(self.client, queue, producers, hold)

    def counted(self):
        return {"jobs": sum(self.load.counts), "at": time.monotonic()}

    def stop(self):
        errors, self.load = self.load.stop(), None
        return errors


def main():
    session = Session(sys.argv[1])
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": getattr(session, command.pop("do"))(**command)}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)
    if session.load:
        session.load.stop()
    session.client.close()


if __name__ == "__main__":
    main()
