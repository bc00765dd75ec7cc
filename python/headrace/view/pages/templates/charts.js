// Draws each chart anew in the colours of the page: values under the pointer, and a menu that saves it.
// Without it, and on paper, the drawing that stands in the page is shown.
(() => {
  const of = (name) => JSON.parse(document.getElementById(name).textContent);
  const charts = of("charts"), variables = Object.entries(of("variables"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const actions = { export: true, source: false, compiled: false, editor: false };
  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const inked = variables.reduce((text, [colour, name]) =>
      text.replaceAll(colour, style.getPropertyValue(name).trim()), JSON.stringify(charts));
    const specs = JSON.parse(inked);
    document.querySelectorAll("figure.chart").forEach((figure, at) => {
      const tooltip = { theme: dark.matches ? "dark" : "light" };
      const options = { renderer: "svg", actions, tooltip, downloadFileName: figure.dataset.name };
      vegaEmbed(figure.querySelector("div"), specs[at], options).then(() => figure.classList.add("live"));
    });
  };
  dark.addEventListener("change", draw);
  draw();
})();
