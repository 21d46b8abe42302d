// What a page does: it draws charts when somebody looks at them, sorts tables and copies data.
'use strict';

(() => {
  const drawn = new Map();  // canvas -> Chart

  const figures = new WeakMap();
  function figureOf(element) {
    const holder = element.closest('figure');
    if (!figures.has(holder)) {
      const figure =
          JSON.parse(holder.querySelector('script[type="application/json"]').textContent);
      figure.rows = Charts.parseCsv(figure.csv).slice(1);
      figure.hidden = new Set();
      figures.set(holder, figure);
    }
    return figures.get(holder);
  }

  function draw(canvas) {
    if (drawn.has(canvas)) drawn.get(canvas).destroy();
    const figure = figureOf(canvas);
    const rows = figure.facets[Number(canvas.dataset.facet)].map((row) => figure.rows[row]);
    const height = Charts.height(figure, rows);
    if (height !== null) canvas.parentElement.style.height = height + 'px';
    drawn.set(canvas, new Chart(canvas, Charts.make(figure, rows)));
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      if (!drawn.has(entry.target)) draw(entry.target);
    }
  }, {rootMargin: '300px'});

  // ---- what is drawn, and how ----

  // One legend for all charts of a figure.
  function addLegend(holder) {
    const figure = figureOf(holder.firstElementChild);
    const legend = document.createElement('p');
    legend.className = 'legend';
    for (const {name, style} of Charts.legend(figure)) {
      const button = document.createElement('button');
      const square = document.createElement('span');
      square.style.background = 'var(' + style + ')';
      button.type = 'button';
      button.ariaPressed = 'true';
      button.append(square, name);
      button.addEventListener('click', () => {
        const hide = !figure.hidden.has(name);
        if (hide)
          figure.hidden.add(name);
        else
          figure.hidden.delete(name);
        button.ariaPressed = String(!hide);
        holder.querySelectorAll('canvas').forEach((canvas) => {
          if (drawn.has(canvas)) draw(canvas);
        });
      });
      legend.append(button);
    }
    if (legend.children.length > 0) holder.querySelector('.facets, .plot').before(legend);
  }
  document.querySelectorAll('figure:has(canvas)').forEach(addLegend);

  const canvases = () => document.querySelectorAll('canvas[data-facet]');
  canvases().forEach((canvas) => watcher.observe(canvas));

  document.querySelectorAll('.pick select').forEach((select) => {
    const canvas = select.closest('figure').querySelector('canvas');
    const choose = () => {
      canvas.dataset.facet = select.value;
    };
    choose();  // browsers keep what was chosen over a reload
    select.addEventListener('change', () => {
      choose();
      draw(canvas);
    });
  });

  // ---- light, dark and paper ----

  const again = () => [...drawn.keys()].forEach(draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);

  // Folds that are closed stay so: their data is in the files beside the page.
  addEventListener('beforeprint', () => {
    document.documentElement.dataset.paper = '';
    canvases().forEach(draw);
  });
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset.paper;
    again();
  });

  // ---- sorting ----

  // What is not there comes last, whichever way.
  function compare(a, b, way) {
    if (a === '' || b === '') return (a === '') - (b === '');
    if (typeof a === 'number' && typeof b === 'number') return way * (a - b);
    return way * String(a).localeCompare(String(b), 'en', {numeric: true});
  }

  function key(row, column) {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  }

  function sort(heading) {
    const way = heading.ariaSort === 'ascending' ? -1 : 1;
    for (const other of heading.parentElement.cells) other.ariaSort = 'none';
    heading.ariaSort = way === 1 ? 'ascending' : 'descending';
    const body = heading.closest('table').tBodies[0];
    const rows = [...body.rows].map((row) => ({row, key: key(row, heading.cellIndex)}));
    rows.sort((a, b) => compare(a.key, b.key, way));
    body.append(...rows.map(({row}) => row));
  }

  document.querySelectorAll('table.sortable thead th').forEach((heading) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    heading.append(button);
    heading.ariaSort = 'none';
  });
  document.addEventListener('click', (event) => {
    const button = event.target.closest('table.sortable thead button');
    if (button) sort(button.closest('th'));
  });

  // ---- copying ----

  function copyByHand(text) {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const good = document.execCommand('copy');
    area.remove();
    if (!good) throw new Error('the browser does not let pages copy');
  }

  document.querySelectorAll('.csv .copy').forEach((button) => {
    const words = button.textContent;
    button.addEventListener('click', async () => {
      const {csv} = figureOf(button);
      try {
        // Pages that come from a file have no clipboard in some browsers.
        if (navigator.clipboard)
          await navigator.clipboard.writeText(csv).catch(() => copyByHand(csv));
        else
          copyByHand(csv);
        button.textContent = 'Copied';
      } catch (error) {
        button.textContent = 'Not copied: ' + error.message;
      }
      setTimeout(() => {
        button.textContent = words;
      }, 2000);
    });
  });
})();
