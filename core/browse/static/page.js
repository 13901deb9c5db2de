// What the pages do beyond what they show without it: keys, themes, folding, and live growth.
"use strict";

const LIVE_MS = 2000;
const ITEMS = "[data-seq], [data-item]";

const byId = (id) => document.getElementById(id);

// -- themes --------------------------------------------------------------------

const button = byId("theme");
button.hidden = false;
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
const nameTheme = () => {
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", `${button.textContent} theme`);
};
button.addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("hindnote-theme", theme);
  } catch {
    // It holds for this page then.
  }
  nameTheme();
});
nameTheme();

// -- keys ----------------------------------------------------------------------

const help = byId("help");
byId("keys").hidden = false;
byId("keys").addEventListener("click", () => help.showModal());

let current = null;

const select = (item) => {
  current?.classList.remove("current");
  current = item;
  item.classList.add("current");
  item.scrollIntoView({ block: "nearest" });
  (item.querySelector("summary, a") ?? item).focus({ preventScroll: true });
};

const step = (by) => {
  const items = [...document.querySelectorAll(ITEMS)];
  if (!items.length) return;
  const at = current ? items.indexOf(current) : -1;
  if (at < 0) {
    // The first one that is seen, so that a page that is scrolled stays where it is.
    const seen = items.find((item) => item.getBoundingClientRect().bottom > 0);
    select(seen ?? items[0]);
    return;
  }
  const next = items[at + by];
  if (next) select(next);
  else byId(by > 0 ? "newer" : "older")?.focus();
};

const open = () => {
  if (!current) return;
  if (current instanceof HTMLDetailsElement) current.open = !current.open;
  else current.querySelector("a")?.click();
};

const KEYS = {
  "/": () => byId("search").focus(),
  "?": () => help.showModal(),
  j: () => step(1),
  k: () => step(-1),
  o: open,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// -- sessions ------------------------------------------------------------------

const reveal = () => {
  const target = location.hash.length > 1 && byId(location.hash.slice(1));
  if (!target) return;
  if (target instanceof HTMLDetailsElement) target.open = true;
  target.scrollIntoView({ block: "center" });
  current?.classList.remove("current");
  current = target;
  target.classList.add("current");
};
addEventListener("hashchange", reveal);

const events = byId("events");
if (events) {
  const fold = byId("fold");
  const folded = events.querySelectorAll("details");
  fold.hidden = !folded.length;
  fold.addEventListener("click", () => {
    const unfold = fold.textContent === "Unfold all";
    for (const item of events.querySelectorAll("details")) item.open = unfold;
    fold.textContent = unfold ? "Fold all" : "Unfold all";
  });
  // The newest page begins at its end, as a conversation is read.
  if (location.hash) reveal();
  else if (events.dataset.live && !location.search) scrollTo(0, document.body.scrollHeight);
  if (events.dataset.live) follow(events);
} else {
  reveal();
}

function follow(shown) {
  const grow = async () => {
    if (document.hidden) return;
    // A call that was still running is asked for again: it may have ended by now.
    const running = shown.querySelector("[data-status=pending]");
    const after = running ? running.dataset.seq - 1 : shown.dataset.last;
    const answer = await fetch(`${shown.dataset.live}?after=${after}`);
    if (answer.status !== 200) return;
    const atEnd = innerHeight + scrollY > document.body.scrollHeight - 80;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const item of [...page.body.children]) {
      const old = item.id && byId(item.id);
      if (!old) shown.append(document.adoptNode(item));
      else if (old.dataset.status !== item.dataset.status) {
        item.open = old.open;
        old.replaceWith(document.adoptNode(item));
      }
    }
    shown.dataset.last = answer.headers.get("x-last-seq") || shown.dataset.last;
    if (atEnd) scrollTo(0, document.body.scrollHeight);
  };
  const again = () => {
    // The server may have been ended meanwhile; the page stays as it is.
    grow().catch(() => clearInterval(timer));
  };
  const timer = setInterval(again, LIVE_MS);
}
