// What follows a part that takes long is shown without it (see `is-awaited` in 20-shell.css). When that
// part comes at last, it keeps the height that it has by then until the reader asks for all of it.
(function () {
  "use strict";
  const fit = (part) => {
    const isCut = part.scrollHeight > part.clientHeight + 1;
    part.classList.toggle("is-cut", isCut);
    if (!isCut && !part.querySelector(".is-awaited")) {
      release(part);
    }
  };
  const watcher = new MutationObserver((changes) =>
    new Set(changes.map((change) => change.target.closest(".is-late"))).forEach((part) => part && fit(part)),
  );
  const hold = (part) => {
    part.style.minHeight = part.style.maxHeight = `${part.offsetHeight}px`;
    part.classList.add("is-late");
    watcher.observe(part, { childList: true, subtree: true });
  };
  const release = (part) => {
    part.classList.remove("is-late", "is-cut");
    part.style.maxHeight = "";
  };
  document.addEventListener("animationstart", (event) => {
    if (event.animationName === "await") {
      document.querySelectorAll(".may-be-late:not(.is-late):has(.is-awaited)").forEach(hold);
    }
  });
  document.addEventListener("click", (event) => {
    const part = event.target.closest(".late-button")?.closest(".card").querySelector(".is-late");
    if (part) {
      release(part);
    }
  });
})();
