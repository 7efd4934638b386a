// Hands out the first answers of a page, which come in one response (see web/first_answers.py), where
// the very same is asked; anything else is asked of the server. A new document asks for those of its
// address, and a link for those of the page that it leads to, after a line with its first paint. The
// first line of the answers names what is going to come.
(function () {
  "use strict";
  const link = document.querySelector('link[rel="preload"][as="fetch"]');
  if (!link) {
    return;
  }
  const LASTING_MS = 5000;
  const ask = window.fetch.bind(window);

  // A function that is given the first paint; none where the document has it.
  const open = (address, paint) => {
    const answers = new Map();
    let waiting = [];
    let coming = null;
    const stream = { isOver: false };

    const goOn = (isDue) => {
      const due = waiting.filter(isDue);
      waiting = waiting.filter((each) => !due.includes(each));
      due.forEach((each) => each.goOn());
    };
    const take = async (line) => {
      if (paint) {
        const show = paint;
        paint = null;
        await show(JSON.parse(line));
        return;
      }
      if (coming === null) {
        coming = new Set(JSON.parse(line));
        return;
      }
      const [key, status, text] = JSON.parse(line);
      const name = key.startsWith("[") ? JSON.parse(key)[0] : key;
      answers.set(key, { status, text });
      coming.delete(name);
      goOn((each) => each.name === name);
    };
    const read = async () => {
      const response = await ask(address);
      if (!response.ok) {
        return;
      }
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          await take(line);
        }
      }
    };
    const end = () => {
      coming = new Set();
      goOn(() => true);
      window.setTimeout(() => (stream.isOver = true), LASTING_MS);
    };
    read().catch(() => null).then(end);

    const isComing = (name) => coming === null || coming.has(name);
    stream.find = async (name, key) => {
      if (!answers.has(key) && isComing(name)) {
        await new Promise((done) => waiting.push({ name, goOn: done }));
      }
      const answer = answers.get(key);
      answers.delete(key);
      return answer;
    };
    return stream;
  };
  let stream = open(link.href);

  const functions = (window.dash_clientside = window.dash_clientside || {});
  functions.first_answers = {
    // Before the page is asked for: its parts are then answered in the same response.
    expect: function ({ path, search }) {
      const version = window.dash_component_api.getLayout("shell-version-store")?.props.data;
      if (version) {
        const address = new URL(link.href);
        address.search = new URLSearchParams({ path, search, version });
        functions.first_paint.end();
        stream = open(address.href, (html) => functions.first_paint.show(html, path));
      }
    },
  };

  const values = (parts) => (parts || []).map((part) => (part.value === undefined ? null : part.value));
  const nameOf = (address, options) => {
    const { pathname } = new URL(address, window.location.href);
    if (typeof options?.body !== "string") {
      return [pathname, pathname];
    }
    const body = JSON.parse(options.body);
    return [body.output, JSON.stringify([body.output, values(body.inputs), values(body.state)])];
  };

  window.fetch = async (address, options) => {
    if (stream.isOver || typeof address !== "string" || !address.includes("/_dash-")) {
      return ask(address, options);
    }
    const answer = await stream.find(...nameOf(address, options));
    if (!answer) {
      return ask(address, options);
    }
    const headers = { "Content-Type": "application/json" };
    return new Response(answer.status === 204 ? null : answer.text, { status: answer.status, headers });
  };
})();
