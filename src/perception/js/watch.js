// What an action changed: the page before and after it, less what changes by itself.
//
// Contract: `watch_begin({})` answers a token, `watch_peek({token})` JSON {"changes":2,"quiet":120}
// (changes seen so far, milliseconds since the last), `watch_end({token})` JSON
//   {"status":"ok","appeared":["…"],"vanished":["…"],"changed":["…"],"messages":["…"],
//    "background":["…"],"scroll":"…" or null,"url":"…" or null,"mutations":2}
// or {"status":"gone"} if the token is of another document. At most 8 lines each, at most 100 letters a
// line. Observers are of this world: the page sees none of it.

const MOST_LINES = 8, LONGEST_LINE = 100, MOST_WATCHES = 8;
// Attributes by which scripts only paint what the pointer or the focus does.
const PAINTED_ONLY = words('class style');
const POINTER_WORDS = /hover|focus|active|press|ripple|touch|mouse|pointer/i;
const MESSAGE_PLACES = `[role=alert],[role=status],[role=log],[aria-live=polite],[aria-live=assertive],output,
  [class*="toast" i],[class*="snackbar" i]`;
const watches = new Map();
let lastWatch = 0;

// ---- what changes by itself ----

const ticks = new WeakMap();
/** Whether a node was changing in a steady beat before `moment`, and had not stopped. */
function ticking(node, moment) {
  const times = ticks.get(node);
  if (!times || times.length < 3) return false;
  const gaps = times.slice(1).map((time, at) => time - times[at]);
  const longest = Math.max(...gaps), shortest = Math.min(...gaps);
  return longest < shortest * 3 + 40 && moment - times.at(-1) < longest * 2 + 100;
}

/** Whether a change comes when the beat of its node is due, and not in between. */
function inTime(node) {
  const times = ticks.get(node), beat = (times.at(-1) - times[0]) / (times.length - 1);
  const since = performance.now() - times.at(-1);
  return Math.abs(since - Math.max(1, Math.round(since / beat)) * beat) < beat * 0.35 + 20;
}

function noteTicks(records) {
  const now = performance.now();
  for (const node of new Set(records.map((record) => record.target))) {
    const times = ticks.get(node) ?? [];
    if (times.length === 0 || now - times.at(-1) > 4) times.push(now);
    ticks.set(node, times.slice(-4));
  }
}

/** When the page may have begun to count by itself: timers are set while it loads. */
const starts = [performance.now()];
for (const moment of ['DOMContentLoaded', 'load']) {
  addEventListener(moment, () => starts.push(performance.now()), { once: true, capture: true });
}

const even = (gaps, slack) => Math.max(...gaps) < Math.min(...gaps) * slack + 25;
const gapsOf = (times) => times.slice(1).map((time, at) => time - times[at]);

/**
 * Whether a node's changes since the action only go on with a beat that ran before it: at least three,
 * evenly, and the first of them in time with the last one before, or with the page's start. What an
 * action sets going is out of time with that.
 */
function goesOn({ before, times }) {
  if (times.length < 3 || !even(gapsOf(times.slice(-4)), 1.5)) return false;
  const beat = (times.at(-1) - times[0]) / (times.length - 1);
  const follows = (from, slack) => Math.abs(times[0] - from - beat) < beat * slack + 20;
  return before === undefined ? starts.some((start) => follows(start, 0.1)) : follows(before, 0.35);
}

/** A beat that the action set going: it is seen by now, and need not be waited for. */
const beats = ({ times }) => times.length > 4 && even(gapsOf(times.slice(-5)), 1.5);

const seenRoots = new WeakSet();
const observer = new MutationObserver((records) => take(records));
const observed = { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true };
function observe() {
  for (const root of rootsIn(document)) {
    if (seenRoots.has(root)) continue;
    seenRoots.add(root);
    observer.observe(root, observed);
  }
}
observer.observe(document, observed);
seenRoots.add(document);

const lastChange = new WeakMap();
function take(records) {
  for (const watch of watches.values()) {
    for (const record of records) watchRecord(watch, record);
    for (const [node, seen] of watch.seen) if (goesOn(seen)) toBackground(watch, node);
  }
  const now = performance.now();
  for (const { target } of records) lastChange.set(target, now);
  // What an action causes is no beat of its own; a clock goes on beating while it is watched.
  const watched = [...watches.values()];
  noteTicks(records.filter(({ target }) => watched.every((watch) => watch.steady.has(target))));
}

function watchRecord(watch, record) {
  const { target } = record;
  if (watch.steady.has(target) || (!watch.seen.has(target) && ticking(target, watch.at) && inTime(target))) {
    watch.steady.add(target);
    return;
  }
  const now = watch.last = performance.now();
  if (record.type === 'attributes') {
    let olds = watch.attributes.get(target);
    if (!olds) watch.attributes.set(target, (olds = new Map()));
    if (!olds.has(record.attributeName)) olds.set(record.attributeName, record.oldValue);
    if (PAINTED_ONLY.has(record.attributeName)) return;
  } else {
    watch.nodes.add(target);
    for (const node of record.addedNodes) noteMessage(watch, node);
    if (record.type === 'characterData') noteMessage(watch, target);
  }
  let seen = watch.seen.get(target);
  if (!seen) watch.seen.set(target, (seen = { before: lastChange.get(target), times: [], changes: 0 }));
  if (seen.times.length === 0 || now - seen.times.at(-1) > 4) seen.times.push(now);
  if (beats(seen)) return;
  seen.changes++;
  watch.changes++;
}

