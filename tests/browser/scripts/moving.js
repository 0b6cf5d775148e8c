// What is animated, or takes its time to change, for longer than a blink: the names of its parts.
() => {
  const seconds = (list) => Math.max(...list.split(",").map(Number.parseFloat));
  const slow = (element) => {
    const { animationName, animationDuration, transitionDuration } = getComputedStyle(element);
    return seconds(transitionDuration) > 0.05 || (animationName !== "none" && seconds(animationDuration) > 0.05);
  };
  const found = [];
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (slow(element)) found.push(element.dataset?.testid ?? element.tagName);
      if (element.shadowRoot) visit(element.shadowRoot);
    }
  };
  visit(document);
  return found;
}
