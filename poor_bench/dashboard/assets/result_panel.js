// The result panel: raw or rendered answers, the rest of long texts, copies, lists that load when
// they open.
(function () {
  "use strict";
  const FORM = "poor_bench-answer-form";
  const root = document.documentElement;
  const read = () => {
    try {
      return window.localStorage.getItem(FORM);
    } catch {
      return null;
    }
  };
  root.dataset.answerForm = read() === "raw" ? "raw" : "rendered";
  const choose = (button) => {
    const form = button.dataset.answerForm;
    root.dataset.answerForm = form;
    try {
      window.localStorage.setItem(FORM, form);
    } catch {
      // without storage, the choice holds until the page is loaded anew
    }
    const other = form === "raw" ? "rendered" : "raw";
    button.parentElement.querySelector(`[data-answer-form="${other}"]`).focus();
  };

  // Blocks of some pages each: the browser lays out only those in sight.
  const BLOCK = 20000;
  const blocksOf = (text) => {
    const blocks = document.createDocumentFragment();
    for (let start = 0; start < text.length; ) {
      const most = text.slice(start, start + BLOCK); // a text without line ends is searched once
      const line = most.lastIndexOf("\n");
      const length = line < 0 ? most.length : line + 1;
      const block = document.createElement("span");
      block.className = "text-block";
      block.textContent = most.slice(0, line < 0 ? length : line);
      blocks.append(block);
      start += length;
    }
    return blocks;
  };
  const fetchText = async (address) => {
    const answer = await fetch(address);
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(text.slice(0, 300));
    }
    return text;
  };
  const loadRest = async (button) => {
    button.disabled = true;
    const place = button.closest(".plain-text-more").parentElement.querySelector("[data-rest-of]");
    const text = await fetchText(`${button.dataset.loadRest}&start=${button.dataset.restStart}`);
    place.replaceChildren(blocksOf(text));
    button.hidden = true;
  };

  const copy = async (text) => {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return;
    }
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  const copyFrom = async (button) => {
    const { copyLink, copyFrom: address } = button.dataset;
    await copy(copyLink ? window.location.origin + copyLink : await fetchText(address));
    say(button, "Copied");
  };
  const say = (button, text) => {
    const said = document.createElement("span");
    said.className = "button-said";
    said.setAttribute("role", "status");
    said.textContent = text;
    button.after(said);
    setTimeout(() => said.remove(), 4000);
  };

  const actions = [
    ["[data-load-rest]", loadRest],
    ["[data-copy-link], [data-copy-from]", copyFrom],
    ["button[data-answer-form]", async (button) => choose(button)],
  ];
  document.addEventListener("click", (event) => {
    for (const [selector, act] of actions) {
      const button = event.target.closest(selector);
      if (button) {
        act(button).catch((error) => {
          button.disabled = false;
          say(button, error.message);
        });
      }
    }
  });
  document.addEventListener(
    "toggle",
    (event) => {
      const store = event.target.dataset && event.target.dataset.toggleStore;
      if (store) {
        window.dash_clientside.set_props(store, { data: event.target.open });
      }
    },
    true,
  );
})();
