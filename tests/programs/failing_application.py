"""An application that ends with an exception in a thread, in a task, and at its top level."""

import asyncio
import sys
import threading


class Shop:
    def sell(self, item):
        try:
            return {}[item]
        except KeyError:
            raise ValueError("no " + item)

    async def deliver(self, item):
        return self.sell(item)


async def main(shop):
    asyncio.get_running_loop().create_task(shop.deliver("tea"))
    await asyncio.sleep(0.1)


if __name__ == "__main__":
    shop = Shop()
    if sys.argv[1] != "plain":
        from holdfast import configure_debug, with_debug

        configure_debug(mode=sys.argv[1])
        with_debug("ON")
        shop = with_debug(shop)
    thread = threading.Thread(target=lambda: shop.sell("milk"), name="seller")
    thread.start()
    thread.join()
    asyncio.run(main(shop))
    try:
        1 / 0
    except ZeroDivisionError:
        shop.sell("salt")
