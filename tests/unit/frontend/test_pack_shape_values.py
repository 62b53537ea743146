"""Values of a kind that cannot be looked up where a name is due."""

import pytest

import promptc
from promptc.diag.findings import PromptcError

_BODY = "promptc: 1\nname: x\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 10\nsections: [{id: a, text: x, overflow: [%s]}]\n"


@pytest.mark.parametrize("step", ["{}", "{evict: {}, drop: {}}", "[drop]", "{drop: {}, fail: {}, trim: 3}"])
def test_a_step_that_is_no_step_is_a_finding(tmp_path, step):
    (tmp_path / "pack.yaml").write_text(_BODY % step)
    with pytest.raises(PromptcError) as caught:
        promptc.load(tmp_path)
    assert all(found.span is not None for found in caught.value.diagnostics)
