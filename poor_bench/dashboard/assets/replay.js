// Steps of a replayed case by keyboard: arrows step, Space plays and pauses, Home and End jump. A case
// that was chosen comes into view, and takes the focus.
(function () {
  "use strict";
  const PLAY_MS = 1200;
  const REPLAY = ".suite-replay";
  const replay = () => document.querySelector(REPLAY);
  const steps = () => [...document.querySelectorAll(`${REPLAY} .suite-step`)];
  let chosen = ""; // the case that waits to be shown: an answer about another one may come first
  let playing = 0;

  const current = () => steps().findIndex((step) => step.hasAttribute("aria-current"));
  const go = (place) => {
    const all = steps();
    const wanted = all[Math.max(0, Math.min(place, all.length - 1))];
    all.forEach((step) => step.removeAttribute("aria-current"));
    if (wanted) {
      wanted.setAttribute("aria-current", "step");
      wanted.scrollIntoView({ block: "nearest" });
    }
    return wanted === all.at(-1);
  };
  const pause = () => {
    window.clearInterval(playing);
    playing = 0;
  };
  const play = () => {
    const isAtEnd = current() === steps().length - 1;
    go(isAtEnd ? 0 : current() + 1);
    playing = window.setInterval(() => go(current() + 1) && pause(), PLAY_MS);
  };
  const keys = {
    ArrowDown: () => go(current() + 1),
    ArrowRight: () => go(current() + 1),
    ArrowUp: () => go(current() - 1),
    ArrowLeft: () => go(current() - 1),
    Home: () => go(0),
    End: () => go(steps().length - 1),
  };
  document.addEventListener("keydown", (event) => {
    const isHere = event.target.closest(REPLAY) && !event.target.closest("pre, input, textarea");
    if (!isHere || event.shiftKey || !window.poor_bench.keys.isCommand(event) || steps().length === 0) {
      return;
    }
    if (event.key === " ") {
      event.preventDefault();
      (playing ? pause : play)();
    } else if (keys[event.key]) {
      event.preventDefault();
      pause();
      keys[event.key]();
    }
  });

  const show = () => {
    const shown = chosen && replay();
    if (shown && shown.getAttribute("aria-label") === chosen) {
      chosen = "";
      shown.scrollIntoView({ block: "start" });
      shown.focus({ preventScroll: true });
    }
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#suites-cases-body tbody a[data-stay-store]");
    if (link) {
      chosen = link.textContent;
      show(); // the case that is shown already has no answer to wait for
    }
  });
  const isAbout = (node) => (node.nodeType === 1 ? node : node.parentElement)?.closest("#suites-replay-body");
  new MutationObserver((records) => {
    if (records.some((record) => isAbout(record.target))) {
      pause();
      show();
    }
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
})();
