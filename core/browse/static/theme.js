// Loaded before the page is drawn, so that a chosen theme does not flash in late.
"use strict";
try {
  const theme = localStorage.getItem("hindnote-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing follows the system.
}
