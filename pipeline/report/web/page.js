// Draws the charts of the report page, and runs its pickers and the light/dark switch.
'use strict';
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById('report-data').textContent);
  const hasCharts = typeof vegaEmbed === 'function';
  root.classList.add('scripted');
  if (hasCharts) root.classList.add('charts');

  // ---- Theme -------------------------------------------------------------------------------------------------
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const remember = {
    get() { try { return localStorage.getItem('tunemix-theme'); } catch { return null; } },
    set(theme) { try { localStorage.setItem('tunemix-theme', theme); } catch { /* private window: not kept */ } },
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : prefersDark.matches);
  const stored = remember.get();
  if (stored === 'light' || stored === 'dark') root.dataset.theme = stored;
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  function chartConfig() {
    const text = { labelColor: colour('quiet'), titleColor: colour('quiet'), labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 };
    return {
      background: 'transparent',
      font: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
      view: { stroke: null },
      axis: { ...text, gridColor: colour('line'), domainColor: colour('line'), tickColor: colour('line'), titlePadding: 10, labelPadding: 6, labelFlush: false },
      legend: { ...text, orient: 'top', direction: 'horizontal', symbolStrokeWidth: 2, symbolBaseFillColor: colour('quiet'), symbolBaseStrokeColor: colour('quiet'), labelLimit: 240, offset: 8 },
      title: { color: colour('ink'), fontSize: 13, fontWeight: 600, anchor: 'start', offset: 10, subtitleColor: colour('quiet'), subtitleFontSize: 12 },
      text: { color: colour('ink') },
      point: { filled: true },
    };
  }

  // ---- Rows: the family is a colour, the variant a dash ----------------------------------------------------------
  const palette = 12;  // colours in the style sheet; more families begin again
  const families = data.results?.families ?? [];
  const familyOf = (row) => `family-${Math.max(0, families.indexOf(row.split('+')[0])) % palette + 1}`;
  const variantOf = (row) => row.split('+').slice(1).join('+');
  const dashOf = (row) => ({ EXP: [1, 0], 'EXP.CPC': [6, 3], 'EXP.RBC': [2, 2], OneBest: [8, 3, 2, 3] })[variantOf(row)] ?? [1, 0];
  const rowColours = (rows, legend = null) => ({ field: 'row', type: 'nominal', legend, sort: null, scale: { domain: rows, range: rows.map((row) => colour(familyOf(row))) } });
  const rowDashes = (rows) => ({ field: 'row', type: 'nominal', legend: null, sort: null, scale: { domain: rows, range: rows.map(dashOf) } });
  const dimOthers = { condition: { param: 'over', empty: true, value: 1 }, value: 0.15 };  // `over`: the row under the pointer
  // n colours from `no relevance` to `the greatest`.
  const ramp = (n) => {
    const [from, to] = isDark() ? [[58, 64, 74], [139, 224, 208]] : [[222, 218, 210], [11, 91, 84]];
    return Array.from({ length: n }, (_, i) => `rgb(${from.map((low, j) => Math.round(low + (to[j] - low) * (n > 1 ? i / (n - 1) : 0)))})`);
  };
  const unique = (list) => [...new Set(list)];
  const narrow = (element) => element.clientWidth < 480;
  const number = (field, title, format = '.4f', extra = {}) => ({ field, type: 'quantitative', title, format, ...extra });
  const name = (field, title) => ({ field, type: 'nominal', title });

  // ---- Pickers ---------------------------------------------------------------------------------------------------
  const state = {};

  function controlsBefore(element) {
    const box = document.createElement('div');
    box.className = 'controls';
    element.before(box);
    return box;
  }

  // One drop-down; options are [value, label]. Nothing is shown where there is nothing to choose.
  function picker(box, label, key, options, onChange) {
    state[key] ??= options[0]?.[0];
    if (options.length < 2) return;
    const wrapper = document.createElement('label');
    const select = document.createElement('select');
    for (const [value, title] of options) select.add(new Option(title, value, false, value === state[key]));
    select.addEventListener('change', () => {
      state[key] = options[select.selectedIndex][0];
      onChange();
    });
    wrapper.append(label, select);
    box.append(wrapper);
  }
  const plain = (list, prefix = '') => list.map((value) => [value, `${prefix}${value}`]);

  // ---- Charts: each function gives a Vega-Lite spec for its place on the page -------------------------------------
  const specs = {
    folds(element) {
      const panel = data.results.panels.find((p) => p.split === state.split && p.tool === state.tool);
      const reference = panel.rows.find((r) => r.row === data.results.main) ?? panel.rows[0];
      const base = (fold) => (state.relative ? reference.folds.find((f) => f.fold === fold)?.ndcg : 0);
      const dots = panel.rows.flatMap((r) => r.folds
        .filter((f) => f.ndcg !== null && base(f.fold) != null)
        .map((f) => ({ row: r.row, fold: f.fold, value: f.ndcg - base(f.fold), ndcg: f.ndcg })));
      const means = panel.rows.map((r) => {
        const own = dots.filter((d) => d.row === r.row).map((d) => d.value);
        if (!state.relative) return { row: r.row, mean: r.ndcg, se: r.se ?? 0 };
        const mean = own.reduce((a, b) => a + b, 0) / own.length;
        const squares = own.reduce((a, b) => a + (b - mean) ** 2, 0);
        return { row: r.row, mean, se: own.length > 1 ? Math.sqrt(squares / (own.length - 1) / own.length) : 0 };
      }).filter((m) => Number.isFinite(m.mean)).map((m) => ({ ...m, low: m.mean - m.se, high: m.mean + m.se }));
      const rows = panel.rows.map((r) => r.row);
      const title = `${state.relative ? `NDCG@10 minus that of ${reference.row} in the same fold` : 'NDCG@10'} (${state.tool}, ${state.split})`;
      const y = { field: 'row', type: 'nominal', sort: null, title: null, axis: { grid: false, ticks: false, domain: false, labelColor: colour('ink'), labelLimit: 130 } };
      const x = { type: 'quantitative', title, scale: { zero: false, nice: true }, axis: { tickCount: narrow(element) ? 4 : 8 } };
      return {
        description: `${title}, a dot for each fold`,
        height: 32 * rows.length,
        encoding: { y, color: rowColours(rows) },
        layer: [
          ...(state.relative ? [{ data: { values: [{ zero: 0 }] }, mark: { type: 'rule', strokeDash: [4, 3], color: colour('quiet') }, encoding: { x: { field: 'zero', type: 'quantitative' }, y: null, color: null } }] : []),
          {
            data: { values: dots },
            mark: { type: 'point', size: 40, opacity: 0.45, yOffset: 6 },
            encoding: { x: { ...x, field: 'value' }, tooltip: [name('row', 'Row'), name('fold', 'Fold'), number('ndcg', `NDCG@10 (${state.tool})`)] },
          },
          { data: { values: means }, mark: { type: 'rule', strokeWidth: 2, yOffset: -4 }, encoding: { x: { ...x, field: 'low' }, x2: { field: 'high' } } },
          {
            data: { values: means },
            mark: { type: 'point', shape: 'diamond', size: 110, opacity: 1, stroke: colour('card'), strokeWidth: 1.5, yOffset: -4 },
            encoding: { x: { ...x, field: 'mean' }, tooltip: [name('row', 'Row'), number('mean', 'Mean over folds'), number('se', 'Standard error')] },
          },
        ],
      };
    },

    metrics(element) {
      const { rows, tool } = data.comparison;
      const values = rows.map(([row, ndcg, err, best]) => ({ row, ndcg, err, best }));
      const names = values.map((v) => v.row);
      // The whole of each family has its name beside it.
      const named = values.filter((v) => variantOf(v.row) === 'EXP' || v.row === data.results?.main);
      return {
        description: `NDCG@10 against ERR of every row (${tool}, test)`,
        height: 300,
        data: { values },
        encoding: {
          x: { field: 'ndcg', type: 'quantitative', title: `NDCG@10 (${tool}, test)`, scale: { zero: false, padding: 12 }, axis: { tickCount: narrow(element) ? 4 : 8 } },
          y: { field: 'err', type: 'quantitative', title: `ERR (${tool}, test)`, scale: { zero: false, padding: 12 }, axis: { tickCount: 6 } },
          color: rowColours(names),
        },
        layer: [
          {
            mark: { type: 'point', size: 70, opacity: 0.85 },
            encoding: {
              shape: { field: 'variant', type: 'nominal', title: null, legend: { columns: narrow(element) ? 2 : 4 } },
              tooltip: [name('row', 'Row'), number('ndcg', 'NDCG@10'), number('err', 'ERR'), number('best', 'No row better', '.1%')],
            },
            transform: [{ calculate: "split(datum.row, '+')[1]", as: 'variant' }],
          },
          // The mixture of all is mostly near the best family: its name goes below.
          ...[[-11, (v) => !v.row.startsWith('ALL+')], [14, (v) => v.row.startsWith('ALL+')]].map(([dy, own]) => (
            { data: { values: named.filter(own) }, mark: { type: 'text', dy, fontSize: 11, fontWeight: 500 }, encoding: { text: { field: 'row' } } })),
        ],
      };
    },

    learning(element) {
      const { curves, metric } = data.learning;
      const rows = curves.map((c) => c.row);
      const values = curves.flatMap((c) => c.points.map(([rounds, quality]) => ({ row: c.row, rounds, quality })));
      const ends = curves.map((c) => ({ row: c.row, rounds: c.points.at(-1)[0], quality: c.points.at(-1)[1] }));
      return {
        description: `Validation ${metric} of mixtures by their members’ number of rounds`,
        height: 280,
        data: { values },
        encoding: {
          x: { field: 'rounds', type: 'quantitative', title: 'Rounds', scale: { type: 'log', nice: false, padding: narrow(element) ? 30 : 40 }, axis: { grid: false, values: unique(values.map((v) => v.rounds)), labelOverlap: true, format: 'd' } },
          y: { field: 'quality', type: 'quantitative', title: narrow(element) ? null : `Validation ${metric}`, scale: { zero: false }, axis: { tickCount: 5, format: '.3f', domain: false } },
          color: rowColours(rows),
          opacity: dimOthers,
        },
        layer: [
          { mark: { type: 'line', strokeWidth: 2 } },
          {
            params: [{ name: 'over', select: { type: 'point', on: 'pointerover', clear: 'pointerout', fields: ['row'] } }],
            mark: { type: 'point', size: 36 },
            encoding: { tooltip: [name('row', 'Row'), number('rounds', 'Rounds', 'd'), number('quality', metric)] },
          },
          { data: { values: ends }, mark: { type: 'text', align: 'left', dx: 8, fontSize: 11, fontWeight: 500 }, encoding: { text: { field: 'row' } } },
        ],
      };
    },

    places(element) {
      const { places, tools, split } = data.tools;
      const rows = unique(places.map((p) => p.row));
      const last = tools[tools.length - 1];
      // Rows of one place share a label.
      const names = unique(places.filter((p) => p.tool === last).map((p) => p.place)).map((place) => {
        const tied = places.filter((p) => p.tool === last && p.place === place).map((p) => p.row);
        return { tool: last, place, row: tied[0], label: tied.join(' = ') };
      });
      return {
        description: `Place of every row by NDCG@10 under each preset, ${split} split`,
        height: Math.max(270, 22 * rows.length),
        data: { values: places },
        encoding: {
          x: { field: 'tool', type: 'nominal', sort: tools, title: null, scale: { type: 'point', padding: 0.15 }, axis: { labelAngle: 0, orient: 'top', domain: false, ticks: false, labelFontSize: 13, labelColor: colour('ink'), grid: true, labelOverlap: false } },
          y: { field: 'place', type: 'quantitative', title: narrow(element) ? null : `Place by NDCG@10 (${split})`, scale: { reverse: true, zero: false, nice: false, padding: 10 }, axis: { grid: false, domain: false, ticks: false, values: rows.map((_, i) => i + 1), format: 'd' } },
          color: rowColours(rows),
          opacity: dimOthers,
        },
        layer: [
          { mark: { type: 'line', strokeWidth: 2 }, encoding: { strokeDash: rowDashes(rows) } },
          {
            params: [{ name: 'over', select: { type: 'point', on: 'pointerover', clear: 'pointerout', fields: ['row'] } }],
            mark: { type: 'point', size: 110, stroke: colour('card'), strokeWidth: 1.5 },
            encoding: { tooltip: [name('row', 'Row'), name('tool', 'Preset'), number('place', 'Place', 'd'), number('ndcg', 'NDCG@10')] },
          },
          { data: { values: names }, mark: { type: 'text', align: 'left', dx: 11, fontSize: 12, fontWeight: 500, limit: narrow(element) ? 110 : 320 }, encoding: { text: { field: 'label' }, opacity: { value: 1 }, tooltip: [name('label', 'Rows')] } },
        ],
      };
    },

    curves(element) {
      const tool = element.dataset.argument;
      const rows = data.tools.rows.filter((row) => state.rows.has(row));
      const all = data.tools.curves[state.curveSplit]?.[tool] ?? {};
      const values = rows.flatMap((row) => (all[row] ?? []).map(([k, ndcg, se]) => ({ row, k, ndcg, se })));
      return {
        title: { text: tool, subtitle: `NDCG@k, ${state.curveSplit} split` },
        description: `NDCG@k under the ${tool} preset, ${state.curveSplit} split`,
        height: 190,
        data: { values },
        encoding: {
          x: { field: 'k', type: 'quantitative', title: 'k', scale: { nice: false, zero: false }, axis: { grid: false, tickMinStep: 1, format: 'd' } },
          y: { field: 'ndcg', type: 'quantitative', title: null, scale: { zero: false }, axis: { tickCount: 5, format: '.2f', domain: false } },
          color: rowColours(rows),
          opacity: dimOthers,
        },
        layer: [
          { mark: { type: 'line', strokeWidth: 2 }, encoding: { strokeDash: rowDashes(rows) } },
          {
            params: [{ name: 'over', select: { type: 'point', on: 'pointerover', clear: 'pointerout', fields: ['row'], nearest: false } }],
            mark: { type: 'point', size: 30 },
            encoding: { tooltip: [name('row', 'Row'), number('k', 'k', 'd'), number('ndcg', `NDCG@k (${tool})`), number('se', 'Standard error')] },
          },
        ],
      };
    },

    surface(element) {
      const { surfaces, choices, metric } = data.choices;
      const surface = surfaces.find((s) => s.row === state.surfaceRow && s.fold === state.surfaceFold) ?? surfaces.find((s) => s.row === state.surfaceRow);
      const values = surface.cells.map(([c, T, ndcg]) => ({ c, T: T ?? 'none', ndcg }));
      const chosen = choices.filter((x) => x.row === surface.row && x.fold === surface.fold).map((x) => ({ c: x.c, T: x.T ?? 'none' }));
      const title = `validation ${metric}`;
      const tooltip = [number('c', 'c', '~g'), name('T', 'T'), number('ndcg', metric)];
      const lengths = unique(values.map((v) => v.T)).sort((a, b) => b - a);
      const exponents = unique(values.map((v) => v.c)).sort((a, b) => a - b);
      if (lengths.length < 2) {
        const picked = values.filter((v) => chosen.some((x) => x.c === v.c));
        return {
          description: `${title} against c`,
          height: 200,
          encoding: {
            x: { field: 'c', type: 'quantitative', title: 'c', axis: { grid: false } },
            y: { field: 'ndcg', type: 'quantitative', title: narrow(element) ? null : title, scale: { zero: false }, axis: { tickCount: 5 } },
          },
          layer: [
            { data: { values }, mark: { type: 'line', color: colour('accent'), point: { size: 30, color: colour('accent') } }, encoding: { tooltip } },
            { data: { values: picked }, mark: { type: 'point', filled: false, size: 180, strokeWidth: 2.5, color: colour('ink') }, encoding: { tooltip } },
          ],
        };
      }
      const labels = narrow(element) ? 5 : 11;
      const every = [1, 2, 5, 10, 20, 50].find((step) => exponents.length / step <= labels) ?? exponents.length;
      return {
        description: `${title} by c and T`,
        height: 30 * lengths.length,
        encoding: {
          x: { field: 'c', type: 'ordinal', title: narrow(element) ? 'c' : 'c (0: plain average; large: the best member)', scale: { domain: exponents, paddingInner: 0.06 }, axis: { labelAngle: 0, values: exponents.filter((_, i) => i % every === 0), ticks: false, domain: false } },
          y: { field: 'T', type: 'ordinal', title: 'T, boosting rounds', scale: { domain: lengths, paddingInner: 0.06 }, axis: { ticks: false, domain: false } },
        },
        layer: [
          {
            data: { values },
            mark: { type: 'rect', cornerRadius: 2 },
            encoding: {
              color: { field: 'ndcg', type: 'quantitative', scale: { range: isDark() ? ['#23272e', '#1f6d66', '#8be0d0'] : ['#f1efeb', '#7fc4b6', '#0b5b54'], interpolate: 'lab', zero: false }, legend: { title: narrow(element) ? metric : title, gradientLength: narrow(element) ? 200 : 260, format: '.4f', titleLimit: 320, tickCount: 3 } },
              tooltip,
            },
          },
          { data: { values: chosen }, mark: { type: 'rect', filled: false, stroke: isDark() ? '#ff8a3d' : '#c2701c', strokeWidth: 3, cornerRadius: 2, tooltip: null } },
        ],
      };
    },

    members(element) {
      const { points, names, groups, metric, colours } = data.members;
      const values = points.map(([fold, family, kind, label, ndcg, weight, share]) => ({
        fold, family: groups[family], kind: groups[kind], member: names[label], ndcg, weight, share,
      })).filter((v) => (state.memberFold === 'all' || v.fold === state.memberFold) && v[state.memberY] > 0);
      const shown = unique(points.map((p) => groups[p[1]])).sort((a, b) => Object.keys(colours).indexOf(a) - Object.keys(colours).indexOf(b));
      const heaviest = Math.max(...values.map((v) => v[state.memberY]), 1e-12);
      const decades = Array.from({ length: 8 }, (_, i) => 10 ** -i);
      const title = state.memberY === 'weight' ? 'Weight in the mixture' : 'Share of the mixture’s variance';
      return {
        description: `${title} against the member’s validation ${metric}`,
        height: 320,
        data: { values: values.map((v) => ({ ...v, y: Math.max(v[state.memberY], heaviest * 1e-6) })) },
        mark: { type: 'point', size: 26, opacity: values.length > 1500 ? 0.35 : 0.6 },
        encoding: {
          x: { field: 'ndcg', type: 'quantitative', title: narrow(element) ? metric : `Member’s validation ${metric}`, scale: { zero: false }, axis: { tickCount: narrow(element) ? 4 : 6 } },
          y: { field: 'y', type: 'quantitative', title, scale: { type: 'log' }, axis: { format: '~%', values: decades } },
          color: { field: 'family', type: 'nominal', title: null, scale: { domain: shown, range: shown.map((f) => colour(`family-${colours[f]}`)) }, legend: { columns: narrow(element) ? 2 : 6 } },
          shape: { field: 'kind', type: 'nominal', title: null },
          tooltip: [name('member', 'Member'), name('fold', 'Fold'), number('ndcg', metric), number('weight', 'Weight', '.3%'), number('share', 'Share of variance', '.3%')],
        },
        usermeta: { canvas: values.length > 1500 },
      };
    },

    reliability(element) {
      const curve = data.reliability[Number(element.dataset.argument)];
      const values = curve.points.map(([predicted, observed, count]) => ({ predicted, observed, count }));
      const top = Math.max(...values.map((v) => Math.max(v.predicted, v.observed)), 1e-6);
      // Scores that only rank have a curve of their own scale and nothing to be compared with.
      const scale = curve.grades ? { domain: [0, top > 0.5 && top <= 1 ? 1 : top], nice: top > 1, zero: true } : { zero: false };
      const axis = { tickCount: 5, domain: false };
      return {
        title: { text: curve.member, subtitle: curve.grades ? `calibration error ${curve.ece}` : 'a ranking score, not a grade', limit: Math.max(200, element.clientWidth - 20) },
        description: `Reliability of ${curve.member}, fold ${curve.fold}`,
        height: 210,
        layer: [
          ...(curve.grades ? [{ data: { values: [{ v: 0 }, { v: scale.domain[1] }] }, mark: { type: 'line', strokeDash: [4, 3], color: colour('quiet'), strokeWidth: 1 }, encoding: { x: { field: 'v', type: 'quantitative', scale }, y: { field: 'v', type: 'quantitative', scale } } }] : []),
          { data: { values }, mark: { type: 'line', color: colour('accent'), strokeWidth: 1.5, opacity: 0.6 }, encoding: { x: { field: 'predicted', type: 'quantitative', scale: curve.grades ? scale : { zero: false } }, y: { field: 'observed', type: 'quantitative', scale: curve.grades ? scale : { zero: false } } } },
          {
            data: { values },
            mark: { type: 'point', color: colour('accent'), opacity: 0.9 },
            encoding: {
              x: { field: 'predicted', type: 'quantitative', title: curve.grades ? 'predicted grade' : 'score', axis: { ...axis, grid: false } },
              y: { field: 'observed', type: 'quantitative', title: 'observed grade', axis },
              size: { field: 'count', type: 'quantitative', legend: null, scale: { range: [12, 160] } },
              tooltip: [number('predicted', 'Predicted', '.3f'), number('observed', 'Observed', '.3f'), number('count', 'Documents', ',d')],
            },
          },
        ],
      };
    },

    features(element) {
      const model = data.features.find((m) => m.model === state.featureModel);
      const values = model.features.slice(0, narrow(element) ? 12 : 20).map(([feature, use]) => ({ feature: String(feature), use }));
      return {
        description: `Share of splits by feature, ${model.model}`,
        height: 240,
        data: { values },
        mark: { type: 'bar', color: colour('family-1'), cornerRadiusEnd: 3 },
        encoding: {
          x: { field: 'feature', type: 'nominal', sort: null, title: model.of > values.length ? `Feature (the first ${values.length} of ${model.of})` : 'Feature', axis: { labelAngle: values.some((v) => v.feature.length > 6) ? -45 : 0, labelLimit: 120, ticks: false, labelOverlap: 'greedy' }, scale: { paddingInner: 0.25 } },
          y: { field: 'use', type: 'quantitative', title: 'Share of splits', axis: { format: '~%', tickCount: 5, domain: false } },
          tooltip: [name('feature', 'Feature'), number('use', 'Share of splits', '.2%')],
        },
      };
    },

    bandit(element) {
      const model = data.bandit.find((m) => m.model === state.banditModel);
      const features = model.series.map((s) => String(s.feature));
      const values = model.series.flatMap((s) => s.points.map(([round, probability]) => ({ feature: String(s.feature), round, probability })));
      const colours = isDark()
        ? ['#7aa7f7', '#e79a4d', '#4fc1b0', '#e58a9c', '#b79be8', '#c9c26a', '#8fd0f0', '#b0b5bf']
        : ['#2b64c9', '#c2701c', '#0f766e', '#b8405a', '#7a5ea8', '#8a7d12', '#3a93b8', '#6b7280'];
      return {
        description: `Probability of the likeliest features over the rounds, ${model.model}`,
        height: 260,
        data: { values },
        encoding: {
          x: { field: 'round', type: 'quantitative', title: 'Round', axis: { grid: false, tickCount: 6 }, scale: { nice: false } },
          y: { field: 'probability', type: 'quantitative', title: 'Probability of being drawn', axis: { format: '~%', tickCount: 5, domain: false } },
          color: { field: 'feature', type: 'nominal', sort: null, title: 'Feature', scale: { domain: features, range: colours }, legend: { columns: narrow(element) ? 4 : 8 } },
          opacity: dimOthers,
        },
        layer: [
          { mark: { type: 'line', strokeWidth: 1.8 } },
          {
            params: [{ name: 'over', select: { type: 'point', on: 'pointerover', clear: 'pointerout', fields: ['feature'] } }],
            mark: { type: 'point', size: 60, opacity: 0 },
            encoding: { opacity: { value: 0 }, tooltip: [name('feature', 'Feature'), number('round', 'Round', 'd'), number('probability', 'Probability', '.2%')] },
          },
        ],
      };
    },

    labels(element) {
      const values = data.data.flatMap((s) => {
        const total = s.labels.reduce((a, b) => a + b, 0) || 1;
        return s.labels.map((count, label) => ({ split: s.split, fold: s.fold, label: String(label), order: label, count, share: count / total }));
      }).filter((v) => v.fold === state.dataFold);
      const labels = unique(values.map((v) => v.label));
      return {
        description: `Share of documents with each label, fold ${state.dataFold}`,
        height: 34 * unique(values.map((v) => v.split)).length,
        data: { values },
        mark: { type: 'bar', cornerRadius: 2 },
        encoding: {
          y: { field: 'split', type: 'nominal', sort: null, title: null, axis: { ticks: false, domain: false, labelColor: colour('ink') }, scale: { paddingInner: 0.3 } },
          x: { field: 'share', type: 'quantitative', stack: 'zero', title: 'Share of documents', axis: { format: '~%', tickCount: narrow(element) ? 4 : 8 }, scale: { domain: [0, 1] } },
          color: { field: 'label', type: 'ordinal', title: 'Label', scale: { domain: labels, range: ramp(labels.length) } },
          order: { field: 'order', type: 'quantitative' },
          tooltip: [name('split', 'Split'), name('label', 'Label'), number('count', 'Documents', ',d'), number('share', 'Share', '.1%')],
        },
      };
    },

    timing() {
      const values = data.timing.map(([stage, seconds, label]) => ({ stage, seconds, label }));
      const longest = Math.max(...values.map((v) => v.seconds), 1e-9);
      return {
        description: 'Seconds of every stage',
        height: 32 * values.length,
        data: { values },
        encoding: {
          y: { field: 'stage', type: 'nominal', sort: null, title: null, axis: { ticks: false, domain: false, labelColor: colour('ink') }, scale: { paddingInner: 0.35 } },
          x: { field: 'seconds', type: 'quantitative', title: null, scale: { domain: [0, longest * 1.18] }, axis: null },
        },
        layer: [
          { mark: { type: 'bar', color: colour('family-1'), cornerRadiusEnd: 3, minBandSize: 2 }, encoding: { tooltip: [name('stage', 'Stage'), name('label', 'Time')] } },
          { mark: { type: 'text', align: 'left', dx: 6, fontSize: 12, color: colour('quiet') }, encoding: { text: { field: 'label' } } },
        ],
      };
    },
  };

  // ---- Drawing ---------------------------------------------------------------------------------------------------
  const drawn = new Map();  // element -> vega-embed result
  const status = { errors: [] };

  async function draw(element) {
    try {
      const spec = specs[element.dataset.chart](element);
      drawn.get(element)?.finalize();
      const config = chartConfig();
      const result = await vegaEmbed(element, {
        width: 'container', autosize: { type: 'fit-x', contains: 'padding' }, ...spec,
      }, { actions: false, renderer: spec.usermeta?.canvas ? 'canvas' : 'svg', config, tooltip: { theme: isDark() ? 'dark' : 'light' }, mode: 'vega-lite' });
      drawn.set(element, result);
    } catch (error) {
      status.errors.push(`${element.dataset.chart}: ${error.message}`);
      element.classList.add('failed');
      console.error(error);
    }
  }

  const places = (kind) => [...document.querySelectorAll(`.chart[data-chart="${kind}"]`)];

  async function redraw(elements) {
    if (!hasCharts) return;
    delete root.dataset.charts;
    for (const element of elements) await draw(element);
    const all = document.querySelectorAll('.chart');
    root.dataset.chartErrors = status.errors.join('; ');
    root.dataset.charts = `${document.querySelectorAll('.chart > svg, .chart > canvas').length}/${all.length}`;
  }

  function fillReliability() {
    const grid = document.querySelector('[data-grid="reliability"]');
    const limit = 6;
    const shown = data.reliability.map((curve, index) => ({ ...curve, index })).filter((c) => c.fold === state.reliabilityFold);
    for (const element of grid.children) drawn.get(element)?.finalize();
    grid.replaceChildren(...shown.slice(0, state.reliabilityAll ? shown.length : limit).map(({ index }) => {
      const element = document.createElement('div');
      element.className = 'chart';
      element.dataset.chart = 'reliability';
      element.dataset.argument = index;
      return element;
    }));
    const more = document.getElementById('more-reliability');
    if (more) {
      more.hidden = shown.length <= limit;
      more.textContent = state.reliabilityAll ? 'Show fewer' : `Show all ${shown.length}`;
      more.setAttribute('aria-pressed', String(Boolean(state.reliabilityAll)));
    }
    return [...grid.children];
  }

  function showPanels() {
    for (const panel of document.querySelectorAll('.panel'))
      panel.classList.toggle('shown', panel.dataset.split === state.split && panel.dataset.tool === state.tool);
  }

  function setUpResults() {
    const panels = data.results.panels;
    const first = document.querySelector('#results .panel');
    const box = controlsBefore(first);
    const change = () => { showPanels(); redraw(places('folds')); };
    picker(box, 'Split', 'split', plain(unique(panels.map((p) => p.split))), change);
    picker(box, 'Preset', 'tool', plain(unique(panels.map((p) => p.tool))), change);
    const folds = places('folds')[0];
    if (folds && hasCharts)
      picker(controlsBefore(folds), 'Show', 'relative', [[false, 'as measured'], [true, `against ${data.results.main}`]], () => redraw([folds]));
    showPanels();
  }

  function setUpCurves() {
    const grid = document.querySelector('[data-controls="curves"]');
    const box = controlsBefore(grid);
    picker(box, 'Split', 'curveSplit', plain(Object.keys(data.tools.curves)), () => redraw(places('curves')));
    const common = data.tools.rows.filter((row) => variantOf(row) === 'EXP' || row === data.results?.main);
    state.rows = new Set(common.length ? common : data.tools.rows);
    const chips = document.createElement('div');
    chips.className = 'chips';
    for (const row of data.tools.rows) {
      const chip = document.createElement('button');
      chip.type = 'button';
      chip.className = familyOf(row);
      chip.innerHTML = `<svg width="22" height="6" aria-hidden="true"><path d="M0 3H22" stroke-dasharray="${dashOf(row).join(' ')}"/></svg>`;
      chip.append(row);
      chip.setAttribute('aria-pressed', state.rows.has(row));
      chip.addEventListener('click', () => {
        if (!state.rows.delete(row)) state.rows.add(row);
        chip.setAttribute('aria-pressed', state.rows.has(row));
        redraw(places('curves'));
      });
      chips.append(chip);
    }
    box.append(chips);
  }

  function setUpCharts() {
    if (data.tools?.curves) setUpCurves();
    if (data.choices) {
      const { surfaces, row } = data.choices;
      const element = places('surface')[0];
      const box = controlsBefore(element);
      state.surfaceRow = row;
      picker(box, 'Row', 'surfaceRow', plain(unique(surfaces.map((s) => s.row))), () => redraw([element]));
      picker(box, 'Fold', 'surfaceFold', plain(unique(surfaces.map((s) => s.fold))), () => redraw([element]));
      if (data.choices.choices.length) box.append('The outlined cell was chosen.');
    }
    if (data.members) {
      const element = places('members')[0];
      const box = controlsBefore(element);
      const folds = unique(data.members.points.map((p) => p[0])).sort((a, b) => a - b);
      picker(box, 'Fold', 'memberFold', [['all', 'all'], ...plain(folds)], () => redraw([element]));
      picker(box, 'Show', 'memberY', [['weight', 'weight'], ['share', 'share of variance']], () => redraw([element]));
    }
    if (data.reliability) {
      const box = controlsBefore(document.querySelector('[data-grid="reliability"]'));
      const update = () => redraw(fillReliability());
      picker(box, 'Fold', 'reliabilityFold', plain(unique(data.reliability.map((c) => c.fold))), update);
      const chips = document.createElement('div');
      chips.className = 'chips';
      const more = document.createElement('button');
      more.type = 'button';
      more.id = 'more-reliability';
      more.addEventListener('click', () => { state.reliabilityAll = !state.reliabilityAll; update(); });
      chips.append(more);
      box.append(chips);
      fillReliability();
    }
    for (const [section, key, kind] of [['features', 'featureModel', 'features'], ['bandit', 'banditModel', 'bandit']]) {
      if (!data[section]) continue;
      const element = places(kind)[0];
      picker(controlsBefore(element), 'Model', key, plain(data[section].map((m) => m.model)), () => redraw([element]));
    }
    if (data.data) {
      const element = places('labels')[0];
      picker(controlsBefore(element), 'Fold', 'dataFold', plain(unique(data.data.map((s) => s.fold))), () => redraw([element]));
    }
    for (const block of document.querySelectorAll('details.numbers')) block.open = false;
  }

  const themeButton = document.getElementById('theme');
  themeButton.hidden = false;
  themeButton.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    remember.set(root.dataset.theme);
    redraw(document.querySelectorAll('.chart'));
  });
  prefersDark.addEventListener('change', () => redraw(document.querySelectorAll('.chart')));

  if (data.results) setUpResults();
  if (hasCharts) {
    setUpCharts();
    redraw(document.querySelectorAll('.chart'));
  }
})();
