// How nodes are reached, numbered and measured.
//
// Contract: everything here only reads. State lives in this world's own maps, never in the page.
// A <form> answers `form.name` with a control of that name, even in an isolated world; therefore
// every property of a node is read through a getter that was captured from its prototype.

const uncurry = (method) => Function.prototype.call.bind(method);
const reader = (type, name) => uncurry(Object.getOwnPropertyDescriptor(type.prototype, name).get);
const writer = (type, name) => uncurry(Object.getOwnPropertyDescriptor(type.prototype, name).set);

const dom = {
  attribute: uncurry(Element.prototype.getAttribute),
  has: uncurry(Element.prototype.hasAttribute),
  hasAny: uncurry(Element.prototype.hasAttributes),
  matches: uncurry(Element.prototype.matches),
  closest: uncurry(Element.prototype.closest),
  rect: uncurry(Element.prototype.getBoundingClientRect),
  rects: uncurry(Element.prototype.getClientRects),
  renders: uncurry(Element.prototype.checkVisibility),
  scrollIntoView: uncurry(Element.prototype.scrollIntoView),
  queryAll: uncurry(Element.prototype.querySelectorAll),
  focus: uncurry(HTMLElement.prototype.focus),
  tag: reader(Element, 'localName'),
  shadow: reader(Element, 'shadowRoot'),
  slot: reader(Element, 'assignedSlot'),
  textSlot: reader(Text, 'assignedSlot'),
  parent: reader(Node, 'parentNode'),
  first: reader(Node, 'firstChild'),
  next: reader(Node, 'nextSibling'),
  firstElement: reader(Element, 'firstElementChild'),
  nextElement: reader(Element, 'nextElementSibling'),
  previousElement: reader(Element, 'previousElementSibling'),
  type: reader(Node, 'nodeType'),
  owner: reader(Node, 'ownerDocument'),
  connected: reader(Node, 'isConnected'),
  content: reader(Node, 'textContent'),
  contains: uncurry(Node.prototype.contains),
  root: uncurry(Node.prototype.getRootNode),
  outerHtml: reader(Element, 'outerHTML'),
  innerText: reader(HTMLElement, 'innerText'),
  clientLeft: reader(Element, 'clientLeft'),
  clientTop: reader(Element, 'clientTop'),
  clientHeight: reader(Element, 'clientHeight'),
  scrollHeight: reader(Element, 'scrollHeight'),
  scrollTop: reader(Element, 'scrollTop'),
  setScrollTop: writer(Element, 'scrollTop'),
};

const ELEMENT = 1, TEXT = 3, DOCUMENT = 9, FRAGMENT = 11;
const words = (text) => new Set(text.split(/\s+/).filter(Boolean));
const fold = (text) => text.replace(/[ \t\n\r\f\u00a0\u200b]+/g, ' ').trim();
const clip = (text, most) => {
  const letters = text.length > most ? Array.from(text) : null;
  return letters && letters.length > most ? letters.slice(0, most - 1).join('') + '…' : text;
};
const attribute = (element, name) => dom.attribute(element, name) ?? '';
const isElement = (node) => node !== null && dom.type(node) === ELEMENT;
const isHtml = (element) => element.namespaceURI === 'http://www.w3.org/1999/xhtml';

// ---- what one call remembers ----

let styles, roles, names, offsets, labels, shownAround, generates, scopeWords;
/** Forgets what the call before this one measured. Every public function begins with it. */
function begin() {
  styles = new Map();
  roles = new Map();
  names = new Map();
  offsets = new Map();
  labels = new Map();
  shownAround = new Map();
  generates = null;
  scopeWords = new Map();
}
begin();

function styleOf(element) {
  let style = styles.get(element);
  if (!style) styles.set(element, (style = getComputedStyle(element)));
  return style;
}

// ---- numbers ----

const documentId = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
  byte.toString(16).padStart(2, '0')).join('');
const numbers = new WeakMap();
const numbered = new Map();
const gone = new FinalizationRegistry((number) => numbered.delete(number));
let lastNumber = 0;

/** The number of a node: positive, and never given to another node of this document. */
function keyOf(node) {
  let number = numbers.get(node);
  if (number === undefined) {
    number = ++lastNumber;
    numbers.set(node, number);
    numbered.set(number, new WeakRef(node));
    gone.register(node, number);
  }
  return number;
}

/** The node of a number, if it is still part of the page. */
function nodeOf(asked) {
  if (asked.document !== undefined && asked.document !== documentId) return null;
  const node = numbered.get(asked.key)?.deref();
  return node && attached(node) ? node : null;
}

/** Whether a node is part of the page: also a frame that was replaced leaves nodes behind. */
function attached(node) {
  for (let depth = 0; depth < 64 && dom.connected(node); depth++) {
    const owner = dom.owner(node);
    if (owner === document) return true;
    const frame = frameOf(owner);
    if (!frame || documentOf(frame) !== owner) return false;
    node = frame;
  }
  return false;
}

// ---- the flat tree, through open shadow roots and frames of the same origin ----

/** The document inside a frame, if this origin may read it. */
function documentOf(element) {
  const tag = dom.tag(element);
  if (tag !== 'iframe' && tag !== 'frame') return null;
  try {
    const inside = element.contentDocument;
    return inside && inside.documentElement ? inside : null;
  } catch {
    return null;
  }
}

function frameOf(owner) {
  try {
    return owner.defaultView?.frameElement ?? null;
  } catch {
    return null;
  }
}

