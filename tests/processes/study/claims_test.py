"""The verdicts on papers' claims, from rows whose truth is known.

    claims_test.py TOOLS
"""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv[1])

import study_predictions as predictions  # noqa: E402
import study_results  # noqa: E402
import study_verdicts as verdicts  # noqa: E402


def row(verdict, seeds=5, difference=0.0, reach=0.1, error=2.0, codec="dynamic8", failed=0):
    if seeds == 0:
        difference, error = "", ""
    bounds = ("", "") if seeds < 2 else (str(difference - reach), str(difference + reach))
    return {"network": "mnist-mlp", "data": "mnist", "parallel": "data", "codec": codec, "seeds": str(seeds),
            "last error (%)": str(error), "last error from (%)": "", "last error to (%)": "",
            "best error (%)": str(error), "best error from (%)": "", "best error to (%)": "",
            "difference (points)": str(difference), "difference from (points)": bounds[0],
            "difference to (points)": bounds[1], "verdict": verdict,
            "failed (seeds)": str(failed or ""), "not a number (seeds)": ""}


class Rows:
    """Instead of a study's records."""

    def __init__(self, *rows, **tables):
        self.accuracy_rows, self.tables = list(rows), tables

    def accuracy(self, codecs, **columns):
        return [each for each in self.accuracy_rows if each["codec"] in codecs]

    def rows(self, table, **columns):
        return self.accuracy_rows if table == "accuracy" else self.tables.get(table, [])


class Cells:
    """Records of one kind."""

    def __init__(self, *records):
        self.records = list(records)

    def cells(self, kind, **axes):
        return [record for record in self.records if record["kind"] == kind
                and all(record["axes"].get(axis) == value for axis, value in axes.items())]


def paper(model, *rows):
    return Cells({"kind": "paper", "axes": {"model": model}, "rows": list(rows)})


def step(codec, batch, algorithm=None, **values):
    return {"kind": "predict", "values": values, "settings": {"algorithm": algorithm} if algorithm else {},
            "axes": {"net": "alexnet", "codec": codec, "workers": "16", "profile": "ec2-k80", "batch": str(batch)}}


