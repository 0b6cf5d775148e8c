// A text, token by token, each on a tint; a click, or Enter, picks one, arrows move about.
// data: { items: [{ text, words, tint, line, kind }], legend: [{ tint, line, text }], unit, dark,
// words: { hint, first, name } }; `first` is said of the first token, which nothing explains.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text; // never innerHTML: tokens are foreign text
  return made;
}

function tinted(tag, className, { text, tint, line }) {
  const made = element(tag, className, text);
  made.style.background = tint;
  made.style.borderBottom = line;
  return made;
}

function legend({ unit, legend: marks }) {
  const box = element("div", "legend");
  box.setAttribute("aria-hidden", "true"); // every token says its number
  box.append(element("span", "", unit));
  for (const mark of marks) {
    const one = element("span");
    one.append(tinted("i", "", { ...mark, text: "" }), mark.text);
    box.append(one);
  }
  return box;
}

function token(item, i, say, pick) {
  const made = tinted("span", `token ${item.kind}`, item);
  made.setAttribute("role", "button");
  made.setAttribute("aria-label", item.words);
  made.tabIndex = -1;
  made.addEventListener("pointerenter", () => say(item.words));
  made.addEventListener("focus", () => say(item.words));
  made.addEventListener("click", () => pick(i));
  return made;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const old = parentElement.querySelector(".spoken");
  const mark = JSON.stringify(data);
  if (old && old.mark === mark) return;
  const root = element("div", "spoken");
  root.mark = mark;
  root.classList.toggle("dark", data.dark);
  const readout = element("p", "readout hint", data.words.hint);
  readout.setAttribute("aria-live", "polite");
  const say = (words) => {
    readout.textContent = words || data.words.hint;
    readout.classList.toggle("hint", !words);
  };
  const pick = (i) => (i > 0 ? setTriggerValue("picked", i) : say(data.words.first));
  const tokens = data.items.map((item, i) => token(item, i, say, pick));
  const text = element("div", "text");
  text.setAttribute("role", "group");
  text.setAttribute("aria-label", data.words.name);
  text.append(...tokens);
  text.addEventListener("pointerleave", () => say(""));
  text.addEventListener("focusout", () => say(""));
  const first = Math.max(data.items.findIndex((item) => item.kind === "asked"), 0);
  tokens[first].tabIndex = 0; // one stop for the Tab key; arrows do the rest
  text.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const i = tokens.indexOf(event.target);
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: tokens.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") pick(i);
    else if (to === undefined) return;
    else tokens[to]?.focus();
    event.preventDefault();
  });
  root.append(legend(data), text, readout);
  const held = old && old.contains(old.getRootNode().activeElement);
  if (old) old.replaceWith(root);
  else parentElement.append(root);
  if (held) tokens[first].focus(); // a redraw keeps the keyboard's place
}
