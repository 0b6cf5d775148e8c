// All heads of one checkpoint as small pictures; a click, or Enter, picks one.
// data: { images: [[base64 png, ...] per layer], layer, head, accent, name, dark }

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const old = parentElement.querySelector(".wall");
  // the same pictures: only the pick has moved
  const mark = `${data.dark} ${data.name} ${data.images.flat().join(" ")}`;
  if (old && old.mark === mark) {
    old.querySelectorAll("button").forEach((button, i) => {
      const picked = i === data.layer * data.images[0].length + data.head;
      button.setAttribute("aria-pressed", String(picked));
    });
    return;
  }
  const wall = document.createElement("div");
  wall.className = data.dark ? "wall dark" : "wall";
  wall.style.setProperty("--accent", data.accent);
  wall.style.setProperty("--heads", data.images[0].length);
  wall.setAttribute("role", "group");
  wall.setAttribute("aria-label", `All heads of ${data.name}`);
  data.images.forEach((heads, layer) => {
    const name = document.createElement("span");
    name.className = "layer";
    name.textContent = `L${layer + 1}`;
    wall.append(name);
    heads.forEach((png, head) => {
      const button = document.createElement("button");
      const picked = layer === data.layer && head === data.head;
      button.title = `layer ${layer + 1}, head ${head + 1}`;
      button.setAttribute("aria-label", `${data.name}, layer ${layer + 1}, head ${head + 1}`);
      button.setAttribute("aria-pressed", String(picked));
      const image = document.createElement("img");
      image.src = `data:image/png;base64,${png}`;
      image.alt = "";
      button.append(image);
      button.addEventListener("click", () => setTriggerValue("picked", [layer, head]));
      wall.append(button);
    });
  });
  wall.mark = mark;
  const held = old && old.contains(old.getRootNode().activeElement);
  if (old) old.replaceWith(wall);
  else parentElement.append(wall);
  if (held) wall.querySelector('[aria-pressed="true"]')?.focus(); // a redraw keeps the keyboard's place
}
