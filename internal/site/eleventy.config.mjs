// How Eleventy makes a site of the Markdown documents as they are: it adds nothing to them
// and needs nothing in them. Addresses stay relative, so that the site works below any path.
//
//     internal/site/make FOLDER
import fs from 'node:fs';
import path from 'node:path';

const repository = 'https://github.com/reprise-ci/reprise';
const published = ['README', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY', 'docs/*'].flatMap((name) => [`${name}.md`]).concat('README.ja.md');

export default function (config) {
  config.setTemplateFormats('md');
  config.setUseGitIgnore(false);
  for (const entry of fs.readdirSync('.', { withFileTypes: true })) {
    if (entry.isDirectory() ? entry.name !== 'docs' : !published.includes(entry.name)) config.ignores.add(entry.name + (entry.isDirectory() ? '/**' : ''));
  }
  config.addPassthroughCopy('docs/images/*.{png,svg}');
  for (const file of ['site.css', 'search.js']) config.addPassthroughCopy({ [`internal/site/${file}`]: file });
  config.addGlobalData('layout', () => 'page.11ty.mjs');
  config.addGlobalData('permalink', () => (data) => pageOf(data.page.inputPath));
  config.amendLibrary('md', asOnGitHub);
  config.on('eleventy.after', ({ directories, results }) => {
    const made = results.toSorted((a, b) => (a.inputPath < b.inputPath ? -1 : 1)); // the same each time
    fs.writeFileSync(path.join(directories.output, 'search.json'), JSON.stringify(made.flatMap(sections)));
  });
  return { dir: { input: '.', includes: 'internal/site' }, markdownTemplateEngine: false }; // or {{ }} would be a template
}

// pageOf is where the page of a document lies, from the top of the site.
export function pageOf(file) {
  return path.posix.normalize(file).replace(/(^|\/)README((\.ja)?)\.md$/, '$1index$2.md').replace(/\.md$/, '.html');
}

// sections are the parts of a page that can be searched, each with the heading that it stands below.
function sections({ inputPath, content }) {
  const main = content.slice(content.indexOf('</details>', content.indexOf('<main>')), content.indexOf('<footer>'));
  const parts = main.split(/<h[1-6] id="([^"]+)">(.*?)<\/h[1-6]>/s).slice(1);
  const plain = (html) => html.replace(/<[^>]*>/g, ' ').replace(/&(lt|gt|quot|amp);/g, (_, name) => ({ lt: '<', gt: '>', quot: '"', amp: '&' })[name]).replace(/\s+/g, ' ').trim();
  const found = [];
  for (let i = 0; i < parts.length; i += 3) {
    found.push({ page: plain(parts[1]), heading: plain(parts[i + 1]), address: `${pageOf(inputPath)}#${parts[i]}`, text: plain(parts[i + 2]) });
  }
  return found;
}

// contents are the documents that docs/README.md lists, in its order.
export function contents() {
  const listed = fs.readFileSync('docs/README.md', 'utf8').matchAll(/^- \[([^\]]+)\]\(([^)]+\.md)\)/gm);
  return [...listed].map(([, title, file]) => ({ title, file: path.posix.join('docs', file) }));
}

// asOnGitHub gives headings the anchors that they have there, and leads links to the page of
// a document, or to the repository where a file has none.
function asOnGitHub(md) {
  md.core.ruler.push('as_on_github', ({ tokens, env }) => {
    const taken = new Set();
    let heads, column; // of the table at hand
    tokens.forEach((token, i) => {
      if (token.type === 'table_open') heads = [];
      if (token.type === 'th_open') heads.push(tokens[i + 1].content);
      if (token.type === 'tr_open') column = 0;
      if (token.type === 'td_open') token.attrSet('data-head', heads[column++]); // for phones
      if (token.type === 'heading_open') token.attrSet('id', anchor(tokens[i + 1].children, taken));
      for (const child of token.children ?? []) {
        if (child.type === 'link_open') child.attrSet('href', leads(child.attrGet('href'), env.page.inputPath));
      }
    });
  });
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, i, options, env, self) => {
    const shown = fence(tokens, i, options, env, self).replace('<pre>', '<pre tabindex="0">'); // it may have to be scrolled
    if (tokens[i].info !== 'mermaid') return shown;
    return `<details><summary>The picture as text; <a href="${repository}/blob/main/${path.posix.normalize(env.page.inputPath)}">GitHub draws it</a></summary>${shown}</details>\n`;
  };
  md.renderer.rules.table_open = (tokens, i) => {
    const columns = tokens.slice(i, tokens.findIndex((t, at) => at > i && t.type === 'tr_close')).filter((t) => t.type === 'th_open').length;
    return `<div class="wide" tabindex="0"><table${columns > 2 ? ' class="many"' : ''}>\n`;
  };
  md.renderer.rules.table_close = () => '</table></div>\n';
}

function anchor(children, taken) {
  const said = children.filter((c) => c.type === 'text' || c.type === 'code_inline').map((c) => c.content).join('');
  const slug = said.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
  let name = slug;
  for (let n = 1; taken.has(name); n++) name = `${slug}-${n}`;
  taken.add(name);
  return name;
}

function leads(href, from) {
  const [file, fragment] = href.split('#');
  if (!file || /^[a-z]+:/.test(file)) return href;
  const target = file.startsWith('/') ? file.slice(1) : path.posix.join(path.posix.dirname(from), file);
  const hash = fragment ? '#' + fragment : '';
  if (published.includes(target) || /^docs\/.+\.md$/.test(target)) return path.posix.relative(path.posix.dirname(pageOf(from)), pageOf(target)) + hash;
  const kind = fs.statSync(target).isDirectory() ? 'tree' : 'blob';
  return `${repository}/${kind}/main/${target}${hash}`;
}
