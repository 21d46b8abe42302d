"""Plans as users write them."""

import numpy as np
import pytest

import narrowcast
from narrowcast.torch._auto import pays, verdict_of
from narrowcast.torch._plans import max_error_of, offered_of, plan_of

TOML = """
fusion = "1MiB"
min_elements = 0

[[rule]]
tensors = "*.weight"
codec = "qsgd:bits=4"
feedback = true

[[rule.schedule]]
epoch = 30
codec = "fp32"
"""

TABLE = {
    "fusion": "1MiB",
    "min_elements": 0,
    "rule": [
        {
            "tensors": "*.weight",
            "codec": "qsgd:bits=4",
            "feedback": True,
            "schedule": [{"epoch": 30, "codec": "fp32"}],
        }
    ],
}


def test_toml_a_file_and_a_dictionary_mean_the_same(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(TOML)
    plans = [plan_of(TOML), plan_of(TABLE), plan_of(file), plan_of(str(file))]
    assert all(plan == plans[0] for plan in plans)
    assert plan_of(str(plans[0])) == plans[0]


def test_numbers_of_numpy_are_numbers():
    rule = {"tensors": "*", "codec": "bf16", "feedback": np.bool_(True)}
    ours = {"min_elements": 3, "deadline": 5.0, "rule": [{**rule, "feedback": True}]}
    theirs = {"min_elements": np.int64(3), "deadline": np.float64(5.0), "rule": [rule]}
    assert plan_of(theirs) == plan_of(ours)


def test_auto_chooses_among_specs():
    assert offered_of("bf16") == ["bf16"]
    assert offered_of(spec for spec in ("bf16", "onebit:column=shape")) == ["bf16", "onebit:column=shape"]
    assert max_error_of(None) is None and max_error_of(np.float32(0.5)) == 0.5


@pytest.mark.parametrize(
    ("codecs", "kind", "words"),
    (
        ((), narrowcast.UsageError, "codecs is empty"),
        (3, TypeError, "codecs is of int; give specs"),
        ([TABLE], TypeError, "one of codecs is of dict; give a string"),
        ([TOML], narrowcast.UsageError, "no codec"),
        (["auto"], narrowcast.UsageError, "no codec"),
    ),
)
def test_what_auto_cannot_choose_is_refused(codecs, kind, words):
    with pytest.raises(kind, match=words):
        offered_of(codecs)


@pytest.mark.parametrize(
    ("bound", "kind"),
    (
        ("x", TypeError),
        (True, TypeError),
        (-1.0, narrowcast.UsageError),
        (0, narrowcast.UsageError),
        (float("nan"), narrowcast.UsageError),
    ),
)
def test_a_bound_for_rounding_is_a_number_above_zero(bound, kind):
    with pytest.raises(kind, match="give a number above 0"):
        max_error_of(bound)


def test_a_spec_is_a_plan_for_every_tensor():
    assert 'codec = "dynamic8"' in str(plan_of("dynamic8"))
    assert "feedback = true" in str(plan_of("onebit:column=64"))


def test_a_codec_that_hides_what_is_not_finite_skips_such_steps():
    assert 'non_finite = "propagate"' in str(plan_of("dynamic8"))
    assert 'non_finite = "skip-step"' in str(plan_of("float:e=4,m=3,overflow=saturate"))


@pytest.mark.parametrize(
    ("plan", "words"),
    (
        ("dynamic9", "dynamic8"),
        ("fussion = 3", "fusion"),
        ({"rule": [{"tensors": "*", "codec": "fp33"}]}, "fp32"),
        ({"rule": [3]}, "a list of dictionaries"),
        ({"fusion": None}, "text, a number or a boolean"),
        ({"a b": 1}, "is no key"),
        ("nowhere.toml", "nowhere.toml"),
    ),
)
def test_what_is_no_plan_is_refused(plan, words):
    with pytest.raises(narrowcast.Error, match=words):
        plan_of(plan)


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="a spec such as 'dynamic8'"):
        plan_of(8)


@pytest.mark.parametrize(("narrow_ms", "stays"), ((94, True), (95, True), (96, False), (101, False)))
def test_a_plan_that_was_tried_out_stays_if_it_takes_a_twentieth_off(narrow_ms, stays):
    assert pays(narrow_ms, 100) == stays
    assert verdict_of(narrow_ms, 100).endswith("it stays") == stays
