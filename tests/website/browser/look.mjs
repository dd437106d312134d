// Looks at pages of a built site in Chromium and prints what is wrong with them, as one JSON document.
// node look.mjs SITE CHROMIUM MODULES PAGE ... looks at pages; without any, it searches.
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";

const [site, program, modules, ...names] = process.argv.slice(2);
const require = createRequire(resolve(modules, "x.cjs"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };
const PATIENCE_MS = 120_000; // a busy machine is slow, not wrong
const QUESTION = "retry only what failed";
const KINDS = {
  ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json",
  ".svg": "image/svg+xml", ".png": "image/png",
};

const server = createServer((request, response) => {
  const path = join(site, decodeURIComponent(new URL(request.url, "http://x").pathname));
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path;
  response.writeHead(existsSync(file) ? 200 : 404, { "Content-Type": KINDS[extname(file)] ?? "text/plain" });
  if (existsSync(file)) createReadStream(file).pipe(response);
  else response.end();
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const home = `http://127.0.0.1:${server.address().port}/`;

async function axeSays(page, rules, only) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const ask = ([options, places]) => window.axe.run(places ? { include: places } : document, options);
  const found = await page.evaluate(ask, [{ ...rules, resultTypes: ["violations"] }, only]);
  const counted = (one) => one.tags.some((tag) => tag.startsWith("wcag")) || ["serious", "critical"].includes(one.impact);
  return found.violations.filter(counted).flatMap((one) => grouped(one.nodes.map((node) =>
    [`${one.impact} ${one.id}: ${([...node.any, ...node.all, ...node.none][0])?.message ?? one.help}`, node.target.join(" ")])));
}

function grouped(pairs) {
  const places = new Map();
  for (const [what, place] of pairs) places.set(what, [...(places.get(what) ?? []), place]);
  return [...places].map(([what, found]) => `${what}, ${found.length} times, such as ${found[0]}`);
}

// What is wider than the page and cannot be scrolled to.
function outside() {
  const scrolled = (element) => {
    for (let above = element; above && above !== document.body; above = above.parentElement)
      if (/auto|scroll|hidden/.test(getComputedStyle(above).overflowX) || getComputedStyle(above).position === "fixed") return true;
    return false;
  };
  const width = document.documentElement.clientWidth;
  const wide = document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} wide`] : [];
  const out = [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > width + 1 && !scrolled(one));
  return [...wide, ...out.slice(0, 5).map((one) => `${one.tagName} ${one.className} ${Math.round(one.getBoundingClientRect().right)}`)];
}

// Marks an element for each way in which text is shown that no page before had: contrast follows from these alone.
function mark(seen) {
  const ground = (element) => {
    for (let above = element; above; above = above.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(above);
      if (backgroundImage !== "none" || !/, 0\)$|transparent/.test(backgroundColor)) return `${backgroundColor} ${backgroundImage}`;
    }
    return "";
  };
  const known = new Set(seen);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const style = getComputedStyle(element);
    const look = [style.color, style.fontSize, style.fontWeight, style.opacity, ground(element), element.closest("a") !== null].join(" ");
    if (!known.has(look)) element.setAttribute("data-look", "");
    known.add(look);
  }
  return [...known];
}

async function contrast(page, seen) {
  const known = await page.evaluate(mark, [...seen]);
  if (known.length === seen.size) return [];
  known.forEach((look) => seen.add(look));
  return axeSays(page, { runOnly: ["color-contrast"] }, [["[data-look]"]]);
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const all = { runOnly: tags, rules: { "color-contrast": { enabled: false } } };
const looks = {
  light: [{ viewport: WIDE, colorScheme: "light" }, async (page, seen) => [...(await axeSays(page, all)), ...(await contrast(page, seen))]],
  dark: [{ viewport: WIDE, colorScheme: "dark" }, contrast],
  narrow: [{ viewport: NARROW, colorScheme: "light" }, (page) => page.evaluate(outside)],
};

async function walk(browser, names, [settings, examine]) {
  const context = await browser.newContext({ ...settings, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  let said = [];
  page.on("console", (message) => message.type() === "error" && said.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`script: ${error.message}`));
  page.on("request", (request) => request.url().startsWith(home) || said.push(`asks ${request.url()}`));
  const found = {};
  const seen = new Set();
  for (const name of names) {
    said = [];
    await page.goto(home + name, { waitUntil: "load" });
    const wrong = [...(await examine(page, seen)), ...said];
    if (wrong.length) found[name] = wrong;
  }
  await context.close();
  return found;
}

// The page that a reader reaches with the keyboard alone: "/", a question, down, Enter.
async function search(browser) {
  const page = await browser.newPage({ viewport: WIDE });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(home, { waitUntil: "load" });
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement.textContent.trim());
  await page.keyboard.press("/");
  await page.waitForFunction(() => document.activeElement.matches("input.md-search__input"));
  await page.keyboard.type(QUESTION);
  await page.waitForSelector(".md-search-result__link");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => document.activeElement.matches(".md-search-result__link"));
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname !== "/");
  const reached = new URL(page.url()).pathname.slice(1);
  await page.close();
  return { first, reached };
}

const browser = await chromium.launch({
  executablePath: program,
  args: [...(process.getuid() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});
const lookAt = async () => {
  const found = await Promise.all(Object.values(looks).map((look) => walk(browser, names, look)));
  return Object.fromEntries(Object.keys(looks).map((name, at) => [name, found[at]]));
};
const answer = names.length ? await lookAt() : await search(browser);
await browser.close();
server.close();
process.stdout.write(JSON.stringify(answer));