/** It was no effect: takes back what was counted of it. */
function toBackground(watch, node) {
  watch.changes -= watch.seen.get(node).changes;
  watch.seen.delete(node);
  watch.nodes.delete(node);
  watch.attributes.delete(node);
  watch.steady.add(node);
}

/** A toast may be gone again before anyone looks. */
function noteMessage(watch, node) {
  const element = isElement(node) ? node : dom.parent(node);
  if (!element || !isElement(element) || watch.messages.size >= MOST_LINES) return;
  const place = dom.closest(element, MESSAGE_PLACES);
  if (place && attached(place) && visible(place)) addLine(watch.messages, textOf(place), watch.places.get(place));
}

function addLine(set, text, before) {
  if (text !== '' && text !== before && set.size < MOST_LINES) set.add(clip(text, LONGEST_LINE));
}

// ---- scrolling ----

const scrolled = new WeakMap();
function rememberScroll(element) {
  scrolled.set(element, dom.scrollTop(element));
}

document.addEventListener('scroll', (event) => {
  const element = event.target === document ? document.scrollingElement : event.target;
  if (!element || !isElement(element)) return;
  const before = scrolled.get(element) ?? 0, now = dom.scrollTop(element);
  scrolled.set(element, now);
  if (Math.abs(now - before) < 2) return;
  for (const watch of watches.values()) watch.scroll = `scrolled ${now > before ? 'down' : 'up'} to ${Math.round(now)}`;
}, { capture: true, passive: true });

// ---- before and after ----

function watchBegin() {
  begin();
  take(observer.takeRecords());
  observe();
  const root = document.scrollingElement;
  if (root) rememberScroll(root);
  const number = ++lastWatch;
  watches.set(number, {
    at: performance.now(), last: performance.now(), changes: 0, url: location.href, title: document.title, scroll: null,
    seen: new Map(), lines: countLines(), states: formStates(), attributes: new Map(), nodes: new Set(), steady: new Set(), messages: new Set(),
    places: new Map(all(document, MESSAGE_PLACES).map((place) => [place, visible(place) ? textOf(place) : ''])),
  });
  // One that was never ended must not be kept up for ever.
  if (watches.size > MOST_WATCHES) watches.delete(watches.keys().next().value);
  return `${documentId}:${number}`;
}

function watchOf(token) {
  const [of, number] = String(token).split(':');
  return of === documentId ? watches.get(Number(number)) : undefined;
}

function watchPeek({ token }) {
  const watch = watchOf(token);
  if (!watch) return JSON.stringify({ status: 'gone' });
  begin();
  take(observer.takeRecords());
  const states = formStates();
  const moved = [...states].some(([element, now]) => watch.states.has(element) && watch.states.get(element).held !== now.held);
  const changes = watch.changes + Number(moved) + Number(watch.scroll !== null) + Number(watch.url !== location.href);
  return JSON.stringify({ status: 'ok', changes, quiet: Math.round(performance.now() - watch.last) });
}

function watchEnd({ token }) {
  const watch = watchOf(token);
  if (!watch) return JSON.stringify({ status: 'gone' });
  begin();
  take(observer.takeRecords());
  watches.delete(Number(String(token).split(':')[1]));
  // What answers to acts is no clock, however evenly somebody acts and takes it back.
  for (const node of watch.seen.keys()) ticks.delete(node);
  const steady = [...watch.steady].filter(attached);
  const { appeared, vanished } = compareLines(watch, steady);
  const changed = new Set([...stateChanges(watch), ...attributeChanges(watch), ...titleChange(watch)]);
  for (const [place, before] of messagePlaces(watch)) addLine(watch.messages, visible(place) ? textOf(place) : '', before);
  if (changed.size + appeared.length + vanished.length + watch.messages.size === 0) quietChanges(watch, changed);
  return JSON.stringify({
    status: 'ok', appeared, vanished, changed: [...changed].slice(0, MOST_LINES), messages: [...watch.messages],
    background: unique(steady.map(placeOf)).slice(0, MOST_LINES),
    scroll: watch.scroll, url: location.href === watch.url ? null : location.href, mutations: watch.changes,
  });
}

const messagePlaces = (watch) => all(document, MESSAGE_PLACES)
  .filter((place) => ![...watch.steady].some((node) => within(place, node)))
  .map((place) => [place, watch.places.get(place) ?? '']);

function placeOf(node) {
  const element = isElement(node) ? node : above(node);
  return element ? clip(label(element), LONGEST_LINE) : 'text';
}

