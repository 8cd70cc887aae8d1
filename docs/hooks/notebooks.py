"""Notebooks are run when the site is built, and become pages: text, code, and what it shows.

They are kept without outputs, so what a page shows is what this version does. Tables and trees are put in as
the HTML that a notebook would show, pictures as images in the page.
"""

import html
import re
import tempfile
from pathlib import Path

import nbformat
from mkdocs.structure.files import File, InclusionLevel
from nbclient import NotebookClient

FOLDER = "notebooks"
_PLACE = re.compile(r"<p>@output (\S+) (\d+)@</p>")
_QUIET = ["--Application.log_level=ERROR"]
_shown = {}


def executed(path):
    """Run a notebook in a kernel of its own, in an empty folder, and return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, resources=resources, extra_arguments=_QUIET).execute()
    return notebook


def page_of(notebook, name):
    """Return a notebook as Markdown, in which each output has a place, and the outputs' HTML."""
    parts, outputs = [], []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            parts.append(f"@output {name} {len(outputs)}@")
            outputs.append(_as_html(output))
    parts.append(f"[Download this notebook]({name}.ipynb)")
    return "\n\n".join(parts) + "\n", outputs


def _as_html(output):
    if output.output_type == "stream":
        return f'<pre class="tt-output">{html.escape(output.text)}</pre>'
    data = output.data
    if "text/html" in data:
        return f'<div class="tt-output">{data["text/html"]}</div>'
    if "image/png" in data:
        picture = data["image/png"].strip()
        return f'<img class="tt-output" alt="{_said(data)}" src="data:image/png;base64,{picture}">'
    return f'<pre class="tt-output">{html.escape(data["text/plain"])}</pre>'


def _said(data):
    return html.escape(data.get("text/plain", "a plot").strip("<>"), quote=True)


def on_files(files, config):
    """Add a page for each notebook; the notebook itself stays, to be downloaded."""
    folder = Path(config.docs_dir) / FOLDER
    for path in sorted(folder.glob("*.ipynb")):
        text, _shown[path.stem] = page_of(executed(path), path.stem)
        page = File.generated(
            config, f"{FOLDER}/{path.stem}.md", content=text, inclusion=InclusionLevel.INCLUDED
        )
        files.append(page)
    return files


def on_page_content(content, **_):
    """Put the outputs in their places."""
    return _PLACE.sub(lambda found: _shown[found[1]][int(found[2])], content)
