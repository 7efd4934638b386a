// Tells a store when its element comes into view: heavy charts are loaded only then.
(function () {
  "use strict";
  const attribute = "data-seen-store";
  const tell = (entries, observer) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      observer.unobserve(entry.target);
      window.dash_clientside.set_props(entry.target.getAttribute(attribute), { data: true });
    }
  };
  const observer = new IntersectionObserver(tell, { rootMargin: "120px" });
  const observeNew = () => {
    for (const target of document.querySelectorAll(`[${attribute}]:not([data-observed])`)) {
      target.setAttribute("data-observed", "");
      observer.observe(target);
    }
  };
  new MutationObserver(observeNew).observe(document.body, { childList: true, subtree: true });
})();
