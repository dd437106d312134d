// Asks the site's own search: its worker and its index, as a reader's browser runs them.
// node search.cjs SITE QUESTION ... prints [[address, ...], ...]: for each question the pages, best first.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [site, ...questions] = process.argv.slice(2);
const folder = path.join(site, "assets/javascripts/workers");
const worker = fs.readdirSync(folder).find((name) => /^search\..*\.js$/.test(name));
let listener;
let answered;
const room = {
  console,
  addEventListener: (_kind, listen) => { listener = listen; },
  postMessage: (message) => answered(message),
};
room.self = room;
vm.runInNewContext(fs.readFileSync(path.join(folder, worker), "utf8"), room);

const ask = (data) => new Promise((resolve) => { answered = resolve; listener({ data }); });

(async () => {
  const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));
  await ask({ type: 0, data: { ...index, options: { suggest: true } } });
  const found = [];
  for (const question of questions) {
    const { data } = await ask({ type: 2, data: question });
    found.push(data.items.map((sections) => sections[0].location.split("#")[0]));
  }
  console.log(JSON.stringify(found));
})();
