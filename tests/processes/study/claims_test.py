"""The verdicts on papers' claims, from rows whose truth is known.

    claims_test.py TOOLS
"""

import sys
import unittest

sys.path.insert(0, sys.argv[1])

import study_results  # noqa: E402
import study_verdicts as verdicts  # noqa: E402


def row(verdict, seeds=5, difference=0.0, reach=0.1, error=2.0, codec="dynamic8"):
    bounds = ("", "") if seeds < 2 else (str(difference - reach), str(difference + reach))
    return {"network": "mnist-mlp", "data": "mnist", "parallel": "data", "codec": codec, "seeds": str(seeds),
            "last error (%)": str(error), "last error from (%)": "", "last error to (%)": "",
            "best error (%)": str(error), "best error from (%)": "", "best error to (%)": "",
            "difference (points)": str(difference), "difference from (points)": bounds[0],
            "difference to (points)": bounds[1], "verdict": verdict}


class Rows:
    """Instead of a study's records."""

    def __init__(self, *rows, **tables):
        self.accuracy_rows, self.tables = list(rows), tables

    def accuracy(self, codecs, **columns):
        return [each for each in self.accuracy_rows if each["codec"] in codecs]

    def rows(self, table, **columns):
        return self.accuracy_rows if table == "accuracy" else self.tables.get(table, [])


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
        self.assertEqual("-", self.said(verdicts.anova(Rows(row("same"), anova=[row_of_all | {"codecs": "fp32"}]))))
        self.assertEqual("-", self.said(verdicts.anova(Rows(row("same"), anova=[row_of_all | {"p, last": ""}]))))

    def test_consistently_is_everywhere(self):
        def answer(*pays):
            return Rows(answer=[{"pays": each, "link": "1gbit"} for each in pays])
        self.assertEqual("yes", self.said(study_results.consistently(answer("yes", "yes"))))
        self.assertEqual("no: in some settings it does not", self.said(study_results.consistently(answer("yes", "no"))))
        self.assertEqual("not shown everywhere", self.said(study_results.consistently(answer("yes", "if accurate"))))
        self.assertEqual("-", self.said(study_results.consistently(answer("too little data"))))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
