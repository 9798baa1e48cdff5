// What an element is called: its accessible name, as accname and HTML-AAM compute it.
//
// Contract: `nameOf(element)` is folded and bounded; the content of a secret field is never part
// of any name, and neither is its length.

const NAMED_BY_CONTENT = words(`button cell checkbox columnheader DisclosureTriangle gridcell
  heading link menuitem menuitemcheckbox menuitemradio option radio rowheader switch tab term tooltip
  treeitem`);
// A part of one of these says nothing for what is around it, unless it is referred to by id.
const SILENT_PARTS = words(`alert alertdialog application article banner blockquote complementary
  contentinfo dialog document feed figure form grid log main marquee math menu menubar navigation
  note progressbar radiogroup search separator status table tablist tabpanel timer toolbar tree
  treegrid video audio`);
const BUTTON_WORDS = { submit: 'Submit', reset: 'Reset' };
const LONGEST_NAME = 300, MOST_PARTS = 400, DEEPEST_NAME = 120;

function nameOf(element) {
  let name = names.get(element);
  if (name === undefined) {
    const way = { seen: new Set(), left: MOST_PARTS, depth: 0, inside: false, referred: false };
    name = clip(fold(computeName(element, way)), LONGEST_NAME);
    if (name === '' && byContentAtLast(element)) {
      name = clip(fold(contentName(element, { ...way, left: MOST_PARTS })), LONGEST_NAME);
    }
    names.set(element, name);
  }
  return name;
}

/** What has no role that is named by content, and is operated nevertheless, is called what it shows. */
function byContentAtLast(element) {
  const role = roleOf(element);
  if (role !== '' && role !== 'listitem' && role !== 'paragraph') return false;
  return dom.has(element, 'onclick') || dom.has(element, 'tabindex')
    || styleOf(element).cursor === 'pointer' || dom.tag(element) === 'label';
}

function computeName(element, way) {
  if (way.left-- <= 0 || way.depth > DEEPEST_NAME || way.seen.has(element)) return '';
  way.seen.add(element);
  const tag = dom.tag(element), role = roleOf(element);
  if (!way.referred) {
    const told = referredName(element, way);
    if (told !== '') return told;
  }
  if (way.inside) {
    const value = embeddedValue(element, tag, role);
    if (value !== null) return value;
  }
  const label = attribute(element, 'aria-label');
  if (label.trim() !== '') return label;
  const native = nativeName(element, tag, way);
  if (native.trim() !== '') return native;
  if (way.inside || NAMED_BY_CONTENT.has(role)) {
    const content = contentName(element, way);
    if (content.trim() !== '') return content;
  }
  return lastName(element, tag, role, way);
}

function referredName(element, way) {
  const ids = attribute(element, 'aria-labelledby').trim();
  const root = ids === '' ? null : dom.root(element);
  if (!root?.getElementById) return '';
  const inner = { ...way, inside: true, referred: true, depth: way.depth + 1 };
  return ids.split(/\s+/).map((id) => root.getElementById(id)).filter(Boolean)
    .map((part) => computeName(part, { ...inner, seen: new Set() })).join(' ');
}

/** A control inside another's name says its value; a secret one says nothing. */
function embeddedValue(element, tag, role) {
  if (secret(element)) return '';
  if (tag === 'select') return Array.from(element.selectedOptions, (option) => option.text).join(' ');
  if (role === 'textbox' || role === 'searchbox') {
    return tag === 'input' || tag === 'textarea' ? element.value : dom.content(element);
  }
  if (role === 'slider' || role === 'spinbutton') {
    return attribute(element, 'aria-valuetext') || attribute(element, 'aria-valuenow')
      || (tag === 'input' ? element.value : '');
  }
  return null;
}

function nativeName(element, tag, way) {
  switch (tag) {
    case 'input': {
      const type = element.type;
      if (type === 'button' || type === 'submit' || type === 'reset') {
        return attribute(element, 'value') || labelName(element, way) || BUTTON_WORDS[type] || '';
      }
      if (type === 'image') {
        return attribute(element, 'alt') || attribute(element, 'value') || attribute(element, 'title') || 'Submit';
      }
      return labelName(element, way);
    }
    case 'select': case 'textarea': case 'meter': case 'output': case 'progress': case 'button':
      return labelName(element, way);
    case 'img': case 'area':
      return attribute(element, 'alt');
    case 'svg':
      return svgTitle(element);
    case 'fieldset':
      return childName(element, 'legend', way);
    case 'table':
      return childName(element, 'caption', way);
    case 'optgroup': case 'option':
      return attribute(element, 'label');
  }
  return '';
}