/** The parent as the page is painted: slot, shadow host, frame. */
function above(node) {
  const type = dom.type(node);
  const slot = type === ELEMENT ? dom.slot(node) : type === TEXT ? dom.textSlot(node) : null;
  if (slot) return slot;
  const parent = dom.parent(node);
  if (!parent) return null;
  const kind = dom.type(parent);
  if (kind === FRAGMENT) return parent.host ?? null;
  return kind === DOCUMENT ? frameOf(parent) : parent;
}

/** Whether `node` is `element` or painted inside it. */
function within(element, node) {
  for (let at = node; at; at = above(at)) if (at === element) return true;
  return false;
}

/** The nearest element, from `element` up, that fits; none after `document`. */
function nearest(element, fits) {
  for (let at = element; at; at = above(at)) if (isElement(at) && fits(at)) return at;
  return null;
}

/** Those of a list that hold no other of it. */
function withoutHolders(list) {
  const holders = new Set();
  for (const element of list) {
    for (let at = above(element); at && !holders.has(at); at = above(at)) holders.add(at);
  }
  return list.filter((element) => !holders.has(element));
}

/** The children as the page is painted, in order. */
function childrenOf(element) {
  const tag = dom.tag(element);
  const inside = documentOf(element);
  if (inside) return [inside.documentElement];
  if (tag === 'slot') {
    const assigned = element.assignedNodes();
    if (assigned.length) return assigned;
  }
  const list = [];
  const shadow = dom.shadow(element);
  for (let at = dom.first(shadow ?? element); at; at = dom.next(at)) list.push(at);
  if (tag === 'details' && !element.open) {
    const summary = list.find((child) => isElement(child) && dom.tag(child) === 'summary');
    return summary ? [summary] : [];
  }
  return list;
}

/** Every place that a selector has to be asked in: `scope`, and each root nested in it. */
function rootsIn(scope) {
  const list = [scope];
  for (let at = 0; at < list.length && list.length < 2000; at++) {
    const root = list[at];
    if (isElement(root)) nestedIn(root, list);
    for (const element of select(root, '*')) nestedIn(element, list);
  }
  return list;
}

function nestedIn(element, list) {
  const nested = dom.shadow(element) ?? documentOf(element);
  if (nested && !list.includes(nested)) list.push(nested);
}

/** Every element in `scope` that fits the selector, `scope` itself left out. */
function all(scope, selector) {
  return rootsIn(scope).flatMap((root) => Array.from(select(root, selector)));
}

const select = (root, selector) =>
  isElement(root) ? dom.queryAll(root, selector) : root.querySelectorAll(selector);

// ---- boxes: CSS pixels of the top document's viewport ----

/** Where a document's viewport begins in that of the top document. */
function offsetOf(owner) {
  if (owner === document) return [0, 0];
  let offset = offsets.get(owner);
  if (!offset) {
    const frame = frameOf(owner);
    offset = frame ? contentCorner(frame) : [0, 0];
    offsets.set(owner, offset);
  }
  return offset;
}

function contentCorner(frame) {
  const [x, y] = offsetOf(dom.owner(frame));
  const box = dom.rect(frame), style = styleOf(frame);
  return [
    x + box.x + dom.clientLeft(frame) + (parseFloat(style.paddingLeft) || 0),
    y + box.y + dom.clientTop(frame) + (parseFloat(style.paddingTop) || 0),
  ];
}

function boxOf(element) {
  const box = dom.tag(element) === 'area' ? areaBox(element) : dom.rect(element);
  const [x, y] = offsetOf(dom.owner(element));
  return { x: box.x + x, y: box.y + y, width: box.width, height: box.height };
}

/** The picture that an area of an image map is a part of, if it is there. */
function pictureOf(area) {
  const map = dom.closest(area, 'map'), name = map ? attribute(map, 'name') : '';
  const picture = name && dom.owner(area).querySelector(`img[usemap="#${CSS.escape(name)}"]`);
  return picture && picture.complete && picture.naturalWidth > 0 ? picture : null;
}

/** The box around the corners (or the circle) that an area names. */
function areaBox(area) {
  const picture = pictureOf(area);
  if (!picture) return { x: 0, y: 0, width: 0, height: 0 };
  const around = dom.rect(picture), left = around.x + dom.clientLeft(picture), top = around.y + dom.clientTop(picture);
  const numbers = attribute(area, 'coords').split(',').map(Number);
  if (numbers.length < 3 || numbers.some(Number.isNaN)) return around;
  if (numbers.length === 3) {
    const [x, y, radius] = numbers;
    return { x: left + x - radius, y: top + y - radius, width: 2 * radius, height: 2 * radius };
  }
  const across = numbers.filter((_, at) => at % 2 === 0), down = numbers.filter((_, at) => at % 2 === 1);
  const x = Math.min(...across), y = Math.min(...down);
  return { x: left + x, y: top + y, width: Math.max(...across) - x, height: Math.max(...down) - y };
}

/** The part of a box that lies in the viewport, or null. */
function inView(box) {
  const left = Math.max(box.x, 0), top = Math.max(box.y, 0);
  const right = Math.min(box.x + box.width, innerWidth);
  const bottom = Math.min(box.y + box.height, innerHeight);
  return right - left >= 1 && bottom - top >= 1
    ? { x: left, y: top, width: right - left, height: bottom - top } : null;
}
