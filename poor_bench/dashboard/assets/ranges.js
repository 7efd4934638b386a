// A number field that does not take what is typed says its range. Mantine drops letters and what is out
// of range without a word, at once or when the field is left.
(function () {
  "use strict";
  const NUMBER = /^-?\d*\.?\d*$/; // also one that is not typed to its end
  const fits = (text, range) => {
    const [least, , most] = range.split(" ").map(Number);
    const isBelow = text === "-" ? least >= 0 : text !== "" && Number(text) < least;
    return NUMBER.test(text) && !isBelow && !(Number(text) > most); // "0 or more" has no number there
  };
  const tell = (field, range) => {
    const root = field.closest(".mantine-NumberInput-root");
    const told = { "aria-invalid": "true", "aria-description": range };
    if (range === null) {
      root.removeAttribute("data-fault");
      Object.keys(told).forEach((name) => field.removeAttribute(name));
      return;
    }
    root.setAttribute("data-fault", range);
    Object.entries(told).forEach(([name, value]) => field.setAttribute(name, value));
  };
  // Before the field itself hears it: then the text is gone. A field that is left and puts a number
  // into its range keeps what was told.
  const look = (event) => {
    const range = event.target.getAttribute?.("data-range");
    if (range) {
      tell(event.target, fits(event.target.value.trim(), range) ? null : range);
    }
  };
  document.addEventListener("input", look, { capture: true });
  document.addEventListener("focusout", look, { capture: true });
})();
