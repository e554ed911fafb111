// The site is built from ../docs, whose pages stay readable on GitHub as they are: what a page needs in one place and not in
// the other is done here.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const repository = "https://github.com/oloproof/oloproof";
const here = path.dirname(fileURLToPath(import.meta.url));

// The one list of pages: groups of {path, title}, in the order of the menu. test/docs holds it to the files of docs.
const groups = JSON.parse(readFileSync(path.join(here, "../pages.json"), "utf8"));
const address = (page) => "/" + page.path.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "");
const menu = (name) =>
  groups.find((group) => group.group === name).pages.map((page) => ({ text: page.title, link: address(page) }));

// Nothing is loaded from elsewhere, and the browser is told so: whatever would be is refused. 'unsafe-inline' is for the
// generator's own few lines, which set light or dark before the page is drawn.
const security = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

// findVue: the pages lie outside this folder, and would not find what is installed in it.
const findVue = {
  name: "find-vue",
  enforce: "pre",
  resolveId(id, _importer, options) {
    return id === "vue" || id.startsWith("vue/") ? this.resolve(id, here, { ...options, skipSelf: true }) : null;
  },
};

export default defineConfig({
  srcDir: "../docs",
  lang: "en",
  title: "Oloproof",
  titleTemplate: ":title · Oloproof",
  description: "A statistical release gate for AI systems that people use",
  head: [
    ["meta", { "http-equiv": "Content-Security-Policy", content: security }],
    ["link", { rel: "icon", href: "data:," }], // none, and none is asked for
  ],
  themeConfig: {
    nav: [
      { text: "Gate a pull request", link: "/start" },
      { text: "Gates", items: menu("Gates") },
      { text: "Misconceptions", items: menu("Misconceptions") },
      { text: "GitHub", link: repository },
    ],
    sidebar: groups.map((group) => ({
      text: group.group,
      items: menu(group.group),
      collapsed: false,
    })),
    outline: { level: [2, 3] },
    search: { provider: "local", options: { _render: searched } },
    editLink: { pattern: repository + "/edit/main/docs/:path", text: "Change this page" },
    footer: { message: "Every command on these pages is run, and its output compared, by the project's tests." },
    externalLinkIcon: false,
  },
  // A page of plain Markdown, without settings at its top, which GitHub would show as a table.
  transformPageData: (page) => {
    if (page.relativePath === "index.md") {
      page.frontmatter.pageClass = "first-page";
      page.frontmatter.aside = false;
      page.titleTemplate = "a statistical release gate for AI systems";
    }
  },
  markdown: {
    anchor: { slugify },
    attrs: { disable: true }, // braces are the documents' own
    config: (md) => {
      md.linkify.set({ fuzzyLink: false, fuzzyEmail: false }); // README.md is no address in Moldova
      md.core.ruler.push("links-out-of-docs", linkOut);
      nameFiles(md);
      takeAsText(md);
    },
  },
  vite: {
    plugins: [findVue],
    build: { chunkSizeWarningLimit: 2000 }, // the coverage grid is one long page
  },
});

// slugify names a heading as GitHub does, so that links to headings work in both places.
function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\-_ ]/gu, "")
    .replaceAll(" ", "-");
}

// linkOut turns links out of docs, such as ../CHANGELOG.md, into links to the repository.
function linkOut(state) {
  const from = path.posix.join("docs", path.posix.dirname(state.env.relativePath ?? ""));
  for (const block of state.tokens) {
    for (const token of block.children ?? []) {
      const href = token.type === "link_open" ? token.attrGet("href") : "";
      const to = path.posix.join(from, href ?? "");
      if (href.startsWith("../") && !to.startsWith("docs/")) {
        token.attrSet("href", repository + "/blob/main/" + to);
      }
    }
  }
}

// nameFiles writes the name of a block that is a file (csv file=NAME) above it, and leaves columns and what the program prints
// in one colour: red would look like something wrong.
function nameFiles(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, i, ...rest) => {
    const name = /\bfile=(\S+)/.exec(tokens[i].info);
    tokens[i].info = tokens[i].info.replace(/^(csv|console)\b/, "txt");
    return (name ? `<p class="file-name">${md.utils.escapeHtml(name[1])}</p>` : "") + fence(tokens, i, ...rest);
  };
}

// takeAsText keeps the generator from reading a page as a template: ${{ … }} in a workflow is the workflow's.
function takeAsText(md) {
  const render = md.render.bind(md);
  md.render = (...page) => render(...page).replaceAll("{{", "&#123;&#123;");
}

// searched is what of a page is searched: all of it, but of the coverage grid not its hundreds of tables.
function searched(text, env, md) {
  if (env.relativePath === "coverage.md") {
    text = text.slice(0, text.indexOf("\n## The cells of "));
  }
  return md.render(text, env);
}