function childName(element, tag, way) {
  for (let at = dom.firstElement(element); at; at = dom.nextElement(at)) {
    if (dom.tag(at) === tag) return contentName(at, { ...way, inside: true, depth: way.depth + 1 });
  }
  return '';
}

/** One pass over the labels of a root: `element.labels` costs a pass for each element. */
function labelsOf(element) {
  const root = dom.root(element);
  let found = labels.get(root);
  if (!found) {
    labels.set(root, (found = new Map()));
    for (const label of root.querySelectorAll?.('label') ?? []) {
      const control = label.control;
      if (control) found.set(control, [...(found.get(control) ?? []), label]);
    }
  }
  return found.get(element) ?? [];
}

function labelName(element, way) {
  if (way.inside && !way.referred) return '';
  return labelsOf(element)
    .map((label) => attribute(label, 'aria-label')
      || contentName(label, { ...way, inside: true, depth: way.depth + 1, seen: new Set([element]) }))
    .join(' ');
}

function lastName(element, tag, role, way) {
  const title = attribute(element, 'title');
  if (title.trim() !== '') return title;
  if (way.inside) return '';
  if (tag === 'input' || tag === 'textarea') return attribute(element, 'placeholder');
  return role === 'textbox' || role === 'searchbox' ? attribute(element, 'aria-placeholder') : '';
}

// ---- names from content ----

function contentName(element, way) {
  const inner = { ...way, inside: true, depth: way.depth + 1 };
  let said = generated(element, '::before');
  for (const child of childrenOf(element)) {
    if (said.length > 4 * LONGEST_NAME) break;
    if (dom.type(child) === TEXT) said += shownText(child);
    else if (isElement(child)) said += partName(child, inner);
    way.left = inner.left;
  }
  return said + generated(element, '::after');
}

function partName(part, way) {
  const tag = dom.tag(part);
  if (tag === 'br' || tag === 'wbr') return ' ';
  if (UNREAD_TAGS.has(tag) || attribute(part, 'aria-hidden') === 'true') return '';
  const style = styleOf(part);
  if (style.display === 'none' || style.visibility !== 'visible') return '';
  if (SILENT_PARTS.has(roleOf(part)) && !way.referred) return '';
  const name = computeName(part, way);
  return style.display === 'inline' || style.display === 'contents' ? name : ` ${name} `;
}

/** Text as it is painted: style sheets may set its case. */
function shownText(text) {
  const around = above(text);
  const data = text.data;
  if (!around || !isElement(around)) return data;
  switch (styleOf(around).textTransform) {
    case 'uppercase': return data.toUpperCase();
    case 'lowercase': return data.toLowerCase();
    case 'capitalize': return data.replace(/(^|[\s\p{P}])(\p{L})/gu, (_, gap, letter) => gap + letter.toUpperCase());
  }
  return data;
}

// Icon fonts paint with letters of the private use area; they are no words.
const wordsOnly = (text) => text.replace(/[\ue000-\uf8ff]/g, '');

/** Text that a style sheet paints before or after an element. */
function generated(element, which) {
  if (!anyGenerated()) return '';
  const style = getComputedStyle(element, which), content = style.content;
  if (content === 'none' || content === 'normal' || style.display === 'none') return '';
  const alternative = / \/ "((?:[^"\\]|\\.)*)"$/.exec(content);
  const parts = alternative ? [alternative[0].slice(3)] : content.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  const text = wordsOnly(parts.map((part) => part.slice(1, -1).replace(/\\(.)/g, '$1')).join(''));
  return text === '' || style.display === 'inline' ? text : ` ${text} `;
}

/** Whether any style sheet paints text at all: asking each element for it is dear. */
function anyGenerated() {
  generates ??= [...document.styleSheets, ...document.adoptedStyleSheets].some((sheet) => {
    try {
      return rulesGenerate(sheet.cssRules);
    } catch {
      return true; // a sheet of another origin cannot be read
    }
  });
  return generates;
}

function rulesGenerate(rules) {
  for (const rule of rules) {
    if (/:(before|after)/.test(rule.selectorText ?? '') && /["']\s*[^"'\s]/.test(rule.style?.content ?? '')) return true;
    if (rule.cssRules?.length && rulesGenerate(rule.cssRules)) return true;
  }
  return false;
}
