"""Runs one turn of an agent of the table in a process of its own, so that this process can be killed."""

import argparse
import asyncio
from pathlib import Path

from tests.agents.fake_models import FakeModels
from tests.agents.table.checks import Place
from tests.agents.table.columns import COLUMNS
from tests.runtime.apps import say


async def play(place: Place, text: str) -> None:
    async with place.open(place.make_team(permissions="all")) as app:
        await say(await app.session(), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("column", "root", "folder", "text"):
        parser.add_argument(name)
    options = parser.parse_args()
    column = next(each for each in COLUMNS if each.name == options.column)
    asyncio.run(play(Place(column, FakeModels(options.root, []), Path(options.folder)), options.text))


if __name__ == "__main__":
    main()
