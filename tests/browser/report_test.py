"""Opens pages in Chromium: all is drawn, sorts, copies and fits, and nothing is asked of a network.

    report_test.py SAMPLE_REPORT FOLDER

Pages and screenshots stay in FOLDER, to be looked at.
"""

import pathlib
import subprocess
import sys
import unittest

from browser import Browser, find_chromium

PROGRAM, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGES = ("report", "curves", "prediction")

# For each chart, how many pixels have exactly the colour of one of its lines, bars or dots.
DRAWN = """[...document.querySelectorAll('canvas')].map((canvas) => {
  const chart = Chart.getChart(canvas);
  if (!chart || !canvas.width || !canvas.height) return 0;
  const pixels = new Uint32Array(
    canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const colours = new Set(chart.data.datasets.filter((set) => !set.band)
    .flatMap((set) => set.backgroundColor)
    .map((text) => Number('0xff' + text.slice(5, 7) + text.slice(3, 5) + text.slice(1, 3))));
  return pixels.reduce((sum, pixel) => sum + colours.has(pixel), 0);
})"""
DRAW_ALL = "dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))"


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([PROGRAM, FOLDER], check=True)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.forget()

    def open(self, page="report", width=1280, phone=False, scheme="light"):
        self.browser.resize(width, 900, phone)
        self.browser.prefer(scheme)
        self.browser.open((FOLDER / (page + ".html")).as_uri())

    def run_script(self, text):
        return self.browser.evaluate(text)

    def test_draw_every_chart_without_a_word_on_the_console(self):
        for page in PAGES:
            with self.subTest(page):
                self.open(page)
                self.run_script(DRAW_ALL)
                charts = self.run_script(DRAWN)
                self.assertGreater(len(charts), 2)
                self.assertGreater(min(charts), 50, charts)
                self.assertEqual([], self.browser.errors)

    def test_draw_every_choice(self):
        self.open()
        self.run_script(DRAW_ALL)
        empty = self.run_script("""(() => {
          const empty = [];
          for (const select of document.querySelectorAll('.pick select')) {
            const canvas = select.closest('figure').querySelector('canvas');
            for (const option of select.options) {
              select.value = option.value;
              select.dispatchEvent(new Event('change'));
              const chart = Chart.getChart(canvas);
              if (!chart.data.datasets.some((set) => set.data.some((value) => value !== null)))
                empty.push(option.textContent);
            }
          }
          return empty;
        })()""")
        self.assertEqual([], empty)
        self.assertGreater(self.run_script("document.querySelectorAll('.pick option').length"), 6)
        self.assertEqual([], self.browser.errors)

    def test_draw_what_is_looked_at_and_no_more(self):
        self.open()
        drawn = "[...document.querySelectorAll('canvas')].filter((c) => Chart.getChart(c)).length"
        first, all_of_them = self.run_script(drawn), self.run_script(
            "document.querySelectorAll('canvas').length")
        self.assertLess(first, all_of_them)
        # Two frames after it came into view, the browser has told the page so.
        last = self.run_script("""(async () => {
          const canvas = [...document.querySelectorAll('canvas')].at(-1);
          canvas.scrollIntoView();
          for (let i = 0; i < 100 && !Chart.getChart(canvas); ++i)
            await new Promise((resolve) => requestAnimationFrame(resolve));
          return Boolean(Chart.getChart(canvas));
        })()""")
        self.assertTrue(last)

    def test_ask_no_network(self):
        for page in PAGES:
            self.open(page)
            self.run_script(DRAW_ALL)
        allowed = [(FOLDER / (page + ".html")).as_uri() for page in PAGES]
        allowed += ["about:blank", "data:,"]
        self.assertEqual([], [one for one in self.browser.requests if one not in allowed])

    def test_run_nothing_that_records_say(self):
        self.open()
        self.assertEqual(0, self.run_script("document.images.length"))
        self.assertEqual(0, self.run_script("document.querySelectorAll('section b').length"))
        self.assertIn("<img src=x", self.run_script("document.body.textContent"))
        # The page's own, and no other.
        self.assertEqual(4, self.run_script("document.querySelectorAll('script:not([type])').length"))

    COLUMN = """(() => {
      const table = document.querySelector('#figure-answer table');
      const at = [...table.rows[0].cells].findIndex((cell) => cell.textContent.startsWith('gain'));
      return { at, sort: table.rows[0].cells[at].ariaSort,
               values: [...table.tBodies[0].rows].map((row) => Number(row.cells[at].dataset.v)) };
    })()"""
    BUTTON = """[...document.querySelectorAll('#figure-answer thead button')]
        .find((button) => button.textContent.startsWith('gain'))"""

    def test_sort_by_click_and_by_key(self):
        self.open()
        before = self.run_script(self.COLUMN)
        self.assertEqual("none", before["sort"])
        self.assertNotEqual(sorted(before["values"]), before["values"])
        self.run_script(self.BUTTON + ".click()")
        up = self.run_script(self.COLUMN)
        self.assertEqual(("ascending", sorted(before["values"])), (up["sort"], up["values"]))
        self.run_script(self.BUTTON + ".focus()")
        self.browser.key("Enter", 13)
        down = self.run_script(self.COLUMN)
        self.assertEqual(("descending", up["values"][::-1]), (down["sort"], down["values"]))

    def test_sort_what_is_not_there_to_the_end(self):
        self.open()
        for _ in range(2):
            empty = self.run_script("""(() => {
              const table = document.querySelector('#figure-accuracy table');
              const heads = [...table.rows[0].cells];
              const at = heads.findIndex((cell) => cell.textContent.startsWith('difference'));
              heads[at].querySelector('button').click();
              return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent === '');
            })()""")
            self.assertIn(True, empty)
            self.assertEqual(sorted(empty), empty)

    def test_copy_what_the_files_beside_have(self):
        self.open()
        self.run_script("""navigator.clipboard.writeText = (text) => {
            window.copied = text; return Promise.resolve(); }""")
        for link in self.run_script(
                "[...document.querySelectorAll('.csv a')].map((a) => a.getAttribute('href'))"):
            self.run_script(f"""document.querySelector('.csv a[href="{link}"]')
                .parentElement.querySelector('.copy').click()""")
            copied = self.run_script("window.copied")
            self.assertEqual((FOLDER / link).read_bytes().decode(), copied)

    def test_turn_dark_and_back(self):
        self.open()
        self.run_script(DRAW_ALL)
        look = """(() => [getComputedStyle(document.body).backgroundColor,
            Chart.getChart(document.querySelector('canvas')).options.scales.x.ticks.color])()"""
        # The page learns of it with a frame to come.
        turned = """(async (before) => {
          const look = () => %s;
          for (let i = 0; i < 100 && look()[1] === before; ++i)
            await new Promise((resolve) => requestAnimationFrame(resolve));
          return look();
        })"""
        light = self.run_script(look)
        self.browser.prefer("dark")
        dark = self.run_script(turned % look + f"({light[1]!r})")
        self.assertNotEqual(light[0], dark[0])
        self.assertNotEqual(light[1], dark[1])
        self.browser.prefer("light")
        self.assertEqual(light, self.run_script(turned % look + f"({dark[1]!r})"))

    def test_fit_a_phone(self):
        for page in PAGES:
            with self.subTest(page):
                self.open(page, width=390, phone=True)
                self.run_script(DRAW_ALL)
                self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), 390)

    # How far to the right what a column says reaches, in the first row where it says anything.
    REACH = """(([figure, name]) => {
      const table = document.querySelector('#figure-' + figure + ' table');
      const at = [...table.rows[0].cells].findIndex((cell) => cell.textContent.startsWith(name));
      const cells = [...table.tBodies[0].rows].map((row) => row.cells[at]);
      const range = document.createRange();
      range.selectNodeContents(cells.find((cell) => cell.textContent !== ''));
      return range.getBoundingClientRect().right;
    })"""

    def test_show_results_on_a_phone_without_scrolling(self):
        self.open(width=390, phone=True)
        for column in (("speedup", "dynamic8"), ("speedup", "qsgd:bits=4"), ("speedup-predicted", "dynamic8"),
                       ("accuracy", "difference"), ("accuracy", "verdict"), ("anova", "p, last"), ("answer", "gain")):
            with self.subTest(column):
                self.assertLessEqual(self.run_script(f"{self.REACH}({list(column)})"), 390)

    def test_sort_by_all_that_tells_rows_apart_on_a_phone(self):
        self.open(width=390, phone=True)
        shown = "getComputedStyle(document.querySelector('#figure-speedup td.%s')).display"
        self.assertEqual(("table-cell", "none"), tuple(self.run_script(shown % name) for name in ("keys", "key")))
        labels = self.run_script("""(() => {
          const table = document.querySelector('#figure-speedup table');
          const read = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
          const all = [read()];
          for (let i = 0; i < 2; ++i) {
            table.rows[0].cells[0].querySelector('button').click();
            all.push(read());
          }
          return all;
        })()""")
        self.assertEqual(sorted(labels[0]), sorted(labels[1]))
        self.assertNotEqual(labels[0], labels[2])
        self.assertEqual(labels[1], labels[2][::-1])
        self.open()
        self.assertEqual(("none", "table-cell"), tuple(self.run_script(shown % name) for name in ("keys", "key")))

    def test_are_kept_to_be_looked_at(self):
        for page in PAGES:
            for name, width, phone in (("desktop", 1280, False), ("phone", 390, True)):
                for scheme in ("light", "dark"):
                    self.open(page, width, phone, scheme)
                    self.run_script(DRAW_ALL)
                    self.browser.screenshot(FOLDER / f"{page}-{name}-{scheme}.png")
        self.open()
        self.browser.print(FOLDER / "report.pdf")
        self.assertGreater((FOLDER / "report.pdf").stat().st_size, 10_000)
        self.assertEqual([], self.browser.errors)


if __name__ == "__main__":
    if find_chromium() is None:
        print("there is no chromium: apt-get install chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
