// What must happen in the browser itself: reading its sliders, and setting those that nobody is moving.
window.headrace = {
  slid(event, emit) {
    const one = event.target;
    if (one.type === "range") emit([one.dataset.place, Number(one.value)]);
  },
  changed(event, emit) {
    const one = event.target;
    if (!one.dataset.place) return;
    if (one.type === "text") emit([one.dataset.place, "typed", one.value]);
    else emit([one.dataset.place, "chosen", one.tagName === "SELECT" ? one.selectedIndex : Number(one.value)]);
  },
  swept(event, emit) {
    const one = event.target.closest("[data-sweep]");
    if (one) emit(one.dataset.sweep);
  },
  chosen(event, emit) {
    const one = event.target.closest("[data-part]");
    if (one) emit(one.dataset.part);
  },
  keyed(event, emit) {
    if (event.key !== "Enter" && event.key !== " ") return;
    const one = event.target.closest("[data-part]");
    if (one) { event.preventDefault(); emit(one.dataset.part); }
  },
  // Of a slider that is moving only the text is set: its place has gone on meanwhile.
  show(place, at, text, moving) {
    const one = document.getElementById("field-" + place), box = document.getElementById("text-" + place);
    if (!moving && one.tagName === "SELECT") one.selectedIndex = at;
    else if (!moving) one.value = at;
    if (box) { one.setAttribute("aria-valuetext", text); box.value = text; }
  },
  stale(is) { document.querySelector(".explorer")?.classList.toggle("stale", is); },
  focus(id) { document.getElementById(id).focus(); },
  async copy(text) {
    try { await navigator.clipboard.writeText(text); } catch { return false; }
    return true;
  },
  value(id) { return document.getElementById(id).value; },
};
// The diagram is drawn anew with each answer: the component that has the focus keeps it.
let focused = null;
document.addEventListener("focusin", (event) => { focused = event.target.closest("[data-part]"); });
document.addEventListener("focusout", () => { const left = focused; queueMicrotask(() => { if (left?.isConnected && left === focused) focused = null; }); });
function refocus() {
  if (!focused || focused.isConnected) return;
  const same = [...document.querySelectorAll("[data-part]")].filter((one) => one.dataset.part === focused.dataset.part);
  same.find((one) => one.getClientRects().length)?.focus({preventScroll: true});
}
document.addEventListener("DOMContentLoaded", () => {
  new MutationObserver(refocus).observe(document.body, {childList: true, subtree: true});
});
document.addEventListener("keydown", (event) => {
  const writes = event.target.matches("input[type=text]");
  if ((event.ctrlKey || event.metaKey) && !writes && (event.key === "z" || event.key === "y")) {
    event.preventDefault();
    emitEvent(event.key === "y" || event.shiftKey ? "redo" : "undo");
  }
});
