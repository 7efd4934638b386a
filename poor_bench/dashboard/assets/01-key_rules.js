// When a key without Ctrl, Alt or Meta is a command: not while somebody types, not under an open
// dialog, and not after the reader has switched single keys off (WCAG 2.1.4).
(function () {
  "use strict";
  const STORED = "poor_bench-single-keys";
  const TICKS = "[type='checkbox'], [type='radio']"; // nobody types in these
  const TYPING = `input:not(${TICKS}), textarea, select, [contenteditable]`;
  const DIALOG = "dialog[open], [role='dialog'][aria-modal='true']";
  const store = {
    isOff: () => {
      try {
        return window.localStorage.getItem(STORED) === "off";
      } catch {
        return false; // storage is switched off
      }
    },
    keep: (isOn) => {
      try {
        window.localStorage.setItem(STORED, isOn ? "on" : "off");
      } catch {
        // holds until the page is loaded again: there is nowhere to keep it
      }
    },
  };
  const isPlain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey;
  const isFree = (event) =>
    isPlain(event) && !event.target.closest(TYPING) && !document.querySelector(DIALOG);
  const isCharacter = ({ key }) => key.length === 1 && key !== " ";
  const isCommand = (event) => isFree(event) && !(isCharacter(event) && store.isOff());
  const read = ({ key }) => (key.length === 1 ? key.toLowerCase() : key); // J is listed, j is typed
  window.poor_bench = Object.assign(window.poor_bench || {}, { keys: { isCommand, read, store } });
})();
