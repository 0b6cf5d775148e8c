// All heads of one checkpoint as small pictures; a click, or Enter, picks one, arrows move about.
// data: { items: [{ layer, head, place, png: base64, value, words }], across: number or null, layer, head,
// accent, name, about, dark }; `across` null: sorted, with labels. An item's `place` says where it
// is, `words` more of it; `name` is the checkpoint's, `about` says what the wall shows.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function press(buttons, { items, layer, head }) {
  buttons.forEach((button, i) => {
    const picked = items[i].layer === layer && items[i].head === head;
    button.setAttribute("aria-pressed", String(picked));
    button.tabIndex = picked ? 0 : -1; // one stop for the Tab key; arrows do the rest
  });
}

// The next button that way: the nearest in its row, else in the nearest row above or below.
function neighbour(buttons, from, key) {
  const i = buttons.indexOf(from);
  const side = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: buttons.length - 1 }[key];
  if (side !== undefined) return buttons[side];
  const down = { ArrowUp: -1, ArrowDown: 1 }[key];
  const off = (b) => [(b.offsetTop - from.offsetTop) * down, Math.abs(b.offsetLeft - from.offsetLeft)];
  const that = buttons.filter((b) => off(b)[0] > 0);
  return that.sort((a, b) => off(a)[0] - off(b)[0] || off(a)[1] - off(b)[1])[0];
}

function picture(item, data, pick) {
  const button = element("button");
  const words = item.words ? `: ${item.words}` : "";
  button.title = item.place + words;
  button.setAttribute("aria-label", `${data.name}, ${item.place}${words}`);
  const image = element("img");
  image.src = `data:image/png;base64,${item.png}`;
  image.alt = "";
  button.append(image);
  if (item.value) {
    const label = element("span", "label", item.value);
    label.prepend(element("b", "", `L${item.layer + 1} H${item.head + 1}`));
    button.append(label);
  }
  button.addEventListener("click", () => pick([item.layer, item.head]));
  return button;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const old = parentElement.querySelector(".wall");
  // the same pictures: only the pick has moved
  const mark = JSON.stringify([data.dark, data.name, data.across, data.items]);
  if (old && old.mark === mark) return press([...old.querySelectorAll("button")], data);
  const wall = element("div", "wall");
  wall.classList.toggle("dark", data.dark);
  wall.classList.toggle("sorted", !data.across);
  wall.classList.toggle("many", data.across > 16);
  wall.style.setProperty("--accent", data.accent);
  wall.style.setProperty("--across", data.across);
  wall.setAttribute("role", "group");
  wall.setAttribute("aria-label", data.about);
  const buttons = data.items.map((item) => picture(item, data, (place) => setTriggerValue("picked", place)));
  buttons.forEach((button, i) => {
    if (data.across && i % data.across === 0) wall.append(element("span", "layer", `L${data.items[i].layer + 1}`));
    wall.append(button);
  });
  press(buttons, data);
  wall.addEventListener("keydown", (event) => {
    if (!/^(Arrow.*|Home|End)$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    neighbour(buttons, event.target, event.key)?.focus();
  });
  wall.mark = mark;
  const held = old && old.contains(old.getRootNode().activeElement);
  if (old) old.replaceWith(wall);
  else parentElement.append(wall);
  if (held) wall.querySelector('[aria-pressed="true"]')?.focus(); // a redraw keeps the keyboard's place
}
