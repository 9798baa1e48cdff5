// What an element is: its ARIA role as HTML-AAM and WAI-ARIA give it, and whether it can be
// operated.
//
// Contract: `roleOf(element)` answers '' for what has no role of its own (generic, presentational).

const NATIVE_ROLES = {
  article: 'article', button: 'button', blockquote: 'blockquote', caption: 'caption',
  code: 'code', dd: 'definition', del: 'deletion', details: 'group', dfn: 'term',
  dialog: 'dialog', dl: 'list', dt: 'term', em: 'emphasis', fieldset: 'group',
  figure: 'figure', frame: 'Iframe', h1: 'heading', h2: 'heading', h3: 'heading',
  h4: 'heading', h5: 'heading', h6: 'heading', hr: 'separator', iframe: 'Iframe',
  ins: 'insertion', main: 'main', mark: 'mark', math: 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status',
  p: 'paragraph', progress: 'progressbar', search: 'search', strong: 'strong',
  sub: 'subscript', sup: 'superscript', textarea: 'textbox', time: 'time', ul: 'list',
  video: 'video', audio: 'audio', canvas: 'canvas', form: 'form', tfoot: 'rowgroup', thead: 'rowgroup',
};
const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button',
  checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton',
  search: 'searchbox', hidden: '', color: 'colorwell', date: 'date', month: 'month', week: 'week',
  time: 'time', 'datetime-local': 'datetime',
};
const ARIA_ROLES = words(`alert alertdialog application article banner blockquote button caption
  cell checkbox code columnheader combobox complementary contentinfo definition deletion dialog
  document emphasis feed figure form grid gridcell group heading image img insertion link list
  listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio
  meter navigation none note option paragraph presentation progressbar radio radiogroup region row
  rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
  subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip
  tree treegrid treeitem generic`);
const OPERABLE_ROLES = words(`button checkbox colorwell combobox date datetime link listbox menuitem
  menuitemcheckbox menuitemradio month option radio scrollbar searchbox slider spinbutton switch tab
  textbox treeitem week`);
const GLOBAL_STATES = words(`aria-atomic aria-busy aria-controls aria-current aria-describedby
  aria-details aria-keyshortcuts aria-label aria-labelledby aria-live aria-owns
  aria-relevant aria-roledescription`);
const SECTIONING = words('article aside main nav section');
const UNREAD_TAGS = words(`head script style template meta link title base noscript param source
  track col colgroup datalist rp`);

function roleOf(element) {
  let role = roles.get(element);
  if (role === undefined) {
    roles.set(element, ''); // a role that asks for its own context must end
    roles.set(element, (role = computeRole(element, dom.tag(element))));
  }
  return role;
}

function computeRole(element, tag) {
  for (const word of attribute(element, 'role').toLowerCase().split(/\s+/)) {
    if (!ARIA_ROLES.has(word)) continue;
    if (word === 'none' || word === 'presentation') {
      if (focusable(element, tag) || anyGlobalState(element)) break;
      return '';
    }
    if ((word === 'form' || word === 'region') && !authorNamed(element)) continue;
    if (word === 'generic') return '';
    return word === 'img' ? 'image' : word;
  }
  return nativeRole(element, tag);
}

const anyGlobalState = (element) =>
  dom.hasAny(element) && [...GLOBAL_STATES].some((name) => dom.has(element, name));
const authorNamed = (element) =>
  ['aria-label', 'aria-labelledby', 'title'].some((name) => attribute(element, name).trim() !== '');

function nativeRole(element, tag) {
  switch (tag) {
    case 'a':
    case 'area':
      return dom.has(element, 'href') || dom.has(element, 'xlink:href') ? 'link' : '';
    case 'input': {
      const role = INPUT_ROLES[element.type] ?? 'textbox';
      return (role === 'textbox' || role === 'searchbox') && element.list ? 'combobox' : role;
    }
    case 'select':
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'img':
      return dom.attribute(element, 'alt') === '' && !authorNamed(element) ? '' : 'image';
    case 'svg':
      return authorNamed(element) || svgTitle(element) ? 'image' : '';
    case 'header':
    case 'footer':
      return inSection(element) ? '' : tag === 'header' ? 'banner' : 'contentinfo';
    case 'aside':
      return inSection(element) && !authorNamed(element) ? '' : 'complementary';
    case 'section':
      return authorNamed(element) ? 'region' : '';
    case 'summary':
      return isSummary(element) ? 'DisclosureTriangle' : '';
    case 'li': {
      const list = above(element);
      return list && roleOf(list) === 'list' ? 'listitem' : '';
    }
    case 'table': case 'tbody': case 'tr': case 'td': case 'th':
      return tableRole(element, tag);
  }
  // Where people type is a text field to them, whatever the tag.
  if (editableRoot(element)) return 'textbox';
  return Object.hasOwn(NATIVE_ROLES, tag) ? NATIVE_ROLES[tag] : '';
}

