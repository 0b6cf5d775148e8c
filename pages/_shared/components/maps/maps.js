// Attention maps in a row, with one crosshair for all of them, on one colour scale or on their own.
// data: { maps: [see viz_core/render/canvas.py], bars, dark, height, linked, zoomed: [bool] }
// `bars` is one for all maps, or one for each.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text; // never innerHTML: tokens are foreign text
  return made;
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

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector(".maps");
  if (!root) {
    root = element("div", "maps");
    parentElement.append(root);
  }
  root.classList.toggle("dark", data.dark);
  // a single map has its colour bar above it, not at the far end of the page
  root.style.maxWidth = data.maps.length === 1 ? `${data.height + 120}px` : "";
  const group = {
    // `keyed`: the crosshair was moved by keys, and stays where it is in the next window
    show: (query, key, keyed = false) => {
      root.crosshair = keyed ? [query, key] : null;
      panels.forEach((p) => p.show(query, key));
    },
    outline: (i, box) => panels.forEach((p, j) => (data.linked || i === j) && p.outline(box)),
    zoom: (i, box) => {
      panels.forEach((p, j) => (data.linked || i === j) && p.grow(box));
      setTriggerValue("zoom", { panel: i, ...box });
    },
    back: (i) => setTriggerValue("back", { panel: i }),
  };
  // a redraw keeps the keyboard's place
  const active = root.getRootNode().activeElement;
  const held = [...root.querySelectorAll("canvas.map")].indexOf(active);
  const panels = data.maps.map((map, i) => {
    const own = { ...group, outline: (box) => group.outline(i, box) };
    return panel(map, i, data.zoomed[i], own, data.height);
  });
  const row = element("div", "row");
  row.append(...panels.map((p) => p.box));
  const bars = data.bars.map(colourBar);
  root.replaceChildren(...(bars.length === 1 ? bars : []), row);
  if (bars.length > 1) panels.forEach((p, i) => p.box.querySelector(".heading").after(bars[i]));
  const watch = new ResizeObserver(() => panels.forEach((p) => p.draw()));
  watch.observe(row);
  panels.forEach((p) => p.draw());
  if (held >= 0) panels[held]?.canvas.focus({ preventScroll: true });
  if (held >= 0 && root.crosshair) group.show(...root.crosshair, true);
  return () => watch.disconnect();
}
