// Attention maps in a row on one colour scale, with one crosshair for all of them.
// data: { maps: [see viz_core/render/canvas.py], bar, dark }

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i); // ten times as fast as .from
  return out;
}
const floats = (text) => new Float32Array(bytes(text).buffer);
const counts = (text) => new Uint32Array(bytes(text).buffer);
const number = (n) => n.toLocaleString("en-US");

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text; // never innerHTML: tokens are foreign text
  return made;
}

// One map's cells: where each row starts in the packed values, and how cells become tokens.
function read(map) {
  const filled = counts(map.filled);
  const start = new Uint32Array(filled.length + 1);
  filled.forEach((n, r) => (start[r + 1] = start[r] + n));
  const values = floats(map.values);
  const range = (cell, [first, last]) => [
    first + cell * map.cell,
    Math.min(first + (cell + 1) * map.cell, last),
  ];
  return {
    map, values, filled,
    value: (r, c) => (c < filled[r] ? values[start[r] + c] : undefined),
    query: (r) => range(r, map.rows),
    key: (c) => range(c, map.columns),
  };
}

function paint(cells) {
  const { map } = cells;
  const [rows, columns] = map.shape;
  const colours = bytes(map.colours);
  const whole = new Uint8Array(1024); // the same colours as whole pixels, opaque
  for (let i = 0; i < 256; i++) whole.set([...colours.subarray(3 * i, 3 * i + 3), 255], 4 * i);
  const pixel = new Uint32Array(whole.buffer);
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const { values, filled } = cells;
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

function ticks([first, last], most) {
  const span = last - first;
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  // lengths are powers of two more often than of ten
  const step = Math.log2(span) % 1 === 0 ? Math.max(1, 2 ** Math.ceil(Math.log2(rough))) : Math.max(1, nice);
  const out = [];
  for (let t = Math.ceil(first / step) * step; t <= last; t += step) out.push(t);
  return out;
}

function tokens(map, [a, b]) {
  const shown = map.labels.slice(a, Math.min(b, a + 6)).join("");
  return b - a > 6 ? shown + "…" : shown;
}

function span([a, b]) {
  return b - a === 1 ? number(a) : `${number(a)}–${number(b - 1)}`;
}

function describe(cells, r, c) {
  const { map } = cells;
  const value = cells.value(r, c);
  const query = cells.query(r), key = cells.key(c);
  const place = `query ${span(query)} “${tokens(map, query)}”, key ${span(key)} “${tokens(map, key)}”`;
  if (value === undefined) return `${place}: the key lies after the query`;
  const near = Math.max(0, query[0] - (key[1] - 1)), far = query[1] - 1 - key[0];
  const distance = `distance ${near === far ? number(near) : `${number(near)}–${number(far)}`}`;
  if (map.unit === "nats") return `${place}, ${distance}: ${value.toFixed(2)} nats about the row's mean`;
  const log = map.unit === "A" ? Math.log10(value) : value;
  return `${place}, ${distance}: A = ${(10 ** log).toExponential(2)}, log₁₀ A = ${log.toFixed(2)}`;
}

function panel(map, group, height) {
  const cells = read(map);
  const image = paint(cells);
  const box = element("figure", "panel");
  const title = element("figcaption", "title", map.title);
  title.style.color = map.accent;
  const frame = element("div", "frame");
  const canvas = element("canvas", "map");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${map.title}. Arrow keys move the crosshair and read values out.`);
  const readout = element("p", "readout", " ");
  readout.setAttribute("aria-live", "polite");
  frame.append(canvas);
  box.append(title, frame, readout);
  const [rows, columns] = map.shape;
  const left = 46, bottom = 34, top = 4, right = 18;
  let at = null;

  const words = (range, cell) => cell === 1 && range[1] - range[0] <= 40 && map.labels.length > 0;

  function draw() {
    const width = frame.clientWidth;
    if (!width) return;
    const wide = words(map.columns, map.cell);
    const l = wide ? 78 : left, b = wide ? 78 : bottom;
    const side = Math.min(width - l - right, height);
    const ratio = window.devicePixelRatio || 1;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${side + top + b}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round((side + top + b) * ratio);
    const style = getComputedStyle(box);
    const ink = style.getPropertyValue("--ink").trim(), faint = style.getPropertyValue("--faint").trim();
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = faint;
    pen.fillRect(l, top, side, side); // what lies after the query shows as this
    pen.imageSmoothingEnabled = side * ratio < columns;
    pen.imageSmoothingQuality = "high";
    // the last cell may be cut: the image is as much larger than the axes
    const across = (columns * map.cell) / (map.columns[1] - map.columns[0]);
    const down = (rows * map.cell) / (map.rows[1] - map.rows[0]);
    pen.save();
    pen.beginPath();
    pen.rect(l, top, side, side);
    pen.clip();
    pen.drawImage(image, l, top, side * across, side * down);
    pen.restore();
    const x = (key) => l + (side * (key - map.columns[0])) / (map.columns[1] - map.columns[0]);
    const y = (query) => top + (side * (query - map.rows[0])) / (map.rows[1] - map.rows[0]);
    pen.strokeStyle = ink;
    pen.fillStyle = ink;
    pen.lineWidth = 1;
    pen.strokeRect(l + 0.5, top + 0.5, side - 1, side - 1);
    pen.font = `12px ${style.fontFamily}`;
    if (wide) {
      for (let k = map.columns[0]; k < map.columns[1]; k++) {
        pen.save();
        pen.translate(x(k + 0.5), top + side + 6);
        pen.rotate(-Math.PI / 2);
        pen.textAlign = "right";
        pen.textBaseline = "middle";
        pen.fillText(map.labels[k] ?? "", 0, 0, 66);
        pen.restore();
      }
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      for (let q = map.rows[0]; q < map.rows[1]; q++) pen.fillText(map.labels[q] ?? "", l - 6, y(q + 0.5), 68);
    } else {
      pen.textAlign = "center";
      pen.textBaseline = "top";
      for (const t of ticks(map.columns, Math.max(3, side / 90))) {
        pen.fillRect(x(t) - 0.5, top + side, 1, 4);
        pen.fillText(number(t), x(t), top + side + 6);
      }
      pen.fillText("key", l + side / 2, top + side + 20);
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      for (const t of ticks(map.rows, Math.max(3, side / 90))) {
        pen.fillRect(l - 4, y(t) - 0.5, 4, 1);
        pen.fillText(number(t), l - 7, Math.max(y(t), top + 5));
      }
      pen.save();
      pen.translate(8, top + side / 2);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "center";
      pen.fillText("query", 0, 0);
      pen.restore();
    }
    // the trained length: a line on either axis, so that the corner beyond it stands out
    if (map.mark > map.rows[0] && map.mark < map.rows[1]) {
      pen.save();
      pen.setLineDash([3, 3]);
      pen.globalCompositeOperation = "difference"; // seen on any colour of the map
      pen.strokeStyle = "#b4b4b4";
      pen.beginPath();
      pen.moveTo(l, y(map.mark));
      pen.lineTo(Math.min(x(map.mark), l + side), y(map.mark));
      // distance = trained length: the diagonal past which no distance was trained
      pen.moveTo(x(map.columns[0]), y(map.mark + map.columns[0]));
      pen.lineTo(x(map.rows[1] - map.mark), y(map.rows[1]));
      pen.stroke();
      pen.restore();
      pen.textAlign = "right";
      pen.textBaseline = "bottom";
      pen.fillStyle = ink;
      pen.fillText(`trained length ${number(map.mark)}`, l + side - 6, y(map.mark) - 2);
    }
    if (at) {
      const [r, c] = at;
      const cx = x((cells.key(c)[0] + cells.key(c)[1]) / 2), cy = y((cells.query(r)[0] + cells.query(r)[1]) / 2);
      pen.strokeStyle = map.accent;
      pen.globalAlpha = 0.9;
      pen.beginPath();
      pen.moveTo(l, cy);
      pen.lineTo(l + side, cy);
      pen.moveTo(cx, top);
      pen.lineTo(cx, top + side);
      pen.stroke();
      pen.globalAlpha = 1;
    }
    canvas.place = { l, top, side };
  }

  // query and key in tokens, so that maps of other cell sizes follow too
  function show(query, key) {
    if (query === null) at = null;
    else {
      const r = Math.floor((query - map.rows[0]) / map.cell), c = Math.floor((key - map.columns[0]) / map.cell);
      at = r >= 0 && r < rows && c >= 0 && c < columns ? [r, c] : null;
    }
    readout.textContent = at ? describe(cells, ...at) : " ";
    draw();
  }

  canvas.addEventListener("pointermove", (event) => {
    const rect = canvas.getBoundingClientRect();
    const { l, top: t, side } = canvas.place;
    const fx = (event.clientX - rect.left - l) / side, fy = (event.clientY - rect.top - t) / side;
    if (fx < 0 || fx >= 1 || fy < 0 || fy >= 1) return group.show(null, null);
    group.show(
      map.rows[0] + Math.floor(fy * (map.rows[1] - map.rows[0])),
      map.columns[0] + Math.floor(fx * (map.columns[1] - map.columns[0])),
    );
  });
  canvas.addEventListener("pointerleave", () => group.show(null, null));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const many = event.shiftKey ? 10 : 1;
    const [r, c] = at ?? [rows - 1, 0];
    const clamp = (n, end) => Math.min(Math.max(n, 0), end - 1);
    group.show(
      cells.query(clamp(r + many * step[0], rows))[0],
      cells.key(clamp(c + many * step[1], columns))[0],
    );
  });
  return { box, draw, show };
}

function colourBar(bar) {
  const box = element("div", "bar");
  const strip = element("canvas", "strip");
  strip.width = 256;
  strip.height = 1;
  const image = new ImageData(256, 1);
  const colours = bytes(bar.colours);
  for (let i = 0; i < 256; i++) image.data.set([...colours.slice(3 * i, 3 * i + 3), 255], 4 * i);
  strip.getContext("2d").putImageData(image, 0, 0);
  const scale = element("div", "scale");
  for (const [value, text] of bar.ticks) {
    const label = element("span", "", text);
    label.style.left = `${(100 * (value - bar.low)) / (bar.high - bar.low || 1)}%`;
    scale.append(label);
  }
  box.append(element("span", "label", bar.label), strip, scale);
  return box;
}

export default function (component) {
  const { data, parentElement } = component;
  let root = parentElement.querySelector(".maps");
  if (!root) {
    root = element("div", "maps");
    parentElement.append(root);
  }
  root.classList.toggle("dark", data.dark);
  const group = { show: (q, k) => panels.forEach((p) => p.show(q, k)) };
  const panels = data.maps.map((map) => panel(map, group, data.height));
  const row = element("div", "row");
  row.append(...panels.map((p) => p.box));
  root.replaceChildren(colourBar(data.bar), row);
  const watch = new ResizeObserver(() => panels.forEach((p) => p.draw()));
  watch.observe(row);
  panels.forEach((p) => p.draw());
  return () => watch.disconnect();
}
