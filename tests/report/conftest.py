"""A real headless Chromium for the report's page. Outside CI its tests are skipped where there is none."""

import os
import shutil
from contextlib import contextmanager

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium here: .ci/run installs Debian's chromium")
        pytest.skip("no Chromium: install it (apt-get install chromium) to test the report's page")
    sync_api = pytest.importorskip("playwright.sync_api") if not os.environ.get("CI") else None
    if sync_api is None:
        from playwright import sync_api
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a model's report: a context manager that gives the page, and minds errors and requests."""

    @contextmanager
    def opening(model, data=None, *, width=1440, height=900, dark=False, bypass_csp=False, **said):
        path = model.report(tmp_path / "report.html", data, **said)
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            bypass_csp=bypass_csp,
        )
        page = context.new_page()
        wrong, asked = [], []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        yield page
        assert wrong == []
        assert [url for url in asked if url != path.as_uri() and not url.startswith("data:")] == []
        context.close()

    return opening
