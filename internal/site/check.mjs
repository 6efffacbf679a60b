#!/usr/bin/env node
// Checks a site that was made: every link, picture and part that can be searched is there, every
// page can be reached from the first one, and nothing is loaded from another place.
//
//     internal/site/check.mjs FOLDER
import fs from 'node:fs';
import path from 'node:path';

const top = process.argv[2];
const files = fs.readdirSync(top, { recursive: true }).filter((f) => fs.statSync(path.join(top, f)).isFile());
const pages = new Map(files.filter((f) => f.endsWith('.html')).map((f) => [f, read(f)]));
const wrong = [];
let links = 0;

for (const [file, page] of pages) {
  for (const id of page.ids.filter((id, i, all) => all.indexOf(id) !== i)) wrong.push(`${file}: two places have the id ${id}`);
  for (const address of page.loads) {
    if (/^([a-z]+:|\/)/.test(address)) wrong.push(`${file}: ${address} is not loaded from this site`);
  }
  for (const address of page.leads.concat(page.loads)) {
    if (/^[a-z]+:/.test(address)) continue; // the world outside is not ours to check
    links++;
    const [name, fragment] = address.split('#').map(decodeURIComponent);
    const target = name ? path.posix.join(path.posix.dirname(file), name) : file;
    if (!files.includes(target)) wrong.push(`${file}: ${address} leads nowhere`);
    else if (fragment && !pages.get(target)?.ids.includes(fragment)) wrong.push(`${file}: ${address} leads to no place of ${target}`);
    else page.to.push(target);
  }
}

const index = JSON.parse(fs.readFileSync(path.join(top, 'search.json'), 'utf8'));
for (const { address, page, heading } of index) {
  const [file, id] = address.split('#');
  if (!page || !heading || !pages.get(file)?.ids.includes(id)) wrong.push(`search.json: ${address} leads nowhere`);
}
for (const file of pages.keys()) if (!index.some(({ address }) => address.startsWith(file + '#'))) wrong.push(`search.json: ${file} cannot be found`);

const reached = new Set(['index.html', 'search.json']); // which the search loads
for (const file of reached) pages.get(file)?.to.forEach((target) => reached.add(target));
for (const file of files) if (!reached.has(file)) wrong.push(`${file}: nothing leads there from index.html`);
for (const one of wrong) console.error(one);
console.log(`${pages.size} pages, ${links} links, ${wrong.length} wrong`);
process.exitCode = wrong.length || pages.size < 10 ? 1 : 0;

// read gives the addresses and the places of a page. What stands in code is escaped.
function read(file) {
  const text = fs.readFileSync(path.join(top, file), 'utf8');
  const all = (pattern) => [...text.matchAll(pattern)].map((m) => m[1].replaceAll('&amp;', '&'));
  return { ids: all(/ (?:id|name)="([^"]+)"/g).filter((id) => !['viewport', 'color-scheme'].includes(id)), leads: all(/<a [^>]*href="([^"]*)"/g), loads: [...all(/ src(?:set)?="([^"]*)"/g), ...all(/<link [^>]*href="([^"]*)"/g)], to: [] };
}
