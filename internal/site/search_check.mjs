#!/usr/bin/env node
// Types into the search of the site, as a browser has it, and holds what it finds.
//
//     internal/site/search_check.mjs SITE
//
// SITE is a folder that make has written. Needs a browser: chromium or google-chrome, or the
// one that CHROMIUM names.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const site = process.argv[2], profile = fs.mkdtempSync(path.join(os.tmpdir(), 'search-'));
const browser = [process.env.CHROMIUM, 'chromium', 'google-chrome', 'chromium-browser'].find((name) => name && spawnSync(name, ['--version']).status === 0);
// Page, what is typed, and what the first address that is found has to match; none: a sentence instead.
const searches = [
  ['index.html', 'rollback to phase', /docs\/.*\.html#/],
  ['docs/commands.html', 'MAX_rounds nowhere-to-be-found', undefined],
  ['docs/commands.html', 'budget', /docs\/.*\.html#/],
  ['index.ja.html', '承認', /\.ja\.html/],
];
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://site');
  if (pathname.endsWith('.typed')) {
    const typed = new URL(request.headers.referer).searchParams.get('type');
    response.writeHead(200, { 'content-type': 'text/javascript' });
    return response.end(`const field = document.querySelector('form.search input'); field.focus(); field.value = ${JSON.stringify(typed)}; field.dispatchEvent(new Event('input'));`);
  }
  const file = path.join(site, decodeURIComponent(pathname));
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
  if (!searchParams.has('type')) return response.end(fs.readFileSync(file));
  // The policy of the site runs scripts of its own alone.
  response.end(fs.readFileSync(file, 'utf8').replace(/<script type="module" src="([^"]*)search.js">/, '$&</script><script type="module" src="$1search.js.typed">'));
});

await new Promise((done) => server.listen(0, '127.0.0.1', done));
let wrong = 0;
try {
  if (!browser) throw new Error('There is no chromium and no google-chrome. On Debian: apt install chromium');
  for (const [page, typed, want] of searches) {
    const shown = spawn(browser, ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', `--user-data-dir=${profile}`, '--virtual-time-budget=5000', '--timeout=60000', '--dump-dom',
      `http://127.0.0.1:${server.address().port}/${page}?type=${encodeURIComponent(typed)}`], { stdio: ['ignore', 'pipe', 'ignore'] });
    let dom = '';
    shown.stdout.on('data', (data) => { dom += data; });
    await new Promise((done) => shown.on('close', done));
    const list = /<form[^>]*class="search"[^>]*>.*?<ul[^>]*>(.*?)<\/ul>/s.exec(dom)?.[1] ?? '';
    const first = /<a [^>]*href="([^"]*)"/.exec(list)?.[1];
    const good = want ? want.test(first ?? '') : !first && /<li>.+<\/li>/.test(list);
    if (!good) wrong++;
    console.log(`${good ? 'ok' : 'WRONG'} ${page}, ${typed}: ${first ?? (list || 'nothing')}`);
  }
} finally {
  server.close();
  fs.rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
}
process.exitCode = wrong ? 1 : 0;
