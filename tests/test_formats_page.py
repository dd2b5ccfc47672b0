"""docs/formats.md is what docs/formats.py makes of the catalogue."""

import importlib.util
from pathlib import Path


def test_the_page_of_formats_is_up_to_date() -> None:
    path = Path(__file__).parent.parent / "docs" / "formats.py"
    spec = importlib.util.spec_from_file_location("formats_page", path)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert path.with_name("formats.md").read_text(encoding="utf-8") == page.render()