function inSection(element) {
  for (let at = dom.parent(element); at && isElement(at); at = dom.parent(at)) {
    if (SECTIONING.has(dom.tag(at))) return true;
  }
  return false;
}

function isSummary(element) {
  const details = dom.parent(element);
  if (!details || !isElement(details) || dom.tag(details) !== 'details') return false;
  for (let at = dom.firstElement(details); at; at = dom.nextElement(at)) {
    if (dom.tag(at) === 'summary') return at === element;
  }
  return false;
}

/** Cells and rows are what their table is: data, grid, or mere layout. */
function tableRole(element, tag) {
  if (tag === 'table') return isDataTable(element) ? 'table' : '';
  const table = dom.closest(element, 'table');
  const kind = table ? roleOf(table) : '';
  if (kind !== 'table' && kind !== 'grid' && kind !== 'treegrid') return '';
  if (tag === 'tr') return 'row';
  if (tag === 'tbody') return '';
  if (tag === 'td') return kind === 'table' ? 'cell' : 'gridcell';
  const scope = attribute(element, 'scope').toLowerCase();
  if (scope.startsWith('row')) return 'rowheader';
  if (scope.startsWith('col')) return 'columnheader';
  const next = dom.nextElement(element), previous = dom.previousElement(element);
  const isHead = (cell) => cell !== null && dom.tag(cell) === 'th';
  if (isHead(next) || isHead(previous) || (!next && !previous)) return 'columnheader';
  return 'rowheader';
}

/** A table of data shows it: a caption, heads, many rows, or lines between its cells. */
function isDataTable(table) {
  if (dom.has(table, 'role') || authorNamed(table) || attribute(table, 'summary')) return true;
  if (table.caption || table.tHead || table.tFoot) return true;
  const rows = table.rows;
  if (rows.length === 0) return false;
  if (rows.length >= 20) return true;
  const cells = Array.from(rows).slice(0, 20).flatMap((row) => Array.from(row.cells));
  if (cells.some((cell) => dom.tag(cell) === 'th' || dom.has(cell, 'scope') || dom.has(cell, 'headers'))) return true;
  if (cells.length <= 1) return false;
  const lined = cells.filter((cell) => parseFloat(styleOf(cell).borderTopWidth) > 0
    || parseFloat(styleOf(cell).borderLeftWidth) > 0);
  return lined.length * 2 >= cells.length;
}

// ---- what can be operated ----

function focusable(element, tag) {
  const index = dom.attribute(element, 'tabindex');
  if (index !== null && !Number.isNaN(parseInt(index, 10))) return true;
  return nativeControl(element, tag) || editableRoot(element);
}

function nativeControl(element, tag) {
  switch (tag) {
    case 'a': case 'area': return dom.has(element, 'href') || dom.has(element, 'xlink:href');
    case 'input': return element.type !== 'hidden';
    case 'button': case 'select': case 'textarea': return isHtml(element);
    case 'summary': return isSummary(element);
    case 'audio': case 'video': return element.controls === true;
  }
  return false;
}

function editableRoot(element) {
  const value = dom.attribute(element, 'contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}

/**
 * Whether a person would take the element for something to operate. `pointed` says whether what is
 * around it already has the hand as its cursor: a hand that is merely inherited means nothing.
 */
function operable(element, tag, role, pointed) {
  if (nativeControl(element, tag) || OPERABLE_ROLES.has(role)) {
    return tag !== 'option' || dom.closest(element, 'select') === null;
  }
  if (tag === 'label') return labelStandsIn(element);
  if (tag === 'html' || tag === 'body') return false;
  if (editableRoot(element) || dom.has(element, 'onclick')) return true;
  const index = dom.attribute(element, 'tabindex');
  if (index !== null && parseInt(index, 10) >= 0) return true;
  return !pointed && styleOf(element).cursor === 'pointer';
}

const TICKED_TYPES = words('checkbox radio file');
/** A label is what people click when its checkbox, radio or file input is not painted itself. */
function labelStandsIn(label) {
  const control = label.control;
  if (!control || !TICKED_TYPES.has(control.type)) return false;
  const box = dom.rect(control);
  return !visible(control) || box.width < 1 || box.height < 1;
}

const svgTitle = (element) => {
  for (let at = dom.firstElement(element); at; at = dom.nextElement(at)) {
    if (dom.tag(at) === 'title') return fold(dom.content(at));
  }
  return '';
};
