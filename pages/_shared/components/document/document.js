// Tells the browser, and whoever reads the page aloud, which language it is in. Shows nothing.
// data: { lang }, as the lang attribute has it

export default function ({ data }) {
  document.documentElement.lang = data.lang;
}
