"""Two tasks that read before either writes."""

import asyncio

STOCK = {"apples": 10}


async def take(count):
    seen = STOCK["apples"]  # @bug
    await asyncio.sleep(0)
    STOCK["apples"] = seen - count


async def main():
    await asyncio.gather(take(3), take(4))
    left = STOCK["apples"]
    print(left)  # @why left


asyncio.run(main())
