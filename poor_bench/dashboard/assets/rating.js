// Keys of the rating bar: + is 1, - is 0, a digit is tenths, Backspace takes the rating back, C and T
// go to comment and tags, Enter and Escape leave them.
(function () {
  "use strict";
  const LONGEST_MOVE_MS = 3000;
  const shownBar = () => {
    const bar = document.getElementById("rating-bar");
    return bar && bar.getClientRects().length ? bar : null;
  };
  const panelPlace = () => (document.getElementById("panel-position") || {}).textContent;
  // After J or K the next answer is on its way: a key pressed now is about an answer not yet seen.
  let left = null;
  const noteMove = (name) => {
    const button = document.querySelector(`button[id$="-${name}-button"]:not([disabled])`);
    if (button) {
      left = { place: panelPlace(), until: performance.now() + LONGEST_MOVE_MS };
    }
  };
  const isMoving = () =>
    left !== null && left.place === panelPlace() && performance.now() < left.until;
  const scoreOf = (key) => {
    if (key === "Backspace") {
      return null;
    }
    if (key === "+" || key === "-") {
      return key === "+" ? 1 : 0;
    }
    return /^[0-9]$/.test(key) ? Number(key) / 10 : undefined;
  };
  const functions = (window.dash_clientside = window.dash_clientside || {});
  const KEY = "rating-key-store";
  const buttons = { "rating-down-button": 0, "rating-up-button": 1, "rating-clear-button": null };
  let nSent = 0;
  let newest = null; // fill of the boxes
  let early = null; // a rating that was given before its bar came
  const fields = { c: "rating-note-input", t: "rating-tags-input" };
  const boxes = ["rating-score-input", fields.c, fields.t];
  const tags = (text) => text.split(/[,;]/).map((tag) => tag.trim()).filter(Boolean);
  const tidy = [
    (score) => (["", null, undefined].includes(score) ? "" : String(Number(score))),
    (note) => note ?? "",
    (text) => [...new Set(tags(text ?? ""))].join(", "),
  ];
  // What a box shows of a rating that changed, as in another tab: an edit stays until it is stored.
  const chooseShown = (now, before, sent, ...held) =>
    now.map((value, i) => {
      const [stored, old, ...seen] = [now, sent ?? before, ...held].map((each) => tidy[i](each[i]));
      const isEdited = seen.some((each) => each !== old);
      const isShown = seen.every((each) => each === stored);
      return isShown || isEdited ? window.dash_clientside.no_update : value;
    });
  // Not by a callback: those that follow the server are held back while it is asked.
  const giveEarly = (filled) => {
    const [answer, , id] = filled;
    if (!early || id !== newest || `${answer?.slice(0, early.target.length)}` !== `${early.target}`) {
      return;
    }
    const shown = window.dash_component_api.getLayout("rating-shown-store");
    if (!shown) {
      return; // the reader has left the page
    }
    if (shown.props.data?.[2] !== id) {
      setTimeout(giveEarly, 10, filled);
      return;
    }
    const { score } = early;
    early = null;
    hold(score);
    window.dash_clientside.set_props(KEY, { data: [score, Date.now()] });
  };
  functions.rating = {
    chooseShown,
    follow: (target) => target,
    fill: (read, shown, ...held) => {
      const [answer, now, sent] = read;
      const [before, old] = shown || [null, ["", "", ""]];
      const typed = boxes.map((box) => (document.getElementById(box) || {}).value);
      const isSame = JSON.stringify(answer) === JSON.stringify(before);
      const filled = [answer, now, `${Date.now()} ${Math.random()}`];
      newest = filled[2];
      giveEarly(filled);
      return [filled, !answer, ...(isSame ? chooseShown(now, old, sent, held, typed) : now)];
    },
    send: (...values) => {
      const { callback_context: { triggered }, no_update } = window.dash_clientside;
      const [target, shown, keyed, ...held] = values.slice(-6).reverse();
      const changed = triggered.filter((each) => each.value).map((each) => each.prop_id.split(".")[0]);
      // The panel shows its next answer before the bar does: what is meant for it waits for its bar.
      const isOfPanel = shown?.[0] && `${shown[0].slice(0, target?.length)}` === `${target}`;
      const rated = changed.find((id) => id in buttons || id === KEY);
      if (rated && target && !isOfPanel) {
        early = { target, score: rated === KEY ? keyed[0] : buttons[rated] };
      }
      if (!isOfPanel || !changed.length) {
        return no_update;
      }
      const trigger = rated ?? changed[0];
      return [(nSent += 1), trigger, keyed?.[0] ?? null, held.reverse(), shown];
    },
  };
  // As if a person did: a box that was filled a moment ago overlooks that its value is empty again,
  // since it compares it with what it had before.
  const empty = (id) => {
    const box = document.getElementById(id);
    if (box.value) {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, "");
      box.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  // At once, not with the answer of the server: a comment sent in between carries the boxes along.
  const hold = (score) => {
    const { set_props: set } = window.dash_clientside;
    set("rating-score-input", { value: score ?? "" });
    if (score === null) {
      Object.values(fields).forEach((field) => set(field, { value: "" }));
      boxes.forEach(empty);
    }
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#rating-bar button[id]");
    if (button && button.id in buttons) {
      hold(buttons[button.id]);
    }
  });

  document.addEventListener("keydown", (event) => {
    const bar = shownBar();
    const isLeaving = event.key === "Escape" || event.key === "Enter";
    if (bar && isLeaving && bar.contains(event.target) && event.target.closest("input, textarea")) {
      event.target.blur(); // at once: the next key is a command again, not text
    }
    if (!bar || !window.poor_bench.keys.isCommand(event)) {
      return;
    }
    const key = window.poor_bench.keys.read(event);
    if (key === "j" || key === "k") {
      noteMove(key === "j" ? "next" : "previous");
      return;
    }
    const field = document.getElementById(fields[key]);
    const score = scoreOf(event.key);
    if (field) {
      event.preventDefault();
      field.focus();
    } else if (score !== undefined && !isMoving()) {
      event.preventDefault();
      hold(score);
      window.dash_clientside.set_props(KEY, { data: [score, Date.now()] });
    }
  });
})();
