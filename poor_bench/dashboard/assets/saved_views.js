// Named views of a page, kept in this browser: the content of a view is the query of its address.
// One address may serve another workspace tomorrow: a view belongs to the one it was saved in.
(function () {
  "use strict";
  const { createElement: element, useState } = window.React;
  const KEY = "poor_bench-views";
  const LEFT_OUT = ["theme", "token"];
  const readAll = () => {
    try {
      const found = JSON.parse(window.localStorage.getItem(KEY) || "[]");
      return Array.isArray(found) ? found.filter(({ path, name }) => path && name) : [];
    } catch (error) {
      return []; // storage is switched off, or holds something else
    }
  };
  const writeAll = (views) => {
    try {
      window.localStorage.setItem(KEY, JSON.stringify(views));
      return true;
    } catch (error) {
      return false;
    }
  };
  const searchNow = () => {
    const query = new URLSearchParams(window.location.search);
    LEFT_OUT.forEach((name) => query.delete(name));
    return `${query}` ? `?${query}` : "";
  };
  const workspaceHere = () => document.querySelector("[data-workspace]").dataset.workspace;
  const isHere = ({ path, workspace }) =>
    path === window.location.pathname && (!workspace || workspace === workspaceHere());

  const SavedViews = () => {
    const [views, setViews] = useState([]);
    const [name, setName] = useState("");
    const [problem, setProblem] = useState("");
    const load = () => setViews(readAll().filter(isHere));
    const change = (next) => {
      setProblem(writeAll(next) ? "" : "This browser blocks storage.");
      load();
    };
    const save = (event) => {
      event.preventDefault();
      const view = { path: window.location.pathname, name: name.trim(), search: searchNow(), workspace: workspaceHere() };
      if (view.name) {
        change([...readAll().filter((other) => !isHere(other) || other.name !== view.name), view]);
        setName("");
      }
    };
    const remove = (view, event) => {
      event.currentTarget.closest(".dropdown-list").querySelector("input").focus();
      change(readAll().filter((other) => !isHere(other) || other.name !== view.name));
    };
    const line = (view) =>
      element(
        "li",
        { key: view.name },
        element("a", { href: view.path + (view.search || ""), "data-page-link": "" }, view.name),
        element(
          "button",
          {
            type: "button",
            className: "choose-button",
            "aria-label": `Delete ${view.name}`,
            onClick: (event) => remove(view, event),
          },
          "Delete"
        )
      );
    return element(
      window.poor_bench.Dropdown,
      { title: "Views", onOpen: load },
      element(
        "form",
        { className: "view-form", onSubmit: save },
        element("input", {
          type: "text",
          value: name,
          maxLength: 60,
          placeholder: "Name",
          "aria-label": "Name",
          onChange: (event) => setName(event.target.value),
        }),
        element("button", { type: "submit", className: "choose-button" }, "Save view")
      ),
      // Below the form: a saved view must not push its Delete below the mouse.
      views.length ? element("ul", { className: "view-list" }, ...views.map(line)) : null,
      element("p", { className: "card-note" }, problem || "Stored in this browser.")
    );
  };
  window.poor_bench = Object.assign(window.poor_bench || {}, { SavedViews });
})();
