// The frame around a document: nothing from another place, and no script but the search.
import fs from 'node:fs';
import path from 'node:path';

import { contents, pageOf } from './eleventy.config.mjs';

const words = {
  en: { other: '日本語', contents: 'Documents', source: 'This page on GitHub', search: 'Search', nothing: 'Nothing found' },
  ja: { other: 'English', contents: '文書', source: 'GitHub でこのページを見る', search: '検索', nothing: '見つかりません' },
};

export function render({ content, page }) {
  const file = path.posix.normalize(page.inputPath);
  const language = file.endsWith('.ja.md') ? 'ja' : 'en';
  const said = words[language];
  const beside = (name) => path.posix.relative(path.posix.dirname(pageOf(file)), name);
  const to = (name) => beside(pageOf(name));
  const inLanguage = (name) => (language === 'ja' && fs.existsSync(name.replace(/\.md$/, '.ja.md')) ? name.replace(/\.md$/, '.ja.md') : name);
  const other = language === 'ja' ? file.replace(/\.ja\.md$/, '.md') : file.replace(/\.md$/, '.ja.md');
  const title = text(/<h1[^>]*>(.*?)<\/h1>/s.exec(content)[1]);
  const entry = ({ title: name, file: doc }) => {
    const of = inLanguage(doc);
    return `<li><a href="${to(of)}"${of === file ? ' aria-current="page"' : ''}>${of === doc ? name : titleOf(of)}</a></li>`;
  };
  const list = [{ title: 'reprise', file: 'README.md' }, { title: said.contents, file: 'docs/README.md' }, ...contents()].map(entry).join('\n');
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'">
<title>${title === 'reprise' ? title : `${title} · reprise`}</title>
<link rel="stylesheet" href="${beside('site.css')}">
<script type="module" src="${beside('search.js')}"></script>
<header><a href="${to(inLanguage('README.md'))}">reprise</a><form class="search" role="search" data-nothing="${said.nothing}" hidden><input type="search" placeholder="${said.search}" aria-label="${said.search}" autocomplete="off"><ul aria-live="polite"></ul></form>${fs.existsSync(other) ? `<a href="${to(other)}" hreflang="${language === 'ja' ? 'en' : 'ja'}">${said.other}</a>` : ''}</header>
<nav class="side"><ul>${list}</ul></nav>
<main>
<details class="menu"><summary>${said.contents}</summary><nav><ul>${list}</ul></nav></details>
${content}
<footer><a href="https://github.com/reprise-ci/reprise/blob/main/${file}">${said.source}</a></footer>
</main>
</html>
`;
}

const text = (html) => html.replace(/<[^>]*>/g, '');
const titleOf = (file) => /^# (.*)$/m.exec(fs.readFileSync(file, 'utf8'))[1];
