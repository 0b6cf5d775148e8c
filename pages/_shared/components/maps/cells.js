// One map's cells: their values and colours, the tokens that they stand for, and words for them.
// All files of this folder are one module.

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i); // ten times as fast as .from
  return out;
}
const floats = (text) => new Float32Array(bytes(text).buffer);
const counts = (text) => new Uint32Array(bytes(text).buffer);
const number = (n) => n.toLocaleString("en-US");
// A message of the page's language, its {fields} filled in.
const said = (message, fields) => message.replace(/\{(\w+)\}/g, (_, name) => fields[name]);

// `map` is a message of viz_core/render/canvas.py, with `words` in the page's language. Cells come as [row, column], ranges as tokens,
// the end excluded.
function read(map) {
  const filled = counts(map.filled), offset = counts(map.first); // a row's cells need not start it
  const start = new Uint32Array(filled.length + 1); // of each row, in the packed values
  filled.forEach((n, r) => (start[r + 1] = start[r] + n));
  const values = floats(map.values);
  const range = (cell, [first, last]) => [
    first + cell * map.cell,
    Math.min(first + (cell + 1) * map.cell, last),
  ];
  const inside = (token, [first, last]) => token >= first && token < last;
  return {
    map, values, filled, offset,
    value: (r, c) => (c >= offset[r] && c < offset[r] + filled[r] ? values[start[r] + c - offset[r]] : undefined),
    query: (r) => range(r, map.rows),
    key: (c) => range(c, map.columns),
    // the cell that holds a pair of tokens, or null
    at: (query, key) =>
      inside(query, map.rows) && inside(key, map.columns)
        ? [Math.floor((query - map.rows[0]) / map.cell), Math.floor((key - map.columns[0]) / map.cell)]
        : null,
  };
}

function paint({ map, values, filled, offset }) {
  const [rows, columns] = map.shape;
  const colours = bytes(map.colours);
  const whole = new Uint8Array(1024); // the same colours as whole pixels, opaque
  for (let i = 0; i < 256; i++) whole.set([...colours.subarray(3 * i, 3 * i + 3), 255], 4 * i);
  const pixel = new Uint32Array(whole.buffer);
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const steps = 255 / (map.high - map.low || 1);
  for (let r = 0, from = 0; r < rows; r++) {
    for (let c = 0; c < filled[r]; c++) {
      const level = (values[from++] - map.low) * steps;
      pixels[r * columns + offset[r] + c] = pixel[level <= 0 ? 0 : level >= 255 ? 255 : Math.round(level)];
    }
  }
  const canvas = element("canvas");
  canvas.width = columns;
  canvas.height = rows;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// Pairs of a query and a key not after it: of the queries before `row` and the keys from `column`
// on there are 1 + 2 + ... + (row - column).
function earlier([a, b], [c, d]) {
  const before = (row, column) => {
    const n = Math.max(0, row - column);
    return (n * (n + 1)) / 2;
  };
  return before(b, c) - before(a, c) - before(b, d) + before(a, d);
}

// How many pairs a cell holds, or null where only the model's window would tell.
function pairs(map, query, key) {
  if (map.pairs === "all") return (query[1] - query[0]) * (key[1] - key[0]);
  return map.pairs === "causal" ? earlier(query, key) : null;
}

const late = (rows, columns) => columns[0] >= rows[1]; // every key lies after every query

// Whether no query of the box sees a key of it.
function hidden({ map, filled, offset }, rows, columns) {
  if (map.pairs === "causal") return late(rows, columns);
  const cell = (token, [first]) => Math.floor((token - first) / map.cell);
  const [left, right] = [columns[0], columns[1] - 1].map((key) => cell(key, map.columns));
  for (let r = cell(rows[0], map.rows); r <= cell(rows[1] - 1, map.rows); r++) {
    if (filled[r] && offset[r] <= right && left < offset[r] + filled[r]) return false;
  }
  return true;
}

function distance(words, query, key) {
  const ahead = late(query, key);
  const [first, last] = ahead ? [query, key] : [key, query];
  const near = Math.max(0, last[0] - (first[1] - 1)), far = last[1] - 1 - first[0];
  const range = near === far ? number(near) : `${number(near)}–${number(far)}`;
  return said(ahead ? words.ahead : words.distance, { distance: range });
}

function span([a, b]) {
  return b - a === 1 ? number(a) : `${number(a)}–${number(b - 1)}`;
}

function describe(cells, r, c) {
  const { map } = cells, { words } = map;
  const query = cells.query(r), key = cells.key(c);
  const word = (tokens, i) => (tokens.length ? ` “${tokens[i]}”` : "");
  const place = said(words.place, {
    query: span(query) + word(map.row_words, r),
    key: span(key) + word(map.column_words, c),
  });
  const value = cells.value(r, c);
  if (value === undefined) return said(late(query, key) ? words.late : words.outside, { place });
  const parts = [place, distance(words, query, key)];
  const held = pairs(map, query, key);
  if (map.cell > 1 && held !== null) parts.push(said(held === 1 ? words.pair : words.pairs, { n: number(held) }));
  const where = parts.reduce((before, one) => said(words.listed, { before, one }));
  if (map.of === words.attribution) return said(words.attributed, { where, value: value.toPrecision(2) });
  if (map.unit === "nats") return said(words.centred, { where, value: value.toFixed(2) });
  const log = map.unit === "A" ? Math.log10(value) : value;
  return said(words.value, { where, of: map.of, value: (10 ** log).toExponential(2), log: log.toFixed(2) });
}
