// One map with its heading, axes, crosshair and readout; mouse and keys read it and zoom into it.

const STRIDE = 10; // cells that an arrow key moves with Shift
const TIMES = 4; // a key, or a double click, zooms by so much
const GLIDE = 160; // milliseconds in which the old picture grows towards a new window

// `group` speaks to all maps: show(query, key), outline(box), zoom(panel, box), back(panel).
function panel(map, index, zoomed, group, height) {
  const cells = read(map), { words } = map;
  const image = paint(cells);
  const box = element("figure", "panel");
  const heading = element("figcaption", "heading");
  const title = element("span", "title", map.title);
  title.style.color = map.accent;
  heading.append(title, element("span", "where", map.where));
  const frame = element("div", "frame");
  const canvas = element("canvas", "map");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute(
    "aria-label",
    said(zoomed ? words.zoomed_keys : words.keys, { title: map.title, where: map.where }),
  );
  const readout = element("p", "readout");
  readout.setAttribute("aria-live", "polite");
  frame.append(canvas);
  box.append(heading, frame, readout);
  const [rows, columns] = map.shape;
  let view = { rows: map.rows, columns: map.columns }; // differs while the picture grows
  let place = layout(map, view, 1, height);
  let at = null; // the crosshair's cell
  let outlined = null;
  let waiting = false; // for a window that was asked for: what is seen is not what can be read

  const hint = window.matchMedia("(hover: none)").matches ? words.tap : zoomed ? words.drag_further : words.drag;

  function say(text) {
    readout.classList.toggle("hint", !text);
    readout.textContent = text || (index === 0 ? hint : " ");
  }

  function draw() {
    const width = frame.clientWidth;
    if (!width) return;
    place = layout(map, view, width, height);
    const { l, b, top, side, x, y } = place;
    box.style.setProperty("--left", `${l}px`); // words stand in line with the map
    const ratio = window.devicePixelRatio || 1;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${side + top + b}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round((side + top + b) * ratio);
    const style = getComputedStyle(box);
    const [ink, faint, paper] = ["--ink", "--faint", "--paper"].map((v) => style.getPropertyValue(v).trim());
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = faint;
    pen.fillRect(l, top, side, side); // what lies after the query shows as this
    pen.save();
    pen.beginPath();
    pen.rect(l, top, side, side);
    pen.clip();
    // the last cell may be cut: the image is as much larger than its tokens
    const left = x(map.columns[0]), up = y(map.rows[0]);
    const right = x(map.columns[0] + columns * map.cell), down = y(map.rows[0] + rows * map.cell);
    pen.imageSmoothingEnabled = (right - left) * ratio < columns;
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, left, up, right - left, down - up);
    pen.restore();
    pen.strokeStyle = pen.fillStyle = ink;
    drawAxes(pen, map, view, place, style.fontFamily);
    drawMark(pen, map, view, place, ink, faint);
    drawGuides(pen, map, place, ink, faint);
    if (at && !outlined) {
      const [[q0, q1], [k0, k1]] = [cells.query(at[0]), cells.key(at[1])];
      pen.fillStyle = map.accent;
      pen.globalAlpha = 0.9;
      pen.fillRect(l, y((q0 + q1) / 2) - 0.5, side, 1);
      pen.fillRect(x((k0 + k1) / 2) - 0.5, top, 1, side);
      pen.globalAlpha = 1;
    }
    if (outlined) drawBox(pen, outlined, place, paper);
  }

  // query and key in tokens, so that maps of other cells and windows follow too
  function show(query, key) {
    if (waiting) return;
    at = query === null ? null : cells.at(query, key);
    say(at && describe(cells, ...at));
    draw();
  }

  function outline(drawn) {
    outlined = drawn;
    if (drawn) at = null;
    const sizes = drawn && [drawn.rows, drawn.columns].map(([a, b]) => number(b - a)).join(" × ");
    say(drawn && said(words.box, { queries: span(drawn.rows), keys: span(drawn.columns), sizes }));
    draw();
  }

  // The picture grows at once, before the finer one has come.
  function grow(to) {
    const from = view, start = performance.now();
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    function step(now) {
      const t = calm ? 1 : Math.min(1, Math.max(0, (now - start) / GLIDE));
      const ease = t * (2 - t);
      const mix = (a, b) => [0, 1].map((i) => a[i] + (b[i] - a[i]) * ease);
      view = { rows: mix(from.rows, to.rows), columns: mix(from.columns, to.columns) };
      draw();
      if (t < 1 && canvas.isConnected) requestAnimationFrame(step);
    }
    at = outlined = null;
    waiting = true;
    canvas.classList.add("waiting");
    requestAnimationFrame(step);
  }

  function zoom(to) {
    if (hidden(cells, to.rows, to.columns)) {
      return say(map.pairs === "causal" ? words.all_late : words.all_outside);
    }
    const same = [0, 1].every((i) => to.rows[i] === map.rows[i] && to.columns[i] === map.columns[i]);
    if (same) return say(words.smallest);
    group.zoom(index, to);
  }

  function pointer(event) {
    const rect = canvas.getBoundingClientRect();
    const fx = (event.clientX - rect.left - place.l) / place.side, fy = (event.clientY - rect.top - place.top) / place.side;
    const clamp = (f) => Math.min(Math.max(f, 0), 1);
    return { fx: clamp(fx), fy: clamp(fy), inside: !waiting && fx >= 0 && fx < 1 && fy >= 0 && fy < 1 };
  }

  const token = ([first, last], f) => first + Math.min(Math.floor(f * (last - first)), last - first - 1);
  const drawing = rubber(canvas, map, pointer, group.outline, zoom);

  canvas.addEventListener("pointermove", (event) => {
    const { fx, fy, inside } = pointer(event);
    if (drawing()) return;
    if (inside) group.show(token(map.rows, fy), token(map.columns, fx));
    else group.show(null, null);
    canvas.classList.toggle("on", inside);
  });
  canvas.addEventListener("pointerleave", () => drawing() || group.show(null, null));
  canvas.addEventListener("dblclick", (event) => {
    const { fx, fy, inside } = pointer(event);
    if (inside) zoom(around(map, [token(map.rows, fy), token(map.columns, fx)], TIMES));
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const asked = { z: "in", Z: "in", Enter: "in", Backspace: "back" }[event.key];
    if (waiting || event.ctrlKey || event.metaKey || event.altKey || !(step || asked)) return;
    event.preventDefault();
    if (asked === "back") return zoomed ? group.back(index) : say(words.whole);
    if (asked) {
      if (!at) return say(words.no_crosshair);
      return zoom(around(map, [cells.query(at[0]), cells.key(at[1])].map(([a, b]) => (a + b - 1) / 2), TIMES));
    }
    const many = event.shiftKey ? STRIDE : 1;
    const [r, c] = at ?? [rows - 1, 0];
    const clamp = (n, end) => Math.min(Math.max(n, 0), end - 1);
    group.show(cells.query(clamp(r + many * step[0], rows))[0], cells.key(clamp(c + many * step[1], columns))[0], true);
  });
  say("");
  return { box, canvas, draw, show, outline, grow };
}
