"""Arrays, tables, graphs, pictures and records."""

import datetime
import io

import arrow
import attrs
import dask
import dateutil.parser
import dateutil.relativedelta
import dateutil.rrule
import joblib
import marshmallow
import matplotlib

matplotlib.use("Agg")
import matplotlib.figure
import msgspec
import networkx
import numpy as np
import orjson
import pandas as pd
import pydantic
from PIL import Image
from sortedcontainers import SortedDict

from . import application, attempt


@application("numpy.ndarray")
def use_array(wrap):
    array = wrap(np.array([[1.0, 2.0], [3.0, 0.0]]))
    return [
        array.sum(axis=0).tolist(),
        (array @ np.eye(2)).tolist(),
        (1 / array).tolist(),  # warns of the zero, at this line
        np.log(array).tolist(),
        attempt(array.reshape, 3),
        attempt(lambda: array + np.zeros(3)),
        attempt(lambda: array[5]),
        array.T.shape,
        np.mean(array, axis=1).tolist(),
        float(array[0, 1]),
        [row.tolist() for row in array],
    ]


@application("numpy.random.Generator")
def use_random(wrap):
    random = wrap(np.random.default_rng(7))
    return [
        random.integers(0, 10, 5).tolist(),
        random.choice(["a", "b"], 3).tolist(),
        attempt(random.choice, []),
        attempt(random.normal, scale=-1),
    ]


@application("pandas.DataFrame")
def use_frame(wrap):
    frame = wrap(pd.DataFrame({"item": ["tea", "cake", "tea"], "price": [3, 5, 4]}))
    return [
        frame.groupby("item")["price"].sum().to_dict(),
        frame[frame["price"] > 3]["item"].tolist(),
        frame.sort_values("price").iloc[0].to_dict(),
        attempt(lambda: frame["colour"]),
        attempt(frame.merge, pd.DataFrame({"n": [1]})),
        attempt(frame.astype, {"item": int}),
        frame.describe().loc["mean", "price"],
        frame.assign(double=lambda rows: rows["price"] * 2)["double"].tolist(),
        frame.shape,
        len(frame),
        frame.to_json(),
    ]


@application("pandas.Series")
def use_series(wrap):
    prices = wrap(pd.Series([3, None, 5], index=list("abc")))
    return [
        prices.mean(),
        prices.fillna(0).tolist(),
        (prices + 1).tolist(),
        attempt(lambda: prices["z"]),
        attempt(prices.astype, int),
        prices.str is None if hasattr(prices, "str") else "no text",
        prices.map(lambda price: price * 2).tolist(),
    ]


class Order(pydantic.BaseModel):
    item: str
    count: int = pydantic.Field(gt=0)
    model_config = pydantic.ConfigDict(validate_assignment=True)

    @property
    def total(self):
        return {"tea": 3}[self.item] * self.count


@application("pydantic")
def use_model(wrap):
    order = wrap(Order(item="tea", count=2))
    order.count = 4
    return [
        order.model_dump(),
        order.model_dump_json(),
        attempt(setattr, order, "count", 0),
        attempt(order.model_validate, {"item": 1}),
        order.total,
        order.model_copy(update={"item": "cake"}).item,
        attempt(lambda: order.dict()),  # deprecated: it warns
        order == order,
    ]


@application("pydantic class")
def use_model_class(wrap):
    orders = wrap(Order)
    return [
        orders(item="tea", count="3").count,
        attempt(orders, item="tea"),
        orders.model_json_schema()["required"],
        attempt(orders.model_validate_json, "{"),
    ]


@attrs.define
class Item:
    name: str = attrs.field(validator=attrs.validators.instance_of(str))
    price: int = attrs.field(default=1, validator=attrs.validators.ge(0))


@application("attrs")
def use_attrs(wrap):
    item = wrap(Item("tea", 3))
    item.price = 4
    return [
        attrs.asdict(item._target if hasattr(item, "_target") else item),
        attempt(setattr, item, "price", -1),
        attempt(setattr, item, "colour", "green"),
        repr(item),
        item.name,
    ]


@application("attrs class")
def use_attrs_class(wrap):
    items = wrap(Item)
    return [items("tea"), attempt(items, 3), attempt(items), items.__name__]


class Row(msgspec.Struct):
    name: str
    price: int = 1


@application("msgspec", placeholder=True)
def use_msgspec(wrap):
    decoder = wrap(msgspec.json.Decoder(list[Row]))
    return [
        decoder.decode(b'[{"name": "tea", "price": 3}]'),
        attempt(decoder.decode, b'[{"name": 3}]'),
        attempt(decoder.decode, b"["),
    ]


