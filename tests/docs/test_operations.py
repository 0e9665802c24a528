"""Every kind of operation has a page that tells how to use it, with a configuration that the kind takes."""

from __future__ import annotations

import pytest
import yaml

from docs.blocks import ROOT, blocks_of, pages
from hourhand.operations.catalogue import Catalogue

KINDS = {one.kind: one for one in Catalogue().all() if one.number < 99}  # but the sample, which the tutorial has
SHOWN = {
    (block.title or "").removesuffix(".yaml"): (page, block.text)
    for page in pages()
    if page.startswith("docs/howto/")
    for block in blocks_of(page)
    if block.language == "yaml"
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_page_with_a_configuration_that_it_takes(kind: str) -> None:
    page, text = SHOWN[kind]
    KINDS[kind].config.model_validate(yaml.safe_load(text))
    said = (ROOT / page).read_text("utf-8")
    assert f"hourhand operation preview {kind} -f {kind}.yaml" in said
    assert f"reference/operations.md#{kind})" in said


@pytest.mark.parametrize("page", ["docs/howto/schedule-operations.md", "docs/tutorial/operations.md"])
def test_tasks_of_operations_have_configurations_that_their_kinds_take(page: str) -> None:
    files = [yaml.safe_load(block.text) for block in blocks_of(page) if block.language == "yaml"]
    payloads = [task["payload"] for file in files for task in file.get("tasks", ())]
    assert payloads
    for payload in payloads:
        KINDS[payload["kind"]].config.model_validate(payload["config"])
