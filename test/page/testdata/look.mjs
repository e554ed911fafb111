// Opens pages in a headless Chromium and tells what a person would run into. On standard input:
//   {"chromium": PATH, "pages": [PATH...], "pictures": FOLDER or ""}
// On standard output: [{"page", "scheme", "width", "problems": [TEXT...]}...]. OLOPROOF_PAGE has puppeteer-core and axe-core.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const asked = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(join(process.env.OLOPROOF_PAGE, "package.json"));
const puppeteer = (await import(pathToFileURL(require.resolve("puppeteer-core")))).default;
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const widths = { light: [320, 768, 1280], dark: [320, 1280] };
const browser = await puppeteer.launch({ executablePath: asked.chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const results = [];

async function look(path, scheme, width) {
  const problems = [];
  const page = await browser.newPage();
  const address = pathToFileURL(path).href;
  page.on("console", (message) => problems.push("console: " + message.text()));
  page.on("pageerror", (error) => problems.push("error: " + error.message));
  page.on("request", (request) => request.url() !== address && problems.push("request: " + request.url()));
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(address);
  const shown = join(asked.pictures, `${basename(path, ".html")}.${scheme}.${width}`);
  if (asked.pictures) await page.screenshot({ path: shown + ".png", fullPage: true });

  // What a keyboard meets first is the way past the heading.
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => {
    const box = document.activeElement.getBoundingClientRect();
    return { skip: document.activeElement.className === "skip", seen: box.left >= 0 && box.top >= 0 && box.width > 0 };
  });
  if (!first.skip || !first.seen) problems.push("the skip link is not what Tab shows first");

  // Folded parts are looked at too.
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
  const wide = await page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    const over = [...document.querySelectorAll("body *")].filter((e) => !e.closest(".unseen, .skip, thead") && !e.closest("svg") && e.getBoundingClientRect().right > room + 1);
    return { scrolls: document.documentElement.scrollWidth > room, over: over.slice(0, 3).map((e) => e.outerHTML.slice(0, 120)) };
  });
  if (wide.scrolls || wide.over.length > 0) problems.push("wider than the window: " + wide.over.join(" "));
  const cut = await page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    return [...document.querySelectorAll("svg text")].filter((e) => { const b = e.getBoundingClientRect(); return b.width > 0 && (b.left < -1 || b.right > room + 1); }).slice(0, 3).map((e) => e.textContent);
  });
  if (cut.length > 0) problems.push("words of a drawing outside the window: " + cut.join("; "));
  if (await page.evaluate(() => document.scripts.length)) problems.push("it has a script");
  if (asked.pictures) await page.screenshot({ path: shown + ".open.png", fullPage: true });

  await page.evaluate(axe);
  const audit = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  for (const v of audit.violations) problems.push(`axe ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")}`);
  await page.close();
  results.push({ page: basename(path), scheme, width, problems });
}

// On paper nothing stays folded.
async function print(path) {
  const problems = [];
  const page = await browser.newPage();
  await page.setViewport({ width: 794, height: 1123 }); // A4 at 96 dots an inch
  await page.goto(pathToFileURL(path).href);
  await page.emulateMediaType("print");
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const folded = await page.evaluate(() => [...document.querySelectorAll("details:not(.bulk)")].filter((d) => d.lastElementChild !== d.firstElementChild && !d.lastElementChild.checkVisibility()).map((d) => d.firstElementChild.textContent));
  if (folded.length > 0) problems.push("folded on paper: " + folded.slice(0, 3).join("; "));
  if (asked.pictures) await page.pdf({ path: join(asked.pictures, basename(path, ".html") + ".pdf"), format: "A4", margin: { top: "15mm", bottom: "15mm", left: "15mm", right: "15mm" } });
  await page.close();
  results.push({ page: basename(path), scheme: "print", width: 794, problems });
}

for (const path of asked.pages) {
  for (const scheme of ["light", "dark"]) for (const width of widths[scheme]) await look(path, scheme, width);
  await print(path);
}
await browser.close();
console.log(JSON.stringify(results));
