"""Clients, servers and their frameworks. Nothing here leaves the process."""

import warnings

import aiohttp
import fakeredis
import flask
import httpx
import jinja2
import requests
from requests.adapters import BaseAdapter
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from . import application, attempt


class Echo(BaseAdapter):
    """Answers every request with its own address, without a network."""

    def send(self, request, **options):
        response = requests.Response()
        response.status_code = 404 if "missing" in request.url else 200
        response.url, response.request = request.url, request
        response._content = request.url.encode()
        return response

    def close(self):
        pass


@application("requests")
def use_requests(wrap):
    session = requests.Session()
    session.mount("mock://", Echo())
    with wrap(session) as session:
        session.headers.update({"x-shop": "tea"})
        answer = session.get("mock://shop/tea", params={"n": 1})
        missing = session.get("mock://shop/missing")
        return [
            (answer.status_code, answer.text, session.headers["x-shop"]),
            attempt(missing.raise_for_status),
            attempt(session.get, "nowhere"),
            attempt(session.get, "other://shop"),
            attempt(session.request),
        ]


@application("requests.Response")
def use_response(wrap):
    response = requests.Response()
    response.status_code, response.url, response._content = 500, "mock://shop", b'{"a": 1'
    response = wrap(response)
    return [response.ok, len(response.content), attempt(response.json), attempt(response.raise_for_status)]


def answer_httpx(request):
    path = request.url.path
    if path == "/broken":
        raise httpx.ConnectError("no connection")
    return httpx.Response(404 if path == "/missing" else 200, json={"path": path})


@application("httpx.Client", placeholder=True)
def use_httpx(wrap):
    client = httpx.Client(transport=httpx.MockTransport(answer_httpx), base_url="http://shop")
    with wrap(client) as client:
        answer = client.get("/tea", params={"n": 1})
        return [
            (answer.status_code, answer.json()),
            attempt(client.get("/missing").raise_for_status),
            attempt(client.get, "/broken"),
            [line for line in client.stream("GET", "/tea").__enter__().iter_lines()],
        ]


@application("httpx.AsyncClient", placeholder=True)
async def use_async_httpx(wrap):
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer_httpx), base_url="http://shop")
    async with wrap(client) as client:
        answer = await client.get("/tea")
        missing = await client.get("/missing")
        try:
            await client.get("/broken")
        except httpx.ConnectError as error:
            failure = attempt(raise_again, error)
        return [(answer.status_code, answer.json()), attempt(missing.raise_for_status), failure]


def raise_again(error):
    raise error


@application("aiohttp", placeholder=True)
async def use_aiohttp(wrap):
    from aiohttp import web
    from aiohttp.test_utils import TestServer

    async def greet(request):
        return web.json_response({"name": request.match_info["name"]})

    site = web.Application()
    site.router.add_get("/hello/{name}", greet)
    async with TestServer(site) as server, wrap(aiohttp.ClientSession(base_url=server.make_url("/"))) as session:
        async with session.get("/hello/tea") as answer:
            greeting = await answer.json()
        async with session.get("/nothing") as answer:
            status = answer.status
            try:
                answer.raise_for_status()
            except aiohttp.ClientResponseError as error:
                message = error.message
    return greeting, status, message, session.closed


@application("flask", placeholder=True)
def use_flask(wrap):
    site = flask.Flask("shop")

    @site.get("/price/<item>")
    def price(item):
        site.logger.warning("asked for %s", item)
        return {"price": {"tea": 3}[item]}

    @site.errorhandler(KeyError)
    def missing(error):
        return {"error": str(error)}, 404

    client = wrap(site.test_client())
    found, lost = client.get("/price/tea"), client.get("/price/gold")
    return [found.json, lost.status_code, lost.json, attempt(client.get, "/price", base_url=3)]


@application("flask.Flask", placeholder=True)
def use_flask_application(wrap):
    site = wrap(flask.Flask("shop"))

    @site.route("/tea")
    def tea():
        raise LookupError("no tea")

    with site.test_request_context("/tea"):
        address = site.url_for("tea")
    site.testing = True
    return [address, attempt(site.test_client().get, "/tea"), attempt(site.url_for, "cake")]


@application("starlette", placeholder=True)
def use_starlette(wrap):
    async def price(request):
        return JSONResponse({"price": {"tea": 3}[request.path_params["item"]]})

    site = wrap(Starlette(routes=[Route("/price/{item}", price, name="price")]))
    return [
        str(site.url_path_for("price", item="tea")),
        attempt(site.url_path_for, "cake"),
        [route.path for route in site.routes],
    ]


@application("jinja2")
def use_jinja(wrap):
    environment = wrap(jinja2.Environment())
    template = environment.from_string("{% for item in items %}{{ item|upper }} {% endfor %}")
    return [
        template.render(items=["tea", "cake"]),
        attempt(environment.from_string, "{% for %}"),
        attempt(environment.from_string("{{ 1 / 0 }}").render),
        attempt(environment.get_template, "shop.html"),
        environment.globals["range"](3),
    ]


@application("jinja2.Template", placeholder=True)
def use_template(wrap):
    template = wrap(jinja2.Template("{{ greeting }} {{ name.first }}"))
    return [
        template.render(greeting="hello", name={"first": "Ann"}),
        attempt(template.render, greeting="hello"),
        "".join(template.generate(greeting="a", name={"first": "b"})),
    ]


@application("redis", placeholder=True)
def use_redis(wrap):
    store = wrap(fakeredis.FakeRedis(decode_responses=True))
    with store.pipeline() as pipe:
        pipe.set("tea", 3).incr("tea").execute()
    return [
        store.get("tea"),
        store.mget("tea", "cake"),
        attempt(store.incr, "tea", "many"),
        attempt(store.lpush, "tea", 1),
        sorted(store.scan_iter("t*")),
    ]


@application("urllib.request", placeholder=True)
def use_urllib(wrap):
    from urllib.request import Request, build_opener

    opener = wrap(build_opener())
    with opener.open("data:text/plain,tea") as answer:
        text = answer.read()
    with warnings.catch_warnings():
        return [text, attempt(opener.open, Request("odd:tea")), attempt(opener.open, "tea")]
