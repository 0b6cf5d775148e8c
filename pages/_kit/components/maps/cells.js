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

// `map` is a message of viz_core/render/canvas.py. Cells come as [row, column], ranges as tokens,
// the end excluded.
function read(map) {
  const filled = counts(map.filled);
  const start = new Uint32Array(filled.length + 1); // of each row, in the packed values
  filled.forEach((n, r) => (start[r + 1] = start[r] + n));
  const values = floats(map.values);
  const range = (cell, [first, last]) => [
    first + cell * map.cell,
    Math.min(first + (cell + 1) * map.cell, last),
  ];
  const inside = (token, [first, last]) => token >= first && token < last;
  return {
    map, values, filled,
    value: (r, c) => (c < filled[r] ? values[start[r] + c] : undefined),
    query: (r) => range(r, map.rows),
    key: (c) => range(c, map.columns),
    // the cell that holds a pair of tokens, or null
    at: (query, key) =>
      inside(query, map.rows) && inside(key, map.columns)
        ? [Math.floor((query - map.rows[0]) / map.cell), Math.floor((key - map.columns[0]) / map.cell)]
        : null,
  };
}

function paint({ map, values, filled }) {
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
      pixels[r * columns + c] = pixel[level <= 0 ? 0 : level >= 255 ? 255 : Math.round(level)];
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
function pairs([a, b], [c, d]) {
  const before = (row, column) => {
    const n = Math.max(0, row - column);
    return (n * (n + 1)) / 2;
  };
  return before(b, c) - before(a, c) - before(b, d) + before(a, d);
}

const hidden = (rows, columns) => columns[0] >= rows[1]; // every key lies after every query

function span([a, b]) {
  return b - a === 1 ? number(a) : `${number(a)}–${number(b - 1)}`;
}

function describe(cells, r, c) {
  const { map } = cells;
  const query = cells.query(r), key = cells.key(c);
  const word = (words, i) => (words.length ? ` “${words[i]}”` : "");
  const place = `query ${span(query)}${word(map.row_words, r)}, key ${span(key)}${word(map.column_words, c)}`;
  const value = cells.value(r, c);
  if (value === undefined) return `${place}: the key lies after the query`;
  const near = Math.max(0, query[0] - (key[1] - 1)), far = query[1] - 1 - key[0];
  const said = [place, `distance ${near === far ? number(near) : `${number(near)}–${number(far)}`}`];
  const held = pairs(query, key);
  if (map.cell > 1) said.push(`${number(held)} ${held === 1 ? "pair" : "pairs"}`);
  if (map.unit === "nats") return `${said.join(", ")}: ${value.toFixed(2)} nats about the row's mean`;
  const log = map.unit === "A" ? Math.log10(value) : value;
  return `${said.join(", ")}: ${map.of} = ${(10 ** log).toExponential(2)}, log₁₀ ${log.toFixed(2)}`;
}
