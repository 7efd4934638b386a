// Asks before edits that were not saved vanish: with a link, a key, the back button, a reload or a
// closed dialog. A form says with `data-form` what it edits; `data-saved` says that it was saved.
(function () {
  "use strict";
  const FORM = "[data-form]";
  const before = new Map(); // form to its values when it was first touched
  let saving = null;
  let place = "";

  const values = (form) =>
    JSON.stringify(
      [...form.querySelectorAll("input, textarea, select")].map((field) =>
        field.type === "checkbox" ? field.checked : field.value,
      ),
    );
  const edited = () => {
    for (const form of before.keys()) {
      if (!form.isConnected) {
        before.delete(form);
      }
    }
    return [...before.keys()].find((form) => values(form) !== before.get(form));
  };
  const mayLeave = () => {
    const form = edited();
    if (!form) {
      return true;
    }
    const isSure = window.confirm(`Discard unsaved changes to ${form.getAttribute("data-form")}?`);
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
    if (form && !before.has(form)) {
      before.set(form, values(form));
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
      saving = button?.closest(FORM) || saving;
      const link = event.target.closest("a");
      const closes = button?.matches(".mantine-Modal-close, [data-discards]");
      if ((closes || (link && isFollowed(event, link))) && !mayLeave()) {
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
      before.delete(saving);
      saving = null;
    }
  };
  new MutationObserver(noteSaved).observe(document.documentElement, { childList: true, subtree: true });
})();
