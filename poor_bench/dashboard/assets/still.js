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
