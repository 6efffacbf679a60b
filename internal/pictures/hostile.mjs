#!/usr/bin/env node
// Opens the page of a run with hostile texts in every field in Chromium: nothing of them
// may act. Pages that show the same texts as they are have to act, or it proves nothing.
//
//     internal/pictures/hostile.mjs
//
// Needs Go and a browser: chromium or google-chrome, or the one that CHROMIUM names.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const top = path.resolve(import.meta.dirname, '../..');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'hostile-'));
const browser = [process.env.CHROMIUM, 'chromium', 'google-chrome', 'chromium-browser'].find((name) => name && spawnSync(name, ['--version']).status === 0);
if (!browser) {
  console.error('There is no chromium and no google-chrome. On Debian: apt install chromium');
  process.exit(1);
}
let asked = [];
// Every request of the browser comes here, whatever its address.
const proxy = http.createServer((request, response) => {
  asked.push(request.url);
  response.writeHead(404).end();
}).on('connect', (request, socket) => {
  asked.push(request.url);
  socket.destroy();
});

try {
  execFileSync('go', ['test', './internal/report', '-run', 'TestHostilePages', '-count=1', '-hostile', work], { cwd: top, stdio: ['ignore', 'ignore', 'inherit'] });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  let wrong = 0;
  for (const name of fs.readdirSync(work).filter((f) => f.endsWith('.html')).sort()) {
    const { requests, acted, said } = await open(path.join(work, name));
    const safe = requests.length === 0 && !acted && !said;
    const good = name.startsWith('page') ? safe : requests.length > 0;
    if (!good) wrong++;
    console.log(`${good ? 'ok' : 'WRONG'} ${name}: ${requests.length} requests, ${acted ? 'ran' : 'nothing ran'}${said ? `, ${said}` : ''}`);
  }
  process.exitCode = wrong ? 1 : 0;
} finally {
  proxy.close();
  fs.rmSync(work, { recursive: true, force: true, maxRetries: 20 }); // the browser's helpers may still write
}

// open shows a page, and says what it asked for and whether a script of it ran.
async function open(file) {
  asked = [];
  const shown = spawn(browser, [
    '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    `--user-data-dir=${path.join(work, 'profile')}`, `--proxy-server=127.0.0.1:${proxy.address().port}`, '--proxy-bypass-list=<-loopback>',
    '--virtual-time-budget=3000', '--dump-dom', 'file://' + file,
  ], { stdio: ['ignore', 'pipe', 'pipe'] });
  let page = '', log = '';
  shown.stdout.on('data', (data) => { page += data; });
  shown.stderr.on('data', (data) => { log += data; });
  let said = '';
  const late = setTimeout(() => { said = 'a dialog, or it did not end'; shown.kill(); }, 120_000);
  await new Promise((done) => shown.on('close', done));
  clearTimeout(late);
  if (!said && !page.includes('</html>')) throw new Error(`${browser} did not show ${file}: ${log}`);
  return {
    requests: asked.filter((url) => url.includes('acted.example')),
    acted: /<title>acted<\/title>/.test(page),
    said,
  };
}
