// A button that opens a list: native `details`, closed by Escape and by leaving it.
(function () {
  "use strict";
  const { createElement: element, useEffect, useRef } = window.React;
  const Dropdown = ({ title, onOpen, children }) => {
    const box = useRef(null);
    const close = () => {
      box.current.open = false;
    };
    useEffect(() => {
      const leave = (event) => box.current.contains(event.target) || close();
      document.addEventListener("pointerdown", leave);
      return () => document.removeEventListener("pointerdown", leave);
    }, []);
    return element(
      "details",
      {
        className: "dropdown",
        ref: box,
        onToggle: (event) => event.target.open && onOpen(),
        onBlur: (event) => event.currentTarget.contains(event.relatedTarget) || close(),
        onKeyDown: (event) => {
          if (event.key === "Escape" && box.current.open) {
            event.nativeEvent.stopPropagation();
            close();
            box.current.querySelector("summary").focus();
          }
        },
      },
      element("summary", { className: "choose-button" }, title),
      element("div", { className: "dropdown-list", tabIndex: -1 }, children)
    );
  };
  window.poor_bench = Object.assign(window.poor_bench || {}, { Dropdown });
})();