/** How often each line of visible text stands on the page. */
function countLines() {
  const counts = new Map();
  for (const raw of pageText().split('\n')) {
    const line = fold(raw);
    if (line !== '') counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

function compareLines(watch, steady) {
  const after = countLines();
  const own = new Set(steady.flatMap((node) => {
    const element = isElement(node) ? node : above(node);
    const around = element && nearest(element, (at) => styleOf(at).display !== 'inline');
    return around ? linesOf(around).split('\n').map(fold) : [];
  }));
  // What a clock shows is new each time, and what it showed before is not known by its node.
  const shape = (line) => line.replace(/\d+/g, '0');
  const shapes = new Set([...own].map(shape));
  const more = (these, those) => [...these].filter(([line, times]) => times > (those.get(line) ?? 0)
    && !own.has(line) && !shapes.has(shape(line))).map(([line]) => line);
  return netted(more(after, watch.lines), more(watch.lines, after));
}

/** Words that only came to stand on other lines neither appeared nor vanished. */
function netted(appeared, vanished) {
  const bag = new Map();
  const put = (lines, by) => lines.forEach((line) =>
    line.split(' ').forEach((word) => bag.set(word, (bag.get(word) ?? 0) + by)));
  put(appeared, 1);
  put(vanished, -1);
  const net = (lines, sign) => lines
    .filter((line) => line.split(' ').some((word) => sign * bag.get(word) > 0))
    .slice(0, MOST_LINES).map((line) => clip(line, LONGEST_LINE));
  return { appeared: net(appeared, 1), vanished: net(vanished, -1) };
}

/** What each control holds, to be compared; of a secret field only whether it is the same. */
function formStates() {
  const states = new Map();
  for (const control of all(document, 'input,select,textarea')) {
    const ticked = control.type === 'checkbox' || control.type === 'radio';
    const held = ticked ? String(control.checked) : control.value;
    states.set(control, { held, ticked, shown: ticked ? held : valueOf(control) ?? held });
  }
  return states;
}

function* stateChanges(watch) {
  for (const [control, now] of formStates()) {
    const before = watch.states.get(control);
    if (!before || before.held === now.held || control.type === 'hidden') continue;
    const who = clip(label(control), 50);
    if (secret(control)) yield `${who} was ${now.held === '' ? 'emptied' : 'filled'}`;
    else if (now.ticked) yield `${who} is ${now.held === 'true' ? '' : 'not '}checked`;
    else yield clip(`${who}: ${shortly(before.shown)} → ${shortly(now.shown)}`, LONGEST_LINE);
  }
}

const shortly = (text) => JSON.stringify(clip(fold(text), 24));
const SHOWN_STATES = words(`aria-checked aria-selected aria-expanded aria-pressed aria-current aria-invalid
  aria-disabled aria-sort disabled open hidden readonly`);

/** The title, unless it is what blinks. */
function* titleChange(watch) {
  const element = document.querySelector('title');
  if (document.title === watch.title || [...watch.steady].some((node) => element && within(element, node))) return;
  yield clip(`title: ${shortly(watch.title)} → ${shortly(document.title)}`, LONGEST_LINE);
}

/** Attributes that stand otherwise than before, told where they are states that people see. */
function* attributeChanges(watch) {
  for (const [element, olds] of watch.attributes) {
    if (!attached(element)) continue;
    for (const [name, old] of olds) {
      const now = dom.attribute(element, name);
      if (now === old || !SHOWN_STATES.has(name)) continue;
      const short = name.replace('aria-', '');
      const state = now === null ? `not ${short}` : now === '' ? short : `${short}=${now}`;
      yield clip(`${clip(label(element), 60)}: ${state}`, LONGEST_LINE);
    }
  }
}

/** Where no text, value or state tells of it: which parts of the page are otherwise. */
function quietChanges(watch, changed) {
  const nodes = [...watch.nodes].filter(attached);
  const painted = [...watch.attributes].filter(([element, olds]) => attached(element)
    && [...olds].some(([name, old]) => reallyChanged(element, name, old))).map(([element]) => element);
  for (const node of unique([...nodes, ...painted])) {
    if (changed.size >= MOST_LINES) return;
    const element = isElement(node) ? node : above(node);
    if (!element || !isElement(element) || !visible(element)) continue;
    const whole = element === document.body || element === document.documentElement;
    changed.add(whole ? 'the look of the page changed' : clip(`${label(element)} changed`, LONGEST_LINE));
  }
}

/** Other classes or styles than before, apart from those that follow pointer and focus. */
function reallyChanged(element, name, old) {
  const now = dom.attribute(element, name);
  if (now === old || name === 'tabindex' || name.startsWith('data-')) return false;
  if (name !== 'class') return name !== 'style' || fold(now ?? '') !== fold(old ?? '');
  const [before, after] = [words(old ?? ''), words(now ?? '')];
  return [...before].some((word) => !after.has(word) && !POINTER_WORDS.test(word))
    || [...after].some((word) => !before.has(word) && !POINTER_WORDS.test(word));
}