class Verdicts(unittest.TestCase):
    def said(self, found):
        return found[1]

    def test_no_record_is_no_verdict(self):
        for verdict in (verdicts.loses_nothing, verdicts.loses, verdicts.learns_nothing):
            self.assertEqual(("not measured yet", "-"), verdict([]))

    def test_losing_nothing_is_shown_by_sameness_alone(self):
        self.assertEqual("yes", self.said(verdicts.loses_nothing([row("same"), row("better")])))
        self.assertEqual("no: worse in 1 of 2", self.said(verdicts.loses_nothing([row("same"), row("worse")])))
        self.assertIn("not contradicted", self.said(verdicts.loses_nothing([row("same"), row("unclear")])))
        self.assertEqual("too few seeds to say", self.said(verdicts.loses_nothing([row("too little data", 1)])))

    def test_losing_is_shown_by_a_loss_alone(self):
        self.assertEqual("yes", self.said(verdicts.loses([row("worse"), row("worse")])))
        self.assertEqual("in 1 of 2", self.said(verdicts.loses([row("worse"), row("same")])))
        self.assertEqual("no: it loses nothing here", self.said(verdicts.loses([row("same")])))
        self.assertEqual("not shown: no loss was found", self.said(verdicts.loses([row("unclear")])))
        self.assertEqual("too few seeds to say", self.said(verdicts.loses([row("too little data", 1)])))

    def test_nothing_is_learnt_at_the_error_of_guessing(self):
        self.assertEqual("yes", self.said(verdicts.learns_nothing([row("worse", error=90.2)])))
        self.assertEqual("no, but it loses much", self.said(verdicts.learns_nothing([row("worse", error=44)])))

    def test_seeds_without_an_error_are_not_forgotten(self):
        found = verdicts.loses_nothing([row("same"), row("too little data", 3, failed=2)])
        self.assertIn("too little data; 2 seeds left no error", found[0])
        self.assertEqual("not shown: 2 runs left no error", found[1])
        none = row("too little data", 0, failed=5)
        self.assertIn("data parallel: 5 seeds left no error", verdicts.loses_nothing([none])[0])
        self.assertEqual("it leaves no error at all", self.said(verdicts.learns_nothing([none])))
        self.assertEqual("yes", self.said(verdicts.learns_nothing([row("worse", error=90.2), none])))
        lost = Rows(row("too little data", error=30, difference=0.1, reach=0.2, failed=1))
        self.assertNotEqual("yes", self.said(verdicts.within_part(lost, ["dynamic8"], 0.02)))

    def test_a_figure_is_claimed_within_a_tenth(self):
        self.assertEqual(["less", "yes", "yes", "more"], [predictions.beside(x, 10) for x in (8.9, 9.1, 10.9, 11.1)])

    def test_steps_are_counted(self):
        def said(groups):
            return self.said(predictions.steps(paper(
                "a20-steps", {"setting": "p=256, ring", "computed": 510.0, "printed": 510.0},
                {"setting": "p=256, k=16", "computed": groups, "printed": 74.0})))
        self.assertEqual("ring, yes; groups, no", said(90.0))
        self.assertEqual("ring, yes; groups, yes", said(74.0))
        self.assertEqual("-", self.said(predictions.steps(Cells())))

    def test_a_model_is_held_against_what_the_paper_prints(self):
        def said(computed, corrected):
            rows = [{"quantity": "speedup", "setting": "T=104.1 ms", "bits": bits, "computed": computed, "corrected": corrected,
                     "printed": 50.6} for bits in (8.0, 32.0)]
            return self.said(predictions.cluster(paper("d16-cluster", *rows)))
        self.assertEqual("the formula, yes; with its errata mended, less", said(50.6, 39.7))
        self.assertEqual("the formula, yes; with its errata mended, yes", said(50.6, 49.0))
        self.assertEqual("the formula, no; with its errata mended, less", said(20.0, 39.7))

    def test_round_off_is_held_against_both_figures(self):
        def said(groups, kahan=11.0):
            rows = [{"algorithm": "ring", "format_percent": 84.0, "kahan_percent": 20.0},
                    {"algorithm": "hierarchy", "group": 16.0, "format_percent": groups, "kahan_percent": kahan}]
            return self.said(study_results.round_off(
                Cells({"kind": "round-off", "axes": {"codec": "(5,2)"}, "rows": rows})))
        self.assertEqual("ring, yes; groups of 16, less; Kahan helps, yes", said(33.0))
        self.assertEqual("ring, yes; groups of 16, yes; Kahan helps, no", said(42.0, 50.0))

    def test_a_codec_costs_what_was_measured(self):
        line = {"codec": "dynamic8", "threads": 1, "values": 25 << 20, "encode_ns": 0.66, "decode_ns": 0.51}
        with tempfile.TemporaryDirectory() as name:
            results = pathlib.Path(name)
            (results / "codecs").mkdir()
            (results / "codecs" / "all.jsonl").write_text(json.dumps(line | {"threads": 2}) + "\n" + json.dumps(line))
            found = study_results.codec_cost(results)
        self.assertEqual(("0.66 and 0.51 on one core", "to compress, less; to decompress, yes"), found)

    def test_predictions_have_the_papers_batch(self):
        found = Cells(step("fp32", 128, wait_ms=1, step_ms=2), step("fp32", 64, "ring", wait_ms=1, step_ms=2),
                      step("fp32", 64, wait_ms=9, step_ms=10), step("qsgd:bits=4", 64, wait_ms=2, step_ms=4, over_fp32=2.5))
        self.assertEqual(("90 % predicted", "yes"), predictions.communication_over(found, "alexnet", 16, 0.8))
        self.assertEqual(("90 % predicted", "more"), predictions.communication_of(found, "alexnet", 16, 0.71))
        self.assertEqual(("4.5 times less predicted", "more"), predictions.less_communication(found, "alexnet", 16, 4.0))
        self.assertEqual(("2.50 predicted", "yes"), predictions.shorter_epoch(found, "alexnet", 16, 2.5))
        self.assertEqual("-", self.said(predictions.shorter_epoch(found, "alexnet", 8, 2.5)))

    def test_says_seeds_and_interval(self):
        text = verdicts.loses_nothing([row("same", difference=0.02)])[0]
        self.assertEqual("`dynamic8` mnist-mlp, mnist, data parallel: +0.02 (-0.08 to +0.12, 5 seeds), same", text)
        self.assertIn("+0.00 (one seed)", verdicts.loses_nothing([row("too little data", 1)])[0])

    def test_a_part_of_the_error_is_shown_by_the_interval(self):
        types = ["dynamic8"]
        near = Rows(row("unclear", error=30, difference=0.1, reach=0.2))
        self.assertEqual("yes", self.said(verdicts.within_part(near, types, 0.02)))
        wide = Rows(row("unclear", error=30, difference=0.1, reach=5))
        self.assertIn("too few seeds", self.said(verdicts.within_part(wide, types, 0.02)))
        far = Rows(row("unclear", error=30, difference=2, reach=5))
        self.assertIn("0 of 1 means", self.said(verdicts.within_part(far, types, 0.02)))

    def test_an_analysis_of_variance_is_of_all_types(self):
        row_of_all = {"codecs": "fp32, dynamic8, linear8, static8, mantissa8", "F, last": "1.5", "df, last": "4, 20",
                      "p, last": "0.23"}
        found = verdicts.anova(Rows(row("same"), anova=[row_of_all]))
        self.assertIn("F(4, 20) = 1.50, p = 0.23; 5 seeds each", found[0])
        self.assertEqual("yes: none found", found[1])
        self.assertEqual("no", self.said(verdicts.anova(Rows(row("same"), anova=[row_of_all | {"p, last": "0.01"}]))))
        lost = Rows(row("too little data", 4, failed=1), anova=[row_of_all])
        self.assertEqual("not shown: one run left no error", self.said(verdicts.anova(lost)))
        self.assertEqual("-", self.said(verdicts.anova(Rows(row("same"), anova=[row_of_all | {"codecs": "fp32"}]))))
        self.assertEqual("-", self.said(verdicts.anova(Rows(row("same"), anova=[row_of_all | {"p, last": ""}]))))

    def test_consistently_is_everywhere(self):
        def answer(*pays):
            return Rows(answer=[{"pays": each, "link": "1gbit"} for each in pays])
        self.assertEqual("yes", self.said(study_results.consistently(answer("yes", "yes"))))
        self.assertEqual("no: in some settings it does not", self.said(study_results.consistently(answer("yes", "no"))))
        self.assertEqual("no: in some settings it does not", self.said(study_results.consistently(answer("yes", "later"))))
        self.assertEqual("not shown everywhere", self.said(study_results.consistently(answer("yes", "if accurate"))))
        self.assertEqual("-", self.said(study_results.consistently(answer("too little data"))))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
