import json
import os

import numpy as np
import pytest

import narrowcast


def test_rows_are_those_of_the_command_line(program):
    words = ["predict", "--net", "resnet50", "--profile", "ethernet-10g", "--workers", "2,16"]
    words += ["--codec", "fp32,qsgd:bits=4,bucket=512", "--batch", "16", "--json"]
    rows = narrowcast.predict(
        "resnet50", "ethernet-10g", (2, 16), ["fp32", "qsgd:bits=4,bucket=512"], batch=16
    )
    assert len(rows) == 4
    assert rows == [json.loads(line) for line in program.output(*words).splitlines()]


def test_one_number_and_one_codec_need_no_list():
    (row,) = narrowcast.predict("mnist-mlp", "ethernet-1g", 4, "dynamic8")
    assert (row["workers"], row["codec"]) == (4, "dynamic8")


def test_numbers_may_be_an_array():
    rows = narrowcast.predict("mnist-mlp", "ethernet-1g", np.array([2, 4]), "fp32")
    assert [row["workers"] for row in rows] == [2, 4]
    for wrong in (2.5, [2, 2.5], np.array([0.5])):
        with pytest.raises(TypeError, match="workers is .*; give a whole number"):
            narrowcast.predict("mnist-mlp", "ethernet-1g", wrong)


def test_advice_is_that_of_the_command_line(program):
    words = ["advise", "--net", "vgg19", "--profile", "ethernet-1g", "--workers", "4"]
    words += ["--max-error", "0.05", "--json"]
    advice = narrowcast.advise("vgg19", "ethernet-1g", 4, max_error=0.05)
    assert advice == json.loads(program.output(*words))


WRONG = {"net": "resnet5000", "profile": "nowhere", "workers": 0, "codecs": "dynamc8"}


@pytest.mark.parametrize("key", WRONG)
def test_what_is_refused_is_refused_in_the_words_of_the_command_line(program, key):
    asked = {"net": "mnist-mlp", "profile": "ethernet-1g", "workers": 2, "codecs": "fp32"}
    asked[key] = WRONG[key]
    words = [["--" + name.replace("codecs", "codec"), str(asked[name])] for name in asked]
    code, complaint = program.complaint("predict", *sum(words, []))
    assert code == 2
    with pytest.raises(narrowcast.UsageError) as caught:
        narrowcast.predict(**asked)
    assert str(caught.value) == complaint


@pytest.mark.parametrize("key", ["net", "profile", "codecs", "algorithm"])
@pytest.mark.parametrize("word", ["a\0b", "\ud800"])
def test_what_is_no_text_is_a_usage_error(key, word):
    asked = {"net": "mnist-mlp", "profile": "ethernet-1g", "workers": 2, key: word}
    with pytest.raises(narrowcast.UsageError, match="is no text"):
        narrowcast.predict(**asked)


def test_a_path_of_any_bytes_is_refused_in_the_words_of_the_command_line():
    with pytest.raises(narrowcast.UsageError, match=r"nowhere\\xff"):
        narrowcast.predict("mnist-mlp", os.fsdecode(b"nowhere\xff"), 2)
