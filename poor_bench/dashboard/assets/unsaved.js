// Asks before edits that were not saved vanish: with a link, a key, the back button, a reload or a
// closed dialog. A form says with `data-form` what it edits; `data-saved` says that it was saved, and
// `data-discards` stands on buttons and charts that fill it with something else, as rows of grids do.
(function () {
  "use strict";
  const FORM = "[data-form]";
  const before = new Map(); // form to what it edited, and its values, when it was first touched
  let saving = null; // the form whose answer is awaited: what it edited, and held when it was sent
  let place = "";

  const subject = (form) => form.getAttribute("data-form");
  const values = (form) =>
    JSON.stringify(
      [...form.querySelectorAll("input, textarea, select")].map((field) =>
        field.type === "checkbox" ? field.checked : field.value,
      ),
    );
  const isSame = (form) => form.isConnected && before.get(form)?.subject === subject(form);
  const edited = () => [...before.keys()].find((form) => isSame(form) && values(form) !== before.get(form).values);
  const mayLeave = () => {
    const form = edited();
    if (!form) {
      return true;
    }
    const isSure = window.confirm(`Discard unsaved changes to ${subject(form)}?`);
    if (isSure) {
      before.clear();
    }
    return isSure;
  };
  const hold = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };

  const touch = (event) => {
    const form = event.target.closest?.(FORM);
    if (form && !isSame(form)) {
      before.set(form, { subject: subject(form), values: values(form) });
      place = window.location.href;
    }
  };
  document.addEventListener("focusin", touch, true);
  document.addEventListener("pointerdown", touch, true);

  const isFollowed = (event, link) =>
    link.hasAttribute("href") &&
    link.target !== "_blank" &&
    !link.hasAttribute("download") &&
    !(link.getAttribute("href") || "").startsWith("#") &&
    !event.ctrlKey &&
    !event.metaKey &&
    !event.shiftKey &&
    event.button === 0;
  window.addEventListener(
    "click",
    (event) => {
      const button = event.target.closest("button");
      const form = button?.closest(FORM);
      if (form) {
        saving = { form, subject: subject(form), values: values(form) };
      }
      const link = event.target.closest("a");
      const closes = button?.matches(".mantine-Modal-close, [data-discards]") || event.target.closest(".ag-row");
      if ((closes || (link && isFollowed(event, link))) && !mayLeave()) {
        hold(event);
      }
    },
    true,
  );
  // A point of a chart that opens something: the chart tells what is below the pointer.
  window.addEventListener(
    "mousedown",
    (event) => {
      const chart = event.target.closest?.("[data-discards] .js-plotly-plot");
      if (chart?._hoverdata?.length && !mayLeave()) {
        hold(event);
      }
    },
    true,
  );
  window.addEventListener(
    "keydown",
    (event) => {
      const dialog = event.key === "Escape" && document.querySelector(`[role="dialog"] ${FORM}`);
      if (dialog && !mayLeave()) {
        hold(event);
      }
    },
    true,
  );
  window.addEventListener(
    "popstate",
    (event) => {
      if (!mayLeave()) {
        window.history.pushState(window.history.state, "", place);
        hold(event);
      }
    },
    true,
  );
  window.addEventListener("beforeunload", (event) => {
    if (edited()) {
      event.preventDefault();
    }
  });

  const noteSaved = (records) => {
    const isSaved = records.some((record) =>
      [...record.addedNodes].some(
        (node) => node.nodeType === 1 && (node.matches("[data-saved]") || node.querySelector("[data-saved]")),
      ),
    );
    if (isSaved && saving) {
      const { form, ...saved } = saving;
      if (saved.subject === subject(form)) {
        before.set(form, saved); // edits that followed were not sent
      }
      saving = null;
    }
  };
  const functions = (window.dash_clientside = window.dash_clientside || {});
  functions.unsaved = {
    // A form that was opened anew since shows the answer, but its own button was not pressed.
    close: (shown, clicks) => {
      const isSaved = shown.some((each) => each?.props?.["data-saved"]) && clicks.some(Boolean);
      return isSaved ? false : window.dash_clientside.no_update;
    },
  };
  new MutationObserver(noteSaved).observe(document.documentElement, { childList: true, subtree: true });
})();
