// What charts are made of: data, colours, axes, and what is drawn over them.
'use strict';

const Parts = (() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const kColours = 7;

  // Rows of text, as RFC 4180 has them.
  function parseCsv(text) {
    const rows = [];
    let row = [], field = '', quoted = false;
    for (let i = 0; i < text.length; ++i) {
      const c = text[i];
      if (quoted) {
        if (c !== '"')
          field += c;
        else if (text[i + 1] === '"') {
          field += '"';
          ++i;
        } else
          quoted = false;
      } else if (c === '"')
        quoted = true;
      else if (c === ',') {
        row.push(field);
        field = '';
      } else if (c === '\n') {
        row.push(field);
        rows.push(row);
        row = [];
        field = '';
      } else if (c !== '\r')
        field += c;
    }
    return rows;
  }

  const number = (text) => (text === '' || text === undefined ? null : Number(text));

  function text(value) {
    if (value === null || value === undefined) return '';
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e7))
      return Number(value.toPrecision(3)).toExponential();
    return Number(value.toPrecision(4)).toLocaleString('en-GB', {maximumFractionDigits: 6});
  }

  const title = (column, log) =>
      column.name + (column.unit ? ', ' + column.unit : '') + (log ? ' (logarithmic)' : '');

  // The same codec has the same colour in every chart of the page. Styles are named, because dark
  // pages have others.
  const places = new Map();
  function look(figure, column, name) {
    if (name === figure.first && name !== '')
      return {style: '--ink', dash: [], point: 'circle', width: 2.5};
    const key = column === null ? '' : figure.columns[column].name;
    if (!places.has(key)) places.set(key, new Map());
    const seen = places.get(key);
    if (!seen.has(name)) seen.set(name, seen.size);
    const i = seen.get(name), round = Math.floor(i / kColours);
    return {
      style: '--c' + (i % kColours),
      dash: [[], [7, 4], [2, 3]][round % 3],
      point: ['circle', 'rectRot', 'triangle'][round % 3],
      width: 2,
    };
  }
  const part = (figure, column) => '--c' + (figure.stacks.flat().indexOf(column) % kColours);

  const faded = (colour) => colour + '26';

  function distinct(values) {
    return [...new Set(values)];
  }

  function by(rows, column) {
    const groups = new Map();
    for (const row of rows) {
      const key = column === null ? '' : row[column];
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    }
    return groups;
  }

  // ---- what is drawn over the charts ----

  const whiskers = {
    id: 'whiskers',
    afterDatasetsDraw(chart) {
      const {ctx, scales, chartArea: area} = chart;
      chart.data.datasets.forEach((set, s) => {
        if (!set.bounds || !chart.isDatasetVisible(s)) return;
        chart.getDatasetMeta(s).data.forEach((element, i) => {
          const bounds = set.bounds[i];
          if (!bounds || bounds[0] === null || bounds[1] === null) return;
          const [low, high] = bounds.map((value) => scales.x.getPixelForValue(value));
          ctx.save();
          ctx.beginPath();
          ctx.rect(area.left, area.top, area.width, area.height);
          ctx.clip();
          ctx.strokeStyle = style('--ink');
          ctx.lineWidth = 1.2;
          ctx.beginPath();
          ctx.moveTo(low, element.y);
          ctx.lineTo(high, element.y);
          for (const x of [low, high]) {
            ctx.moveTo(x, element.y - 4);
            ctx.lineTo(x, element.y + 4);
          }
          ctx.stroke();
          ctx.restore();
        });
      });
    },
  };

  const mark = {
    id: 'mark',
    beforeDatasetsDraw(chart) {
      const value = chart.config.options.mark;
      if (value === null || value === undefined) return;
      const {ctx, chartArea: area, scales} = chart;
      const lying = chart.config.options.indexAxis === 'y';
      const at = (lying ? scales.x : scales.y).getPixelForValue(value);
      ctx.save();
      ctx.strokeStyle = style('--soft');
      ctx.setLineDash([4, 4]);
      ctx.beginPath();
      if (lying) {
        ctx.moveTo(at, area.top);
        ctx.lineTo(at, area.bottom);
      } else {
        ctx.moveTo(area.left, at);
        ctx.lineTo(area.right, at);
      }
      ctx.stroke();
      ctx.restore();
    },
  };

  // ---- axes and hover ----

  // Round numbers on a logarithmic axis: so many that there are some, and not too many.
  function marks(low, high) {
    if (high / low < 3) {
      const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
      const first = Math.ceil(low / step), count = Math.floor(high / step) - first + 1;
      return Array.from(
          {length: Math.max(count, 0)}, (_, i) => Number(((first + i) * step).toPrecision(12)));
    }
    const steps = high / low < 10 ? [1, 1.5, 2, 3, 4, 5, 7] : high / low < 1000 ? [1, 2, 5] : [1];
    const all = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power)
      for (const step of steps) all.push(Number((step * 10 ** power).toPrecision(12)));
    return all.filter((value) => value >= low && value <= high);
  }

  function axis(column, log, values) {
    const options = {
      type: log ? 'logarithmic' : 'linear',
      title: {display: true, text: title(column, log), color: style('--soft')},
      grid: {color: style('--line'), borderColor: style('--line'), tickLength: 4},
      ticks: {color: style('--soft'), maxRotation: 0, callback: (value) => text(value)},
    };
    // There is no epoch between two.
    if (values && values.every(Number.isInteger)) options.ticks.precision = 0;
    if (log) {
      options.bounds = 'data';
      // Counts as they were measured, when they are few.
      const few = values && values.length <= 12;
      if (few) [options.min, options.max] = [values[0], values[values.length - 1]];
      options.afterBuildTicks = (scale) => {
        scale.ticks = (few ? values : marks(scale.min, scale.max)).map((value) => ({value}));
      };
    }
    return options;
  }

  // A long name has several lines: 'qsgd:bits=4,bucket=512' breaks after its colon.
  const kLongName = 18;
  const lines = (name) => (name.length > kLongName ? name.split(/(?<=:)|(?<=,) /) : name);
  const category = () => ({
    grid: {display: false, borderColor: style('--line')},
    ticks: {
      color: style('--ink'),
      autoSkip: false,
      callback(value) {
        return lines(this.getLabelForValue(value));
      },
    },
  });

  function config(type, datasets, options) {
    return {
      type,
      data: {datasets, labels: options.labels},
      plugins: [whiskers, mark],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        indexAxis: options.lying ? 'y' : 'x',
        mark: options.mark,
        scales: options.scales,
        font: {family: 'system-ui, sans-serif'},
        interaction: {mode: 'nearest', intersect: false, axis: options.lying ? 'y' : 'xy'},
        plugins: {
          legend: {display: false},
          tooltip: {
            filter: (item) => !item.dataset.band,
            callbacks: {title: options.hoverTitle, label: options.hover},
          },
        },
      },
    };
  }

  return {style, parseCsv, number, text, look, part, faded, distinct, by, axis, category, config};
})();