@application("orjson")
def use_orjson(wrap):
    dumps, loads = wrap(orjson.dumps), wrap(orjson.loads)
    return [
        dumps({"day": datetime.date(2026, 1, 2)}, option=orjson.OPT_INDENT_2),
        attempt(dumps, {1, 2}),
        loads(b"[1]"),
        attempt(loads, b"["),
    ]


class OrderSchema(marshmallow.Schema):
    item = marshmallow.fields.Str(required=True)
    count = marshmallow.fields.Int(validate=marshmallow.validate.Range(min=1))


@application("marshmallow")
def use_schema(wrap):
    schema = wrap(OrderSchema())
    return [
        schema.load({"item": "tea", "count": "2"}),
        attempt(schema.load, {"count": 0}),
        schema.dump({"item": "tea", "count": 1}),
        schema.validate({"colour": "green"}),
        attempt(schema.loads, "{"),
    ]


@application("networkx")
def use_graph(wrap):
    graph = wrap(networkx.Graph())
    graph.add_edges_from([("a", "b"), ("b", "c"), ("d", "e")])
    return [
        sorted(graph.nodes),
        graph.degree["b"],
        graph.number_of_edges(),
        attempt(graph.remove_node, "z"),
        attempt(graph.neighbors, "z"),
        networkx.shortest_path(graph, "a", "c"),
        attempt(networkx.shortest_path, graph, "a", "e"),
        sorted(map(sorted, networkx.connected_components(graph))),
        "a" in graph,
        len(graph),
    ]


@application("matplotlib", placeholder=True)
def use_figure(wrap):
    figure = wrap(matplotlib.figure.Figure(figsize=(2, 2)))
    axes = figure.add_subplot(1, 1, 1)
    axes.plot([1, 2], [3, 4], label="price")
    axes.legend()
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return [
        len(figure.axes),
        picture.getvalue()[:4],
        attempt(figure.add_subplot, 2, 2, 9),
        attempt(figure.savefig, picture, format="nothing"),
        attempt(axes.plot, [1], [1, 2]),
    ]


@application("pillow", placeholder=True)
def use_image(wrap):
    image = wrap(Image.new("RGB", (4, 3), "red"))
    image.putpixel((0, 0), (0, 255, 0))
    stored = io.BytesIO()
    image.save(stored, "PNG")
    return [
        image.size,
        image.getpixel((0, 0)),
        image.resize((2, 2)).size,
        attempt(image.getpixel, (9, 9)),
        attempt(image.convert, "nothing"),
        attempt(image.save, stored, "nothing"),
        stored.getvalue()[:4],
    ]


@application("python-dateutil")
def use_dateutil(wrap):
    parser = wrap(dateutil.parser.parser())
    rule = wrap(dateutil.rrule.rrule(dateutil.rrule.DAILY, count=3, dtstart=datetime.datetime(2026, 1, 30)))
    delta = wrap(dateutil.relativedelta.relativedelta(months=1))
    return [
        parser.parse("2026-01-02 3pm"),
        attempt(parser.parse, "not a day"),
        [day.day for day in rule],
        rule[1].day,
        rule.after(datetime.datetime(2026, 1, 30)).day,
        datetime.date(2026, 1, 31) + delta,
        (delta * 2).months,
        attempt(rule.replace, nothing=1),
    ]


@application("arrow")
def use_arrow(wrap):
    day = wrap(arrow.get(2026, 1, 31, tzinfo="UTC"))
    return [
        day.shift(months=1).isoformat(),
        day.format("YYYY"),
        day.humanize(arrow.get(2026, 2, 1, tzinfo="UTC")),
        attempt(day.replace, nothing=1),
        attempt(day.to, "Nowhere/City"),
        day.year,
        day < arrow.get(2027, 1, 1),
    ]


def double(number):
    return 2 * number


@application("joblib", placeholder=True)
def use_joblib(wrap):
    parallel = wrap(joblib.Parallel(n_jobs=1))
    return [
        parallel(joblib.delayed(double)(number) for number in range(3)),
        attempt(parallel, [joblib.delayed(double)(None)]),
    ]


@application("dask", placeholder=True)
def use_dask(wrap):
    total = wrap(dask.delayed(sum)([dask.delayed(double)(2), 3]))
    broken = wrap(dask.delayed(double)(None))
    return [total.compute(scheduler="sync"), attempt(broken.compute, scheduler="sync")]


@application("sortedcontainers")
def use_sorted(wrap):
    table = wrap(SortedDict({"b": 2, "a": 1}))
    table["c"] = 3
    return [
        list(table),
        table.peekitem(0),
        attempt(lambda: table["z"]),
        attempt(table.peekitem, 9),
        list(table.irange("b")),
        table.pop("a"),
        dict(table),
        len(table),
    ]
