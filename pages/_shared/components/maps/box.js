// The rubber rectangle: drawn with the mouse, snapped outward to cells, given up with Escape.

const STILL = 4; // pixels: a shorter drag is a click

// Calls `moved(box)` while a rectangle is drawn, with null when it is given up, and `drawn(box)`
// at its end. `place(event)` says where in the map the pointer is, each way 0 .. 1. Fingers scroll
// the page, so they draw none.
function rubber(canvas, map, place, moved, drawn) {
  let start = null, box = null;

  function along([first, last], f, g) {
    const n = last - first;
    const low = Math.floor((Math.min(f, g) * n) / map.cell) * map.cell;
    const high = Math.ceil((Math.max(f, g) * n) / map.cell) * map.cell;
    return [first + Math.min(low, n - 1), Math.min(first + Math.max(high, low + map.cell), last)];
  }

  function end() {
    start = box = null;
    moved(null);
  }

  canvas.addEventListener("pointerdown", (event) => {
    const { fx, fy, inside } = place(event);
    if (event.button !== 0 || event.pointerType === "touch" || !inside) return;
    start = { fx, fy, x: event.clientX, y: event.clientY };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!start) return;
    const far = Math.hypot(event.clientX - start.x, event.clientY - start.y) >= STILL;
    if (!far && !box) return;
    const { fx, fy } = place(event);
    box = { rows: along(map.rows, start.fy, fy), columns: along(map.columns, start.fx, fx) };
    moved(box);
  });
  canvas.addEventListener("pointerup", (event) => {
    const found = box;
    const far = start && Math.hypot(event.clientX - start.x, event.clientY - start.y) >= STILL;
    end();
    if (found && far) drawn(found);
  });
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && start) end();
  });
  return () => start !== null && box !== null;
}

// A window `times` as small around a pair of tokens, within the present one.
function around(map, [query, key], times) {
  const cut = ([first, last], centre) => {
    const now = last - first;
    const size = Math.max(Math.ceil(now / times), Math.min(now, 4));
    const from = Math.min(Math.max(Math.round(centre - size / 2), first), last - size);
    return [from, from + size];
  };
  return { rows: cut(map.rows, query + 0.5), columns: cut(map.columns, key + 0.5) };
}

function drawBox(pen, box, { l, top, side, x, y }, paper) {
  const [x0, x1] = box.columns.map(x), [y0, y1] = box.rows.map(y);
  pen.save();
  pen.beginPath();
  pen.rect(l, top, side, side);
  pen.clip();
  pen.beginPath();
  pen.rect(l, top, side, side);
  pen.rect(x0, y0, x1 - x0, y1 - y0);
  pen.globalAlpha = 0.45;
  pen.fillStyle = paper;
  pen.fill("evenodd"); // what will not be seen steps back
  pen.globalAlpha = 1;
  pen.lineWidth = 3;
  pen.strokeStyle = "rgba(0, 0, 0, 0.55)"; // one of the two is seen on any colour
  pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
  pen.lineWidth = 1.5;
  pen.strokeStyle = "#ffffff";
  pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
  pen.restore();
}
