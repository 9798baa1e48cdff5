// What an act would send, as one number: a person who approved it approved these values.
//
// Contract: reads only. A secret field counts with what it holds, and then the document's own random
// id does too, so that nobody who keeps the number can try passwords on it.

const MOST_FIELDS = 500;
const AMOUNTS = /[$€£¥₩₽₹]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[$€£¥₩₽₹원円元]|EUR|USD|руб)/g;
const isDialog = (at) => roleOf(at) === 'dialog' || roleOf(at) === 'alertdialog';

/** The form of an element; else the dialog, else the main part of the page that it stands in. */
function sendingScope(element) {
  const form = formOf(element);
  if (form) return { scope: form, form };
  const dialog = nearest(element, isDialog);
  if (dialog) return { scope: dialog, dialog };
  const main = nearest(element, (at) => roleOf(at) === 'main' || dom.tag(at) === 'body');
  return { scope: main ?? element };
}

function sentFields(element, { scope, form }) {
  const selector = 'input,select,textarea,[contenteditable]:not([contenteditable=false])';
  const root = dom.root(element);
  const inside = dom.type(root) === FRAGMENT && !form ? Array.from(root.querySelectorAll(selector)) : [];
  const own = form ? Array.from(formRead.elements(form)) : [];
  return unique([...own, ...dom.queryAll(scope, selector), ...inside])
    .filter((field) => isElement(field) && dom.tag(field) !== 'button').slice(0, MOST_FIELDS);
}

function heldBy(field) {
  const tag = dom.tag(field);
  if (tag === 'input') {
    if (field.type === 'checkbox' || field.type === 'radio') return [field.checked, field.value];
    if (field.type === 'file') return Array.from(field.files, (file) => [file.name, file.size]);
    return field.value;
  }
  if (tag === 'select') return Array.from(field.selectedOptions, (option) => option.value);
  if (tag === 'textarea') return field.value;
  return fold(dom.content(field));
}

/** {digest, payload}: the number, and what a person may read of the values. */
function sentBy(element) {
  const around = sendingScope(element), fields = sentFields(element, around);
  const told = around.form ?? around.dialog;
  const text = told ? fold(dom.content(told)) : '';
  const held = fields.map((field) => [attribute(field, 'name') || attribute(field, 'id'), dom.tag(field), heldBy(field)]);
  const hides = fields.some((field) => secret(field) && field.value !== '');
  const rest = [text.match(AMOUNTS), around.dialog ? clip(text, 4000) : '', hides ? documentId : ''];
  return { digest: sha256(JSON.stringify([held, rest])), payload: told ? previewOf(fields) : '' };
}

/** {"digest":"…"}: of all values of the page, for what hits no element. */
function pageValues() {
  begin();
  return JSON.stringify({ digest: sentBy(document.body ?? document.documentElement).digest });
}

function previewOf(fields) {
  const shown = [];
  for (const field of fields) {
    if (shown.length === 20) break;
    const hidden = dom.tag(field) === 'input' && !FIELD_TYPES.has(field.type) && field.type !== 'file';
    if (hidden && !field.checked) continue;
    const value = secret(field) ? (field.value === '' ? '' : SECRET_MARK) : hidden ? 'on' : valueOf(field) ?? '';
    if (value !== '') shown.push(`${clip(nameOf(field) || attribute(field, 'name') || 'field', 40)}: ${clip(fold(value), 80)}`);
  }
  return shown.join('; ');
}

// ---- SHA-256 (FIPS 180-4): the browser's own is there on secure origins only ----

const PRIMES = (() => {
  const list = [];
  for (let n = 2; list.length < 64; n++) if (list.every((prime) => n % prime !== 0)) list.push(n);
  return list;
})();
const fraction = (number) => ((number - Math.floor(number)) * 2 ** 32) >>> 0;
const ROUNDS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const turn = (word, by) => (word >>> by) | (word << (32 - by));

function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const blocks = new DataView(new ArrayBuffer(((bytes.length + 8) >> 6) * 64 + 64));
  bytes.forEach((byte, at) => blocks.setUint8(at, byte));
  blocks.setUint8(bytes.length, 0x80);
  blocks.setUint32(blocks.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
  blocks.setUint32(blocks.byteLength - 4, bytes.length << 3);
  let state = START;
  for (let at = 0; at < blocks.byteLength; at += 64) state = mixed(state, blocks, at);
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function mixed(state, blocks, from) {
  const words = Array.from({ length: 16 }, (_, at) => blocks.getUint32(from + at * 4));
  for (let at = 16; at < 64; at++) {
    const [early, late] = [words[at - 15], words[at - 2]];
    const low = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const high = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words.push((words[at - 16] + low + words[at - 7] + high) | 0);
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let at = 0; at < 64; at++) {
    const choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + ROUNDS[at] + words[at]) | 0;
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  return [a, b, c, d, e, f, g, h].map((word, at) => (word + state[at]) | 0);
}
