// All that the page says: [text, whose it is]. Through shadow roots, on canvases, for screen readers.
() => {
  const said = [];
  const silent = "script, style, noscript, code, .katex, [translate=no], [role=gridcell]";
  const attributes = ["aria-label", "aria-roledescription", "aria-description", "alt", "title", "placeholder"];
  const whose = (element) => {
    for (let e = element; e; e = e.parentElement ?? e.getRootNode().host) {
      const name = e.dataset?.testid ?? e.className?.baseVal ?? e.className;
      if (name) return String(name);
    }
    return "page";
  };
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return said.push([node.data, whose(node.parentElement)]);
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(silent)) return;
    for (const name of attributes) {
      if (node.hasAttribute(name)) said.push([node.getAttribute(name), `${name} of ${whose(node)}`]);
    }
    for (const text of node.written ?? []) {
      if (!node.closest("[data-testid=stDataFrame]")) said.push([text, `canvas of ${whose(node)}`]);
    }
    if (node.shadowRoot) visit2(node.shadowRoot);
    visit2(node);
  };
  const visit2 = (parent) => [...parent.childNodes].forEach(visit);
  visit(document.body);
  return said;
}
