#!/usr/bin/env node
// Makes the pictures of the documents anew, in docs/images: screenshots with headless
// Chromium of what the test of this folder writes, and a recording of a rehearsal in a
// terminal, which tmux keeps. Look at them before you commit them.
//
//     internal/pictures/make.mjs           or --still, without the recording
//
// Needs Go, git, chromium, tmux, pngquant, fontconfig, and the fonts Liberation, Noto Color Emoji and Noto Sans CJK.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const top = path.resolve(import.meta.dirname, '../..');
const images = path.join(top, 'docs/images');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'pictures-'));
const run = (program, args, options = {}) => execFileSync(program, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options }).toString();

for (const font of ['Liberation Sans', 'Liberation Mono', 'Noto Color Emoji', 'Noto Sans CJK JP']) { // another one would be taken without a word
  const found = run('fc-list', [font, 'family']);
  if (!found.includes(font)) {
    console.error(`There is no font ${font}, so the pictures would look otherwise. On Debian: apt install fonts-liberation fonts-noto-color-emoji fonts-noto-cjk`);
    fs.rmSync(work, { recursive: true, force: true });
    process.exit(1);
  }
}
try {
  run('go', ['test', './internal/pictures', '-run', 'TestPicturesAreOfToday', '-count=1', '-inputs', work], { cwd: top });
  if (process.argv[2] !== '--still') {
    record('rehearsal', 80);
    record('rehearsal-narrow', 46); // as much as a phone shows in letters that can be read
  }
  const browser = await open();
  for (const dark of [false, true]) {
    for (const [page, wide, narrow] of [['thread', 808, 950], ['comment', 535, 620], ['asking', 560, 755], ['failed', 560, 755], ['completed', 560, 755], ['pull', 560, 600], ['summary', 740, 900], ['report', 740, 800]]) {
      await shoot(browser, page, page === 'thread' ? 720 : 900, wide, dark); // the README shows it as wide as that
      await shoot(browser, page, 375, narrow, dark, page + '-narrow'); // a phone
    }
    await shoot(browser, 'report', 900, 560, dark, 'attempt', '#attempt-1'); // with all that is folded on it
    await shoot(browser, 'report', 375, 800, dark, 'attempt-narrow', '#attempt-1');
  }
  fs.cpSync(images, path.join(work, 'docs/images'), { recursive: true }); // the README shows some of them
  for (const dark of [false, true]) {
    await shoot(browser, 'readme', 900, 900, dark);
    await shoot(browser, 'readme', 375, 900, dark, 'readme-narrow');
  }
  await browser.close();
  run('go', ['test', './internal/pictures', '-run', 'TestPicturesAreOfToday', '-count=1', '-sign'], { cwd: top }); // nothing was left out
} finally {
  fs.rmSync(work, { recursive: true, force: true, maxRetries: 20 }); // the browser's helpers may still write
}

// open starts Chromium, and gives functions that ask things of it in its DevTools protocol,
// over a pipe: by its command line, no window of it is as narrow as a phone.
async function open() {
  const chromium = spawn('chromium', [
    '--headless', '--no-sandbox', '--hide-scrollbars', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    `--user-data-dir=${path.join(work, 'profile')}`, '--remote-debugging-pipe',
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const waiting = new Map(), events = new Map();
  let last = 0, unread = '';
  chromium.stdio[4].setEncoding('utf8').on('data', (data) => {
    const messages = (unread + data).split('\0');
    unread = messages.pop();
    for (const message of messages.map((m) => JSON.parse(m))) {
      if (message.method) events.get(message.method)?.(message.params);
      const { done, failed } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) failed?.(new Error(message.error.message));
      else done?.(message.result);
    }
  });
  const left = new Promise((done) => chromium.on('close', done));
  left.then((code) => waiting.forEach(({ failed }) => failed(new Error(`chromium ended with ${code}`))));
  const ask = (method, params = {}, sessionId) => new Promise((done, failed) => {
    waiting.set(++last, { done, failed });
    chromium.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId }) + '\0');
  });
  const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
  await ask('Page.enable', {}, sessionId);
  return {
    ask: (method, params) => ask(method, params, sessionId),
    once: (event) => new Promise((done) => events.set(event, done)),
    close: async () => { await ask('Browser.close'); await left; },
  };
}

// shoot takes a picture of the beginning of a page, or of an element that it opens, and makes it small.
async function shoot(browser, page, width, height, dark, as = page, element = '') {
  const name = `${as}-${dark ? 'dark' : 'light'}`;
  const png = path.join(work, name + '.png');
  await browser.ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: width < 400 ? 2 : 1, mobile: false });
  await browser.ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }] });
  const loaded = browser.once('Page.loadEventFired');
  await browser.ask('Page.navigate', { url: 'file://' + path.join(work, page + '.html') });
  await loaded;
  if (element) {
    const expression = `document.querySelectorAll('${element} details').forEach((d) => { d.open = true; }); document.querySelector('${element}').scrollIntoView()`;
    await browser.ask('Runtime.evaluate', { expression });
  }
  const { data } = await browser.ask('Page.captureScreenshot', { format: 'png' });
  fs.writeFileSync(png, data, 'base64');
  run('pngquant', ['--force', '--strip', '--speed', '1', '--output', path.join(images, name + '.png'), '64', png]);
}

