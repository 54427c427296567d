"""Awa's own Python client as contending producers.

Usage: awa_producers.py URL QUEUE PRODUCERS SECONDS HOLD_MS

Each producer inserts one job a transaction through the client's own insert and
keeps the transaction open for HOLD_MS afterwards. Prints one JSON object:
enqueued jobs, errors by class, seconds.
"""

import collections
import dataclasses
import json
import sys
import threading
import time

import awa


@dataclasses.dataclass
class Work:
    n: int


def produce(client, queue, until, hold, n, counts, errors):
    while time.monotonic() < until:
        try:
            with client.transaction() as tx:
                tx.insert(Work(n=n), kind="work", queue=queue)
                time.sleep(hold)
            counts[n] += 1
        except Exception as e:  # counted by class, reported at the end
            errors[f"{type(e).__name__}: {e}"] += 1


def main():
    url, queue = sys.argv[1], sys.argv[2]
    producers, seconds, hold = int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]) / 1000
    client = awa.Client(url, max_connections=producers)
    counts, errors = [0] * producers, collections.Counter()
    began = time.monotonic()
    threads = [
        threading.Thread(target=produce, args=(client, queue, began + seconds, hold, n, counts, errors))
        for n in range(producers)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(json.dumps({"enqueued": sum(counts), "errors": dict(errors), "seconds": time.monotonic() - began}))


if __name__ == "__main__":
    main()
