// Before anything is drawn: a dark page must not flash white. The rest of the theme is in src/state/preferences.ts.
(function () {
  var chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem("hourhand.preferences") || "{}").theme;
  } catch {
    chosen = null;
  }
  var dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
