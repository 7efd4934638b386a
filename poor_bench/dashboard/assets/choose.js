// Buttons that put a value into a store: drawn anew at any time, they lose no click, also where they
// move away between press and release while the pointer rests.
(function () {
  "use strict";
  const NEAR_PX = 4;
  const around = (target) => target.closest?.("[data-choose-store]");
  let pressed = null;
  document.addEventListener(
    "pointerdown",
    ({ target, clientX: x, clientY: y }) => {
      const button = around(target);
      pressed = button ? { ...button.dataset, x, y } : null;
    },
    true,
  );
  const findMoved = ({ clientX: x, clientY: y, detail }) =>
    detail > 0 && pressed && Math.hypot(x - pressed.x, y - pressed.y) <= NEAR_PX ? pressed : null;
  document.addEventListener("click", (event) => {
    const chosen = findMoved(event) ?? around(event.target)?.dataset; // keys press without a pointer
    pressed = null;
    if (chosen) {
      window.dash_clientside.set_props(chosen.chooseStore, { data: chosen.chooseValue });
    }
  });
})();
