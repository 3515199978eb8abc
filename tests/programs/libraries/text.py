"""Parsers, writers, consoles and command lines."""

import io
import json
import re
import xml.etree.ElementTree

import bs4
import click
import click.testing
import jsonschema
import lxml.etree
import rich.console
import rich.table
import tomlkit
import typer
import typer.testing
import yaml

from . import application, attempt


@application("pyyaml", placeholder=True)
def use_yaml(wrap):
    loader = wrap(yaml.SafeLoader("a: [1, 2]\nb: {c: tea}\n"))
    safe = wrap(yaml.safe_load)
    return [
        loader.get_single_data(),
        safe("- 1\n- two\n"),
        attempt(safe, "a: [1"),
        attempt(safe, "!!python/object:os.system {}"),
        wrap(yaml.safe_dump)({"b": 1, "a": [1]}),
    ]


@application("lxml", placeholder=True)
def use_lxml(wrap):
    root = wrap(lxml.etree.fromstring("<shop><item price='3'>tea</item><item>cake</item></shop>"))
    return [
        root.tag,
        [item.text for item in root],
        root.xpath("//item[@price]/text()"),
        root.find("item").get("price"),
        attempt(root.xpath, "//["),
        attempt(root.set, "a", 3),
        len(root),
        bool(root),  # warns, at this line
    ]


@application("lxml.XMLParser", placeholder=True)
def use_parser(wrap):
    parser = wrap(lxml.etree.XMLParser(recover=False, target=lxml.etree.TreeBuilder()))
    parser.feed("<shop>")
    parser.feed("</shop>")
    root = parser.close()
    return [root.tag, attempt(parser.feed, 3)]


@application("xml.etree")
def use_element(wrap):
    root = wrap(xml.etree.ElementTree.fromstring("<shop><item price='3'>tea</item></shop>"))
    return [
        root.find("item").text,
        [item.get("price") for item in root.iter("item")],
        attempt(root.find, "["),
        attempt(root.remove, xml.etree.ElementTree.Element("x")),
        len(root),
        root.attrib,
    ]


@application("beautifulsoup4", placeholder=True)
def use_soup(wrap):
    soup = wrap(bs4.BeautifulSoup("<p class=a>tea <b>hot</b></p><p>cake</p>", "html.parser"))
    return [
        [each.get_text() for each in soup.find_all("p")],
        soup.select_one("p.a b").string,
        attempt(soup.select, "p["),
        soup.p["class"],
        attempt(lambda: soup["id"]),
        soup.findAll("b")[0].name,  # deprecated: it warns
        str(soup.b),
    ]


@application("jsonschema")
def use_jsonschema(wrap):
    validator = wrap(jsonschema.Draft202012Validator({"type": "object", "required": ["item"]}))
    return [
        validator.is_valid({"item": 1}),
        [error.message for error in validator.iter_errors({})],
        attempt(validator.validate, {}),
        attempt(validator.check_schema, {"type": 3}),
    ]


@application("tomlkit")
def use_tomlkit(wrap):
    document = wrap(tomlkit.parse("[shop]\nname = 'tea'  # hot\n"))
    document["shop"].update({"open": True})
    return [
        document["shop"]["name"],
        tomlkit.dumps(document._target if hasattr(document, "_target") else document),
        attempt(lambda: document["nothing"]),
        document.unwrap(),
        list(document),
    ]


@application("rich", placeholder=True)
def use_rich(wrap):
    console = wrap(rich.console.Console(file=io.StringIO(), width=40, color_system=None))
    table = rich.table.Table("item", "price")
    table.add_row("tea", "3")
    console.print("[b]hello[/b]", table)
    console.rule("end")
    return [console.file.getvalue(), console.width, attempt(console.print, "[/wrong]"), console.measure("abc")]


@click.command()
@click.argument("count", type=int)
@click.option("--name", default="tea")
def order(count, name):
    click.echo(f"{count} of {name}")
    if count > 5:
        raise click.ClickException("too many")
    if count == 0:
        raise ZeroDivisionError("none")


@application("click", placeholder=True)
def use_click(wrap):
    command = wrap(order)
    runner = click.testing.CliRunner()
    outputs = [
        (result.output, result.exit_code, repr(result.exception))
        for result in (
            runner.invoke(command, ["2"]),
            runner.invoke(command, ["x"]),
            runner.invoke(command, ["9", "--name", "cake"]),
            runner.invoke(command, ["0"]),
        )
    ]
    return [
        *outputs,
        attempt(command.main, ["x"], standalone_mode=False),
        attempt(command.main, ["0"], standalone_mode=False),
        command.name,
        [parameter.name for parameter in command.params],
    ]


@application("typer", placeholder=True)
def use_typer(wrap):
    site = wrap(typer.Typer())

    @site.command()
    def brew(count: int, hot: bool = False):
        typer.echo(f"{count} {hot}")
        if count == 0:
            raise ValueError("none")

    runner = typer.testing.CliRunner()
    results = [runner.invoke(site, ["2", "--hot"]), runner.invoke(site, ["x"]), runner.invoke(site, ["0"])]
    return [(result.output, result.exit_code, repr(result.exception)) for result in results]


@application("re", placeholder=True)
def use_pattern(wrap):
    pattern = wrap(re.compile(r"(?P<item>\w+)=(\d+)"))
    return [
        pattern.match("tea=3").groupdict(),
        pattern.sub(lambda found: found["item"].upper(), "tea=3 cake=5"),
        [found.group(2) for found in pattern.finditer("a=1 b=2")],
        attempt(pattern.match, 3),
        attempt(pattern.sub, r"\9", "tea=3"),
        pattern.pattern,
    ]


@application("json", placeholder=True)
def use_json(wrap):
    encoder, decoder = wrap(json.JSONEncoder(indent=1)), wrap(json.JSONDecoder())
    return [
        encoder.encode({"a": [1, 2]}),
        "".join(encoder.iterencode([1])),
        attempt(encoder.encode, {1, 2}),
        decoder.decode("[1]"),
        attempt(decoder.decode, "["),
    ]
