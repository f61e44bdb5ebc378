"""What axe finds on a page."""

from typing import Any, Literal

from playwright.sync_api import Page, ViewportSize

from tests.web.node import AXE

PHONE: ViewportSize = {"width": 390, "height": 844}


def find_violations(page: Page, where: str) -> list[str]:
    """What axe has to say in both themes, a line each; in the second one only colours can be different."""
    if not page.evaluate("() => 'axe' in window"):
        cdp = page.context.new_cdp_session(page)
        cdp.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    found: list[str] = []
    themes: tuple[tuple[Literal["light", "dark"], dict[str, Any]], ...] = (
        ("dark", {"runOnly": ["color-contrast"]}),
        ("light", {}),
    )
    for theme, options in themes:
        page.emulate_media(color_scheme=theme)
        said = page.evaluate("async each => await axe.run(document, {resultTypes: ['violations'], ...each})", options)
        found += [
            f"{where}, {theme}: {each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
            for each in said["violations"]
            for node in each["nodes"]
        ]
    return found
