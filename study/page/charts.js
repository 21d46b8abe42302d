// From a figure's data to a Chart.js configuration. Knows nothing of the page around it.
'use strict';

const Charts = (() => {
  const {style, parseCsv, number, text, look, part, faded, distinct, by, axis, category, config} =
      Parts;

  // What a legend shows: names with their styles.
  function legend(figure) {
    if (figure.draw === 'stacked')
      return figure.stacks.flat().map(
          (column) => ({name: figure.columns[column].name, style: part(figure, column)}));
    if (figure.series === null) return [];
    return distinct(figure.rows.map((row) => row[figure.series]))
        .map((name) => ({name, style: look(figure, figure.series, name).style}));
  }

  // What bars and dots are called. A dot that is not there needs no name; a bar does: it is known
  // to be none.
  function labelsOf(figure, rows) {
    const named = figure.draw === 'dots' ? rows.filter((row) => row[figure.y] !== '') : rows;
    return distinct(named.map((row) => row[figure.x]));
  }

  // ---- one function for each way to draw ----

  // Few values have wide intervals, which must not make what was measured small: they may leave the
  // chart.
  const kMostRoom = 1.5;
  function fit(scale, figure, rows) {
    const of = (column) => rows.map((row) => number(row[column])).filter((value) => value !== null);
    const means = of(figure.y);
    if (means.length === 0) return;
    const lows = figure.bounds ? of(figure.y + 1) : [];
    const highs = figure.bounds ? of(figure.y + 2) : [];
    const marked = figure.mark === null ? [] : [figure.mark];
    const top = Math.max(...means, ...marked), bottom = Math.min(...means, ...marked);
    const high = Math.min(Math.max(top, ...highs), top * kMostRoom);
    if (figure.ylog) {
      scale.min = Math.max(Math.min(bottom, ...lows), bottom / kMostRoom) * 0.97;
      scale.max = high * 1.03;
    } else if (bottom >= 0) {
      scale.min = 0;
      scale.suggestedMax = high * 1.02;
      if (Math.max(top, ...highs) > high) scale.max = high;
    } else {
      scale.beginAtZero = true;
    }
  }

  function line(figure, rows) {
    const datasets = [];
    for (const [name, own] of by(rows, figure.series)) {
      const {dash, point, width, ...its} = look(figure, figure.series, name);
      const colour = style(its.style), hidden = figure.hidden.has(name);
      const points = own.map((row) => ({
                               x: number(row[figure.x]),
                               y: number(row[figure.y]),
                               low: figure.bounds ? number(row[figure.y + 1]) : null,
                               high: figure.bounds ? number(row[figure.y + 2]) : null,
                             }))
                         .sort((a, b) => a.x - b.x);
      datasets.push({
        label: name,
        hidden,
        data: points,
        clip: 8,
        borderColor: colour,
        backgroundColor: colour,
        borderWidth: width,
        borderDash: dash,
        pointStyle: point,
        pointRadius: points.length > 12 ? 1.5 : 3,
        tension: 0,
      });
      const banded = points.filter((spot) => spot.low !== null && spot.high !== null);
      if (banded.length < 2) continue;
      const band =
          {label: name, hidden, band: true, borderWidth: 0, pointRadius: 0, pointHitRadius: 0};
      // A logarithmic axis has no zero, and nothing below it.
      const least = figure.ylog ? Number.MIN_VALUE : -Infinity;
      datasets.push(
          {...band, data: banded.map(({x, low}) => ({x, y: Math.max(low, least)})), fill: false});
      datasets.push({
        ...band,
        data: banded.map(({x, high}) => ({x, y: high})),
        fill: '-1',
        backgroundColor: faded(colour)
      });
    }
    const values = distinct(rows.map((row) => number(row[figure.x]))).sort((a, b) => a - b);
    const x = axis(figure.columns[figure.x], figure.xlog, values);
    const y = axis(figure.columns[figure.y], figure.ylog);
    fit(y, figure, rows);
    const unit = figure.columns[figure.y].unit;
    return config('line', datasets, {
      scales: {x, y},
      mark: figure.mark,
      hoverTitle: (items) => items.length ? figure.columns[figure.x].name + ' ' +
              text(items[0].parsed.x) + ' ' + figure.columns[figure.x].unit :
                                            '',
      hover: ({dataset, raw}) => dataset.label + ': ' + text(raw.y) + ' ' + unit +
          (raw.low !== null && raw.high !== null ?
               ' (' + text(raw.low) + ' to ' + text(raw.high) + ')' :
               ''),
    });
  }

  function lying(figure, rows, type) {
    const labels = labelsOf(figure, rows);
    const groups = by(rows, figure.series);
    const dots = type === 'line';
    const datasets = [...groups].map(([name, own]) => {
      const at = new Map(own.map((row) => [row[figure.x], row]));
      const looks = labels.map(
          (label) => figure.series === null ? look(figure, figure.x, label) :
                                              look(figure, figure.series, name));
      const colours = looks.map((one) => style(one.style));
      const value = (label, column) => (at.has(label) ? number(at.get(label)[column]) : null);
      return {
        label: name,
        hidden: figure.hidden.has(name),
        clip: 8,
        data: labels.map((label) => value(label, figure.y)),
        bounds: figure.bounds ?
            labels.map((label) => [value(label, figure.y + 1), value(label, figure.y + 2)]) :
            null,
        backgroundColor: colours,
        borderColor: colours,
        showLine: false,
        pointRadius: 5,
        pointHoverRadius: 6,
        maxBarThickness: 22,
        categoryPercentage: 0.78,
        barPercentage: 0.9,
      };
    });
    const x = axis(figure.columns[figure.y], figure.ylog);
    if (dots)
      spread(x, datasets, figure.mark);
    else
      fit(x, figure, rows);
    const y = {...category(), type: 'category', offset: true};
    const unit = figure.columns[figure.y].unit;
    return config(type, datasets, {
      labels,
      lying: true,
      scales: {x, y},
      mark: figure.mark,
      hover: ({dataset, dataIndex, parsed}) => {
        const bounds = dataset.bounds ? dataset.bounds[dataIndex] : [null, null];
        return (dataset.label ? dataset.label + ': ' : '') + text(parsed.x) + ' ' + unit +
            (bounds[0] !== null && bounds[1] !== null ?
                 ' (' + text(bounds[0]) + ' to ' + text(bounds[1]) + ')' :
                 '');
      },
    });
  }

  // So that whiskers and what is compared with lie inside.
  function spread(scale, datasets, at) {
    const values = at === null ? [] : [at];
    for (const set of datasets)
      for (const value of [...set.data, ...(set.bounds || []).flat()])
        if (value !== null) values.push(value);
    const low = Math.min(...values), high = Math.max(...values), room = (high - low || 1) * 0.06;
    scale.suggestedMin = low - room;
    scale.suggestedMax = high + room;
  }

  function stacked(figure, rows) {
    const labels = labelsOf(figure, rows);
    const at = new Map(rows.map((row) => [row[figure.x], row]));
    const datasets = figure.stacks.flatMap(
        (stack, s) => stack.map((column) => ({
                                  label: figure.columns[column].name,
                                  stack: 'stack ' + s,
                                  hidden: figure.hidden.has(figure.columns[column].name),
                                  data: labels.map((label) => number(at.get(label)[column])),
                                  backgroundColor: style(part(figure, column)),
                                  maxBarThickness: 16,
                                  categoryPercentage: 0.8,
                                  barPercentage: 0.92,
                                })));
    const unit = figure.columns[figure.stacks[0][0]].unit;
    const x = {...axis({name: 'time', unit}, false), stacked: true, beginAtZero: true};
    return config('bar', datasets, {
      labels,
      lying: true,
      scales: {x, y: {...category(), stacked: true}},
      mark: null,
      hover: ({dataset, parsed}) => dataset.label + ': ' + text(parsed.x) + ' ' + unit,
    });
  }

  function scatter(figure, rows) {
    const datasets = [...by(rows, figure.series)].map(([name, own]) => {
      const {point, ...its} = look(figure, figure.series, name);
      const colour = style(its.style);
      return {
        label: name,
        hidden: figure.hidden.has(name),
        clip: 8,
        backgroundColor: colour,
        borderColor: colour,
        pointStyle: point,
        pointRadius: 5,
        data: own.map((row) => ({x: number(row[figure.x]), y: number(row[figure.y])})),
      };
    });
    const all = datasets.flatMap((set) => set.data.flatMap(({x, y}) => [x, y]));
    const ends = [Math.min(...all), Math.max(...all)].map((value) => ({x: value, y: value}));
    datasets.push({
      type: 'line',
      label: 'equal',
      band: true,
      data: ends,
      borderColor: style('--soft'),
      borderDash: [4, 4],
      borderWidth: 1,
      pointRadius: 0,
      pointHitRadius: 0,
      backgroundColor: style('--soft'),
    });
    const room = {min: ends[0].x * 0.9, max: ends[1].x * 1.1};
    const scales = {
      x: {...axis(figure.columns[figure.x], figure.xlog), ...room},
      y: {...axis(figure.columns[figure.y], figure.ylog), ...room},
    };
    return config('scatter', datasets, {
      scales,
      mark: null,
      hover: ({dataset, raw}) => dataset.label + ': ' + text(raw.x) + ' \u2192 ' + text(raw.y) +
          ' ' + figure.columns[figure.y].unit,
    });
  }

  const kDrawings = {
    line,
    scatter,
    stacked,
    bars: (figure, rows) => lying(figure, rows, 'bar'),
    dots: (figure, rows) => lying(figure, rows, 'line'),
  };

  // Pixels that bars need so that each has its label.
  function height(figure, rows) {
    if (!['bars', 'dots', 'stacked'].includes(figure.draw)) return null;
    const labels = labelsOf(figure, rows).length;
    const each = figure.draw === 'stacked' ? figure.stacks.length : by(rows, figure.series).size;
    return labels * (each * 15 + 10) + 60;
  }

  return {parseCsv, height, legend, make: (figure, rows) => kDrawings[figure.draw](figure, rows)};
})();
