"""Tasks that wait in every common way while one of them works."""

import asyncio
import sys


async def sleeper():
    await asyncio.sleep(3600)  # @sleep


async def waits_for(task):
    await task  # @task


async def locked(lock):
    async with lock:  # @lock
        pass


async def gets(queue):
    return await queue.get()  # @queue


async def gathers(*tasks):
    await asyncio.gather(*tasks)  # @gather


async def adds(a, b):
    await asyncio.sleep(0)
    total = a + b  # @add
    return total  # @return


async def main():
    lock, queue = asyncio.Lock(), asyncio.Queue()
    await lock.acquire()
    sleeping = asyncio.create_task(sleeper(), name="sleeping")
    other = asyncio.create_task(sleeper(), name="other")
    waiting = [
        asyncio.create_task(waits_for(sleeping), name="waits for a task"),
        asyncio.create_task(locked(lock), name="waits for a lock"),
        asyncio.create_task(gets(queue), name="waits for a queue"),
        asyncio.create_task(gathers(sleeping, other), name="waits for several"),
    ]
    total = await adds(2, 3)  # @call
    print("total", total, flush=True)
    if sys.argv[1:] == ["stay"]:
        await asyncio.sleep(3600)  # @stay
    for task in [*waiting, sleeping, other]:
        task.cancel()
    await asyncio.gather(*waiting, sleeping, other, return_exceptions=True)


asyncio.run(main())
