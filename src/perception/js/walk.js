// The walk: the whole page as one flat record.
//
// Contract: `walk({})` answers JSON text
//   {"v":1, "document":"…", "url":"…", "title":"…", "viewport":[width, height, scrollY, pageHeight],
//    "modal":<position of a node, or null>, "notes":["…"], "nodes":[…]}
// Nodes stand in document order, each as
//   [parent position or -1, tag, role, name, key or 0, flags, [x, y, width, height] or null, [state, value, …]]
// what is nothing is left out at the end; text is [parent, "#text", "", "words"].
// Flags: 1 interactive, 2 reachable, 4 in the viewport, 8 secret, 16 a block of its own, 32 set
// apart on its line. What is hidden is left out. The walk holds its own stack: nesting may be deep.

const MOST_NODES = 30000, MOST_LETTERS = 1500000;
const INTERACTIVE = 1, REACHABLE = 2, IN_VIEWPORT = 4, SECRET = 8, BLOCK = 16, APART = 32;
// Content that a reference is of use for, if it has a name.
const CONTENT_ROLES = words(`alert alertdialog article banner cell columnheader complementary
  contentinfo dialog figure form gridcell group heading Iframe image list listitem log main meter
  navigation progressbar region row rowheader search status tab table tabpanel toolbar tree treegrid`);
const LIGHT_ROLES = words('cell gridcell listitem row list'); // too many for a box each
// Their inside is their own: options are read from the control, pictures have a name.
const CLOSED_TAGS = words('select textarea svg canvas video audio object embed math input img progress meter');

function walk() {
  begin();
  const page = { nodes: [], letters: 0, notes: [], modal: null, found: modalOf() };
  const top = document.documentElement; // none yet, while a document is only being opened
  const stack = top ? [{ node: top, parent: -1, pointed: false, silent: false }] : [];
  while (stack.length > 0) {
    if (page.nodes.length >= MOST_NODES || page.letters >= MOST_LETTERS) {
      page.notes.push(`the page was cut after ${page.nodes.length} nodes; what follows was not read`);
      break;
    }
    const at = stack.pop();
    const type = dom.type(at.node);
    if (type === TEXT) walkText(page, at);
    else if (type === ELEMENT) walkElement(page, at, stack);
  }
  const root = document.scrollingElement ?? document.documentElement;
  const height = root ? dom.scrollHeight(root) : innerHeight;
  return JSON.stringify({
    v: 1, document: documentId, url: location.href, title: fold(document.title),
    viewport: [innerWidth, innerHeight, Math.round(scrollY), height],
    modal: page.modal, notes: page.notes, nodes: page.nodes,
  });
}

function walkText(page, { node, parent, silent }) {
  if (silent || parent < 0) return;
  const text = paintedText(node);
  if (text === '' || (text === ' ' && page.nodes.at(-1)[3]?.endsWith(' ') && page.nodes.at(-1)[1] === '#text')) return;
  page.letters += text.length + 20;
  page.nodes.push([parent, '#text', '', text]);
}

function walkElement(page, at, stack) {
  const element = at.node, tag = dom.tag(element);
  if (UNREAD_TAGS.has(tag)) return;
  const style = styleOf(element);
  if (style.display === 'none' && tag !== 'area') return;
  const painted = paintedHere(element);
  if (!painted && style.visibility === 'visible') return;
  const hidden = hiddenAway(element, tag, style);
  if (hidden === 'all') return;
  const silent = at.silent || hidden === 'text';
  const parent = painted ? walkPainted(page, { ...at, silent }, tag, style) : at.parent;
  const pointed = style.cursor === 'pointer';
  if (CLOSED_TAGS.has(tag)) return;
  const children = childrenOf(element);
  for (let n = children.length - 1; n >= 0; n--) {
    stack.push({ node: children[n], parent, pointed, silent });
  }
}

/** Writes one painted element, if a rendering needs it, and answers its position or its parent's. */
function walkPainted(page, { node: element, parent, pointed, silent }, tag, style) {
  const role = roleOf(element), flow = flowOf(style);
  const interactive = operable(element, tag, role, pointed);
  if (role === '' && !interactive && flow === 0 && !KEPT_TAGS.has(tag)) return parent;
  const content = CONTENT_ROLES.has(role), box = boxOf(element), seen = inView(box) !== null;
  const named = interactive || (content && !silent);
  const name = named ? wordsOnly(nameOf(element)).trim() : '';
  const key = interactive || (content && name !== '') || tag === 'iframe' ? keyOf(element) : 0;
  let flags = flow;
  if (interactive) flags |= INTERACTIVE;
  if (secret(element)) flags |= SECRET;
  if (seen) flags |= IN_VIEWPORT;
  if (interactive && seen && pointOn(element).point) flags |= REACHABLE;
  const control = meant(element);
  const record = [parent, tag, control === element ? role : roleOf(control), name, key, flags];
  const boxed = interactive || (key !== 0 && !LIGHT_ROLES.has(role));
  record.push(boxed ? [box.x, box.y, box.width, box.height].map((side) => Math.round(side * 10) / 10) : null);
  const states = hasStates(element, tag, role) ? statesOf(element, tag, role) : [];
  if (control !== element) states.push(...statesOf(control, 'input', record[2]));
  if (states.length > 0) record.push(states);
  else if (!boxed) record.length = key || flags ? 6 : 4;
  if (tag === 'iframe' && !documentOf(element)) noteFrame(page, element);
  page.letters += name.length + 40 + states.join('').length;
  page.nodes.push(record);
  if (element === page.found) page.modal = page.nodes.length - 1;
  return page.nodes.length - 1;
}

function flowOf({ display }) {
  if (display === 'contents' || display === 'inline') return 0;
  return display.startsWith('inline') ? APART : BLOCK;
}

const STATED_TAGS = words('input button select textarea summary label h1 h2 h3 h4 h5 h6');
const hasStates = (element, tag, role) =>
  dom.hasAny(element) || STATED_TAGS.has(tag) || role === 'heading';

function noteFrame(page, frame) {
  const name = clip(nameOf(frame) || attribute(frame, 'src'), 80);
  page.notes.push(`the frame "${name}" could not be read from here`);
}

// Without a role, and told apart by the Markdown nevertheless.
const KEPT_TAGS = words(`br hr pre code blockquote dl dt dd table thead tbody tfoot tr td th caption
  label img iframe html body nav`);

/** The open modal that everything else is out of reach for, or null. */
function modalOf() {
  const open = all(document, 'dialog:modal, [aria-modal="true"]').filter((element) => {
    const box = boxOf(element);
    return visible(element) && styleOf(element).opacity !== '0' && (box.width > 1 || dom.firstElement(element));
  });
  const top = open.filter((element) => dom.matches(element, 'dialog:modal'));
  return top.at(-1) ?? open.at(-1) ?? null;
}