// record runs a rehearsal in a terminal, and writes what was to be seen as an SVG.
function record(name, columns) {
  const lines = 24, ground = path.join(work, name);
  const repo = path.join(ground, 'shelf'), program = path.join(ground, 'reprise'), socket = path.join(ground, 'tmux');
  run('go', ['build', '-o', program, './cmd/reprise'], { cwd: top });
  fs.mkdirSync(repo, { recursive: true });
  fs.copyFileSync(path.join(top, 'examples/issue.md'), path.join(repo, 'hello.md'));
  for (const args of [['init', '-q', '-b', 'main'], ['add', '.'], ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-qm', 'Shelf']]) {
    run('git', args, { cwd: repo });
  }
  const tmux = (...args) => run('tmux', ['-S', socket, ...args]);
  const ended = path.join(ground, 'ended');
  const live = `clear; printf '$ reprise run --dry-run --issue-file hello.md\\n'; '${program}' run --dry-run --issue-file hello.md; touch '${ended}'; sleep 600`;
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', String(lines), '-c', repo, 'sh', '-c', live);
  const frames = [];
  for (let i = 0; i < 1200 && !fs.existsSync(ended); i++) {
    const screen = tmux('capture-pane', '-e', '-p').replace(/\s+$/, '');
    if (screen && screen !== frames.at(-1)) frames.push(screen);
    spawnSync('sleep', ['0.02']); // a rehearsal takes less than a second
  }
  const all = tmux('capture-pane', '-e', '-p', '-S', '-').split('\n'); // the end of the last phase may have been too quick
  tmux('kill-server');
  const end = all.slice(0, all.findIndex((l) => l.includes('Commits on'))).slice(-lines).join('\n').replace(/\s+$/, '');
  fs.writeFileSync(path.join(images, name + '.svg'), svg([...thin(frames), end], columns, lines));
}

// thin keeps the frames in which something but a clock or a spinner has moved, without
// what is printed after the last phase.
function thin(frames) {
  const still = (f) => f.replace(/\x1b\[[0-9;]*m/g, '').replace(/[⠁-⣿]/g, '').replace(/[0-9]+(\.[0-9]+)?(ms|s|k)\b|\$[0-9.]+/g, '');
  const kept = frames.filter((f, i) => f.includes('design') && !/Commits on|Nothing was left/.test(f) && (i === 0 || still(f) !== still(frames[i - 1])));
  return kept.filter((f, i) => i % Math.ceil(kept.length / 40) === 0 || i === kept.length - 1);
}

// svg shows the frames one after another; who wants no motion sees the last.
function svg(frames, columns, lines) {
  const cell = 8.4, height = 17, each = 0.5, pause = 3, total = frames.length * each + pause;
  const colours = { 31: '#ff7b72', 32: '#3fb950', 33: '#d29922', 36: '#39c5cf' };
  const escape = (t) => t.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);
  const body = frames.map((frame, i) => {
    let style = ''; // goes on from line to line
    const rows = frame.split('\n').map((row, y) => {
      let out = '';
      for (const part of row.split(/(\x1b\[[0-9;]*m)/)) {
        const codes = /^\x1b\[([0-9;]*)m$/.exec(part);
        if (!codes) {
          if (part) out += style ? `<tspan${style}>${escape(part)}</tspan>` : escape(part);
          continue;
        }
        for (const code of codes[1].split(';')) {
          if (code === '1') style += ' font-weight="bold"';
          else if (code === '2') style += ' opacity=".6"';
          else if (colours[code]) style += ` fill="${colours[code]}"`;
          else style = '';
        }
      }
      return out && `<text x="16" y="${44 + y * height}">${out}</text>`;
    }).filter(Boolean).join('');
    const last = i === frames.length - 1;
    return `<g class="f${last ? ' last' : ''}" style="animation-delay:${(i * each).toFixed(1)}s;animation-name:${last ? 'end' : 'show'}">${rows}</g>`;
  });
  const share = (s) => ((100 * s) / total).toFixed(3);
  const tall = Math.max(...frames.map((f) => f.split('\n').length));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.round(columns * cell + 32)} ${Math.min(tall, lines) * height + 48}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,Liberation Mono,monospace" font-size="14" fill="#f0f6fc">
<style>
.f { opacity: 0; animation: show ${total.toFixed(1)}s step-end infinite; }
text { white-space: pre; }
@keyframes show { 0% { opacity: 1 } ${share(each)}% { opacity: 0 } }
@keyframes end { 0% { opacity: 1 } ${share(each + pause)}% { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { .f { animation: none } .last { opacity: 1 } }
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="16" r="5" fill="#ff5f57"/><circle cx="38" cy="16" r="5" fill="#febc2e"/><circle cx="56" cy="16" r="5" fill="#28c840"/>
${body.join('\n')}
</svg>
`;
}
