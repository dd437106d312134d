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

async function axeIn(page) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
}

async function axeSays(page) {
  await axeIn(page);
  const found = await page.evaluate((options) => window.axe.run(document, options), { ...all, resultTypes: ["violations"] });
  const counted = (one) => one.tags.some((tag) => tag.startsWith("wcag")) || ["serious", "critical"].includes(one.impact);
  return said(found.violations.filter(counted));
}

function said(violations) {
  return violations.flatMap((one) => grouped(one.nodes.map((node) =>
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

// Marks some elements for each way in which text is shown that was not judged before: contrast follows from these alone.
// Texts of one letter or of signs are left out, because axe does not judge them.
function mark(judged) {
  const ground = (element) => {
    for (let above = element; above; above = above.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(above);
      if (backgroundImage !== "none" || !/, 0\)$|transparent/.test(backgroundColor)) return `${backgroundColor} ${backgroundImage}`;
    }
    return "";
  };
  for (const marked of document.querySelectorAll("[data-look]")) marked.removeAttribute("data-look");
  const counts = new Map(judged.map((look) => [look, 3]));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.data.trim();
    if (text.length < 2 || !/[\p{L}\d]/u.test(text) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const style = getComputedStyle(element);
    const look = [style.color, style.fontSize, style.fontWeight, style.opacity, ground(element), element.closest("a") !== null].join(" ");
    const count = counts.get(look) ?? 0;
    if (count < 3) element.setAttribute("data-look", look);
    counts.set(look, count + 1);
  }
  return document.querySelectorAll("[data-look]").length;
}

async function contrast(page, judged) {
  if ((await page.evaluate(mark, [...judged])) === 0) return [];
  await axeIn(page);
  const found = await page.evaluate(async () => {
    const { violations, passes } = await window.axe.run({ include: [["[data-look]"]] }, { runOnly: ["color-contrast"], elementRef: true });
    const looks = [...violations, ...passes].flatMap((one) => one.nodes.map((node) => node.element.dataset.look));
    for (const one of [...violations, ...passes]) for (const node of one.nodes) delete node.element;
    return { violations, looks };
  });
  found.looks.forEach((look) => judged.add(look));
  return said(found.violations);
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const all = { runOnly: tags, rules: { "color-contrast": { enabled: false } } };
// Each page is loaded in light colors, made as narrow as a telephone, and loaded in dark colors.
async function walk(browser, names, judged) {
  const heard = [];
  const [light, dark] = [await opened(browser, "light", heard), await opened(browser, "dark", heard)];
  const found = { light: {}, dark: {}, narrow: {} };
  for (const name of names) {
    heard.length = 0;
    await light.setViewportSize(WIDE);
    await load(light, name, "default");
    const wrong = { light: [...(await axeSays(light)), ...(await contrast(light, judged.light))] };
    await light.setViewportSize(NARROW);
    wrong.narrow = await light.evaluate(outside);
    await load(dark, name, "slate");
    wrong.dark = [...(await contrast(dark, judged.dark)), ...heard];
    for (const [look, texts] of Object.entries(wrong)) if (texts.length) found[look][name] = texts;
  }
  await light.context().close();
  await dark.context().close();
  return found;
}

async function opened(browser, colorScheme, heard) {
  const context = await browser.newContext({ viewport: WIDE, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("console", (message) => message.type() === "error" && heard.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`script: ${error.message}`));
  page.on("request", (request) => request.url().startsWith(home) || heard.push(`asks ${request.url()}`));
  return page;
}

// The theme's script has chosen its colors, and none is on its way to another.
async function load(page, name, scheme) {
  await page.goto(home + name, { waitUntil: "load" });
  await page.addStyleTag({ content: "*, ::before, ::after { transition: none !important }" });
  await page.waitForFunction((wanted) => [wanted, null].includes(document.body.getAttribute("data-md-color-scheme")), scheme);
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
  const judged = { light: new Set(), dark: new Set() };
  const halves = [names.filter((_, at) => at % 2 === 0), names.filter((_, at) => at % 2 === 1)];
  const found = await Promise.all(halves.map((half) => walk(browser, half, judged)));
  return Object.fromEntries(Object.keys(found[0]).map((look) => [look, { ...found[0][look], ...found[1][look] }]));
};
const answer = names.length ? await lookAt() : await search(browser);
await browser.close();
server.close();
process.stdout.write(JSON.stringify(answer));
