// Elements without callbacks, drawn by one component; `components/still.py` makes their trees.
// Texts become text nodes only: nothing here makes HTML of a value.
(function () {
  "use strict";
  const element = window.React.createElement;
  const draw = (tree, search) => {
    if (!Array.isArray(tree)) {
      return tree;
    }
    const [tag, attributes, ...children] = tree;
    const from = attributes["data-stay-store"] ? { "data-stay-from": search } : {};
    return element(tag, { ...attributes, ...from }, ...children.map((child) => draw(child, search)));
  };
  const Still = ({ trees, search }) =>
    element(window.React.Fragment, null, ...trees.map((tree) => draw(tree, search)));
  window.poor_bench = Object.assign(window.poor_bench || {}, { Still });
})();

// Components are told of a change of the page, not of each step of a callback: no component shows
// those, and Dash would let every one of them compare all that it has, ten times for each click.
(function () {
  "use strict";
  const attributes = { configurable: true, writable: true };
  const spare = (store) => {
    const subscribe = store.subscribe;
    store.subscribe = (tell) => {
      let last = store.getState();
      return subscribe(() => {
        const now = store.getState();
        const isNew = Object.keys(now).some((part) => part !== "callbacks" && now[part] !== last[part]);
        last = now;
        if (isNew) {
          tell();
        }
      });
    };
    Object.defineProperty(window, "store", { ...attributes, value: store });
  };
  // Dash puts its store there once it listens itself, and before any component does.
  Object.defineProperty(window, "store", { configurable: true, set: spare });
})();
