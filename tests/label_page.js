// SPDX-License-Identifier: MIT
// Runs the script of a page of `pagededup sample` on a small stand-in for a browser: node label_page.js PAGE KEYS
// Types KEYS, and prints the table that the last S saved; then which pair is shown.
'use strict';
const page = require('fs').readFileSync(process.argv[2], 'utf8');
const plain = s => s.replace(/&(lt|gt|amp|quot|#39);/g, (_, n) => ({ lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" })[n]);
const attribute = (s, name) => plain(s.match(new RegExp(` ${name}="([^"]*)"`))[1]);
function pair(tag) {
  const inputs = ['duplicate', 'different', 'unsure'].map(value => ({ value, on: false,
    set checked(v) { inputs.forEach(i => { i.on = false; }); this.on = v; }, get checked() { return this.on; } }));
  const p = { dataset: { ids: attribute(tag, 'data-ids'), rest: attribute(tag, 'data-rest') }, shown: false, inputs };
  p.classList = { toggle: (_, on) => { p.shown = on; } };
  p.querySelector = q => q === 'h2' ? { focus() {} } : q === 'input:checked' ? inputs.find(i => i.on) || null
    : inputs.find(i => q === `input[value=${i.value}]`);
  return p;
}
const pairs = page.match(/<section class="pair"[^>]*>/g).map(pair);
const main = { dataset: { columns: attribute(page.match(/<main[^>]*>/)[0], 'data-columns'), name: attribute(page.match(/<main[^>]*>/)[0], 'data-name') } };
const elements = {}, listeners = {}, kept = {};
let saved = '';
global.document = { querySelector: () => main, querySelectorAll: () => pairs, body: { classList: { add() {} } },
  getElementById: id => elements[id] = elements[id] || {}, createElement: () => ({ click() {} }),
  addEventListener: (name, f) => { listeners[name] = f; } };
global.window = { scrollTo() {} };
global.localStorage = { getItem: k => kept[k] || null, setItem: (k, v) => { kept[k] = v; } };
global.Blob = class { constructor(parts) { saved = parts.join(''); } };
URL.createObjectURL = () => '';
URL.revokeObjectURL = () => {};
global.setTimeout = () => {};
(0, eval)(page.match(/<script>([^]*)<\/script>/)[1]);
for (const key of process.argv[3] || '') listeners.keydown({ key, preventDefault() {} });
process.stdout.write(saved);
console.log(`shown ${pairs.findIndex(p => p.shown) + 1} of ${pairs.length}, ${elements.done.textContent} labelled`);
