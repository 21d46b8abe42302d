"""What docs/prediction.md says of predictions that missed: prediction_results_test.py TOOLS_FOLDER."""
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import prediction_results  # noqa: E402


def row(codec, predicted, measured, link="2x1gbit", network="lstm", chosen=None):
    return {"link": link, "network": network, "codec": codec, "chosen": chosen or codec, "ranks": 2,
            "predicted_ms": predicted, "measured_ms": measured}


def advised(chosen, predicted, measured, **where):
    return row("advised", predicted, measured, chosen=chosen, **where)


def said(*rows):
    return "\n".join(prediction_results.misses(rows))


class Misses(unittest.TestCase):
    def test_figures_that_hold_have_none(self):
        self.assertEqual(said(row("fp32", 20, 21), advised("fp32", 20, 21)), "")

    def test_a_prediction_far_off_is_named_beside_the_others_of_its_network_and_link(self):
        text = said(row("fp32", 30, 20), row("dynamic8", 20, 20), row("qsgd:bits=4", 22, 20),
                    advised("dynamic8", 20, 20), row("fp32", 9, 10, link="4x1gbit"),
                    advised("fp32", 10, 10, link="4x1gbit"))
        self.assertIn("\n- lstm on 2x1gbit: `fp32` +50 %; the others of this network and link +0 to +10 %.\n",
                      text + "\n")
        self.assertNotIn("4x1gbit", text)

    def test_missed_advice_is_named_with_what_was_quickest_and_what_was_predicted(self):
        text = said(row("fp32", 25, 18), row("dynamic8", 24, 20), advised("dynamic8", 24, 22.5))
        self.assertIn("\n- lstm on 2x1gbit: `dynamic8` as advised took 22.5 ms (predicted 24.0), the quickest, `fp32`, "
                      "18.0 (25.0); `dynamic8` by itself 20.0 (24.0).\n", text + "\n")

    def test_where_the_quickest_is_the_advised_codec_by_itself_it_is_named_once(self):
        text = said(row("fp32", 25, 40), row("dynamic8", 24, 20), advised("dynamic8", 24, 22.5))
        self.assertIn("\n- lstm on 2x1gbit: `dynamic8` as advised took 22.5 ms (predicted 24.0), "
                      "by itself 20.0 (24.0).\n", text + "\n")


class Repeated(unittest.TestCase):
    def test_says_how_far_apart_what_was_predicted_the_same_was_measured(self):
        rows = [row("fp32", 20, 20), advised("fp32", 20, 25), row("fp32", 20, 20, network="mlp"),
                advised("fp32", 20, 21, network="mlp"), row("fp32", 20, 30, link="2x1mbit"),
                advised("fp32", 20, 33, link="2x1mbit")]
        self.assertEqual(prediction_results.repeated(rows),
                         ["3 times what was advised was predicted as its codec by itself. Measured, the two were "
                          "10.0 % apart in the middle and 25.0 % at most (lstm on 2x1gbit)."])

    def test_a_plan_that_was_predicted_otherwise_does_not_count(self):
        self.assertEqual(prediction_results.repeated([row("fp32", 20, 20), advised("fp32", 19, 10)]), [])


if __name__ == "__main__":
    unittest.main()
