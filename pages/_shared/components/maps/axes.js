// Axes around a map: positions, or the tokens themselves where they are few; the trained length.

const SOME = 40; // tokens on an axis that are few enough to be written out
const TOKEN = 70; // pixels that a token may take

function ticks([first, last], most) {
  const whole = last - first;
  const rough = whole / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  // lengths are powers of two more often than of ten
  const even = Math.log2(whole) % 1 === 0;
  const step = Math.max(1, even ? 2 ** Math.ceil(Math.log2(rough)) : nice);
  const out = [];
  for (let t = Math.ceil(first / step) * step; t <= last; t += step) out.push(t);
  return out;
}

const spelled = (words, map, [a, b]) => words.length > 0 && map.cell === 1 && b - a <= SOME;

// Where things stand: the square of the map within its canvas, and tokens in pixels.
function layout(map, view, width, height) {
  const rows = spelled(map.row_words, map, map.rows), columns = spelled(map.column_words, map, map.columns);
  // about as much room as the longest words take, and the axis's name
  const room = (words) => 26 + Math.min(TOKEN, 7 * Math.max(...words.map((word) => word.length)));
  const l = room(rows ? map.row_words : [number(map.rows[1])]), b = columns ? room(map.column_words) : 34;
  const top = 4, right = 18;
  const side = Math.max(1, Math.min(width - l - right, height));
  return {
    l, b, top, side, rows, columns,
    x: (key) => l + (side * (key - view.columns[0])) / (view.columns[1] - view.columns[0]),
    y: (query) => top + (side * (query - view.rows[0])) / (view.rows[1] - view.rows[0]),
  };
}

function drawAxes(pen, map, view, { l, b, top, side, rows, columns, x, y }, font) {
  const most = Math.max(3, side / 90);
  pen.strokeRect(l + 0.5, top + 0.5, side - 1, side - 1);
  pen.font = `12px ${font}`;
  pen.textAlign = "center";
  pen.textBaseline = "bottom";
  pen.fillText(map.words.key, l + side / 2, top + side + b);
  turned(pen, 8, top + side / 2, () => {
    pen.textBaseline = "middle";
    pen.fillText(map.words.query, 0, 0);
  });
  if (columns) {
    spell(pen, map.column_words, view.columns, side, font, (k, text) =>
      turned(pen, x(k + 0.5), top + side + 6, () => pen.fillText(text, 0, 0, TOKEN)));
  } else {
    pen.textBaseline = "top";
    for (const t of ticks(view.columns, most)) {
      pen.fillRect(x(t) - 0.5, top + side, 1, 4);
      pen.fillText(number(t), x(t), top + side + 6);
    }
  }
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  if (rows) {
    spell(pen, map.row_words, view.rows, side, font, (q, text) => pen.fillText(text, l - 6, y(q + 0.5), TOKEN));
  } else {
    for (const t of ticks(view.rows, most)) {
      pen.fillRect(l - 4, y(t) - 0.5, 4, 1);
      pen.fillText(number(t), l - 7, Math.max(y(t), top + 5));
    }
  }
}

// Draws with x going up the page from a point.
function turned(pen, x, y, write) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(-Math.PI / 2);
  write();
  pen.restore();
}

// Each token at its place, smaller where they are many; on a narrow page not every one.
function spell(pen, words, [first, last], side, font, write) {
  const room = side / (last - first);
  pen.font = `${Math.min(12, Math.max(9, room - 1))}px ${font}`;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  const step = Math.ceil(10 / room);
  for (let t = first; t < last; t += step) write(t, words[t - first]);
}

// The trained length L: where queries pass it, and the diagonal from which on no distance was
// trained (query - key = L).
function drawMark(pen, map, view, { l, top, side, x, y }, ink, paper) {
  const [a, b] = view.rows, [c, d] = view.columns;
  const passes = map.mark > a && map.mark < b && map.mark > c; // no key of these queries is later
  const far = b - c > map.mark && a - d < map.mark;
  if (!map.mark || !(passes || far)) return;
  pen.save();
  pen.beginPath();
  pen.rect(l, top, side, side);
  pen.clip();
  pen.setLineDash([3, 3]);
  pen.globalCompositeOperation = "difference"; // seen on any colour of the map
  pen.strokeStyle = "#b4b4b4";
  pen.beginPath();
  if (passes) {
    pen.moveTo(l, y(map.mark));
    pen.lineTo(x(Math.min(map.mark, d)), y(map.mark));
  }
  pen.moveTo(x(c), y(c + map.mark));
  pen.lineTo(x(d), y(d + map.mark));
  pen.stroke();
  pen.restore();
  if (passes) {
    const text = said(map.words.trained, { length: number(map.mark) });
    return note(pen, text, l + side - 6, Math.max(y(map.mark) - 10, top + 12), "right", ink, paper);
  }
  beside(pen, said(map.words.distance, { distance: number(map.mark) }), map, map.mark, { l, top, side, x, y }, ink, paper);
}

// Fine lines where there is something to see, on top of everything but words.
function drawGuides(pen, map, { l, top, side, x, y }, ink, paper) {
  const [a, b] = map.rows, [c, d] = map.columns;
  pen.save();
  pen.beginPath();
  pen.rect(l, top, side, side);
  pen.clip();
  for (const [width, colour] of [[2.5, "rgba(0, 0, 0, 0.55)"], [1, "#ffffff"]]) { // one of them is seen on any colour
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.beginPath();
    for (const { distance, key } of map.guides) {
      if (key !== null) {
        pen.moveTo(x(key), y(Math.max(a, key)));
        pen.lineTo(x(key), y(b));
      } else {
        pen.moveTo(x(c), y(c + distance));
        pen.lineTo(x(d), y(d + distance));
      }
    }
    pen.stroke();
  }
  pen.restore();
  for (const { distance, key, label } of map.guides) {
    if (!label) continue;
    const end = Math.min(b, d + distance) - distance; // where the diagonal goes out
    if (key !== null) note(pen, label, x(key) + 8, top + 12, "left", ink, paper); // no key of these queries is later
    else if (b <= d + distance && x(end) - pen.measureText(label).width > l + 24) {
      note(pen, label, x(end) - 14, top + side - 12, "right", ink, paper);
    } else beside(pen, label, map, distance, { l, top, side, x, y }, ink, paper);
  }
}

// Words beside the diagonal of a distance, where it comes in, above or on the left.
function beside(pen, text, map, distance, { l, top, side, x, y }, ink, paper) {
  const key = Math.max(map.columns[0], map.rows[0] - distance);
  const right = x(key) > l + side / 2;
  const below = Math.min(y(key + distance) + 14, top + side - 12);
  note(pen, text, x(key) + (right ? -8 : 8), below, right ? "right" : "left", ink, paper);
}

// Words on the map, on a ground that lets them be read on any colour.
function note(pen, text, x, y, align, ink, paper) {
  const width = pen.measureText(text).width;
  pen.save();
  pen.globalAlpha = 0.8;
  pen.fillStyle = paper;
  pen.fillRect(align === "right" ? x - width - 4 : x - 4, y - 8, width + 8, 16);
  pen.globalAlpha = 1;
  pen.fillStyle = ink;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.fillText(text, x, y);
  pen.restore();
}
