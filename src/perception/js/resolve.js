// From what a command aims at to the one element it means.
//
// Contract: `resolve({target, document?, key?})` answers JSON text
//   {"status":"ok","document":"…","key":12,"label":"button \"Send\""}
//   {"status":"not_found"} | {"status":"stale"} | {"status":"invalid","why":"…"}
//   {"status":"ambiguous","fits":["button \"Delete\" — in row \"Acme\"", …]}
// `target` is {"element":12}, for which the caller passes document and key, or {"query":[part, …]}
// with parts {"by":"css","value":"…"}. Words match whole and regardless of case first, and as a part
// only where nothing matches whole. Visible elements are preferred to hidden ones.

class Invalid extends Error {}

function resolve(asked) {
  begin();
  if (asked.key !== undefined && asked.key !== null) {
    const element = nodeOf(asked);
    return JSON.stringify(element ? found(element) : { status: 'stale' });
  }
  if (!asked.target?.query) return JSON.stringify({ status: 'stale' });
  try {
    const fits = matchesOf(asked.target.query);
    if (fits.length === 0) return JSON.stringify({ status: 'not_found' });
    if (fits.length === 1) return JSON.stringify(found(fits[0]));
    return JSON.stringify({ status: 'ambiguous', fits: fitsOf(fits) });
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    return JSON.stringify({ status: 'invalid', why: error.message });
  }
}

const found = (element) =>
  ({ status: 'ok', document: documentId, key: keyOf(element), label: label(element) });

/** Every element that a chain means: the visible ones, or all if none is visible. */
function matchesOf(query) {
  let scopes = document.documentElement ? [document.documentElement] : [];
  query.forEach((part, at) => {
    const last = at === query.length - 1;
    if (part.by === 'within' || (part.by === 'text' && !last)) {
      scopes = scopesWith(scopes, part.value, last ? null : query[at + 1]);
    } else {
      scopes = unique(scopes.flatMap((scope) => matches(part, scope)));
      if (last) scopes = visibleFirst(scopes);
    }
  });
  return scopes;
}

const unique = (list) => Array.from(new Set(list));
function visibleFirst(elements) {
  const shown = elements.filter(visible);
  if (shown.length < 2) return shown.length > 0 ? shown : elements;
  const modal = modalOf(); // what it covers cannot be meant
  const inside = modal ? shown.filter((element) => within(modal, element)) : [];
  return inside.length > 0 ? inside : shown;
}

/** The rows, cards, dialogs or sections that hold the words, and something of the next part. */
function scopesWith(scopes, value, next) {
  const list = scopes.flatMap((scope) => visibleFirst(byText(value, scope)).map((holder) => {
    for (const around of scopesAround(holder)) {
      if (!within(scope, around)) break;
      if (!next || visibleFirst(partly(next, around)).length > 0) return around;
    }
    return null;
  }));
  // A scope that holds another found one would bring back what the narrower one left out.
  return withoutHolders(unique(list.filter(Boolean)));
}

const partly = (part, scope) => part.by === 'text' || part.by === 'within' ? byText(part.value, scope) : matches(part, scope);

function matches(part, scope) {
  switch (part.by) {
    case 'css': return byCss(part.value, scope);
    case 'xpath': return byXpath(part.value, scope);
    case 'role': return byRole(part.value.toLowerCase(), part.name ?? null, scope);
    case 'text': return byText(part.value, scope);
    case 'label': return byLabel(part.value, scope);
    case 'placeholder':
      return byWords(all(scope, '[placeholder],[aria-placeholder]'), part.value,
        (element) => [attribute(element, 'placeholder'), attribute(element, 'aria-placeholder')]);
    case 'testid':
      return all(scope, '[data-testid],[data-test-id],[data-test],[data-qa]').filter((element) =>
        ['data-testid', 'data-test-id', 'data-test', 'data-qa'].some((name) => attribute(element, name) === part.value));
  }
  throw new Invalid(`\`${part.by}\` is no way to find an element`);
}

function byCss(selector, scope) {
  try {
    return all(scope, selector);
  } catch {
    throw new Invalid(`\`${selector}\` is no CSS selector; put words to look for in quotes, or after \`text=\``);
  }
}

function byXpath(path, scope) {
  const list = [];
  for (const root of rootsIn(scope)) {
    if (dom.type(root) === FRAGMENT) continue; // XPath ends at a shadow root
    const owner = dom.type(root) === DOCUMENT ? root : dom.owner(root);
    let result;
    try {
      result = owner.evaluate(path, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    } catch {
      throw new Invalid(`\`${path}\` is no XPath of elements`);
    }
    for (let at = 0; at < result.snapshotLength; at++) {
      const node = result.snapshotItem(at);
      if (isElement(node)) list.push(node);
    }
  }
  return unique(list);
}

const ROLE_ALIASES = { img: 'image', iframe: 'Iframe' };
function byRole(word, name, scope) {
  const role = ROLE_ALIASES[word] ?? word;
  const fits = all(scope, '*').filter((element) =>
    !UNREAD_TAGS.has(dom.tag(element)) && roleFits(roleOf(element), role));
  return name === null ? fits : byWords(visibleFirst(fits), name, (element) => [nameOf(element)]);
}

const roleFits = (role, asked) =>
  role === asked || (asked === 'textbox' && role === 'searchbox') || (asked === 'button' && role === 'DisclosureTriangle');

const plain = (text) => fold(text).toLowerCase();

/** Those one of whose texts is the words; if there are none, those that hold them. */
function byWords(elements, wanted, textsOf) {
  const needle = plain(wanted);
  const said = elements.map((element) => [element, textsOf(element).map(plain)]);
  const whole = said.filter(([, texts]) => texts.includes(needle));
  const fits = whole.length > 0 ? whole
    : said.filter(([, texts]) => needle !== '' && texts.some((text) => text.includes(needle)));
  return fits.map(([element]) => element);
}

const FIELDS = `input,select,textarea,button,meter,output,progress,[contenteditable],[role=textbox],
  [role=searchbox],[role=combobox],[role=listbox],[role=checkbox],[role=radio],[role=switch],
  [role=slider],[role=spinbutton]`;
function byLabel(value, scope) {
  const fields = all(scope, FIELDS).filter((element) => element.type !== 'hidden');
  return byWords(visibleFirst(fields), value, (element) =>
    [nameOf(element), ...labelsOf(element).map(textOf), attribute(element, 'aria-label')]);
}

// ---- text ----

/**
 * The innermost elements that show the words, or what is operated around them; beside them, what is
 * operated and called so without showing it (a value, an aria-label).
 */
function byText(value, scope) {
  const needle = plain(value);
  if (needle === '') return [];
  const shown = rootsIn(scope).flatMap((root) => innermost(root, needle)).map((element) => lifted(element, needle));
  const named = all(scope, `${FIELDS},a,summary,[role],[aria-label],[onclick],[tabindex]`).filter((element) =>
    operable(element, dom.tag(element), roleOf(element), true) && plain(nameOf(element)).includes(needle));
  const fits = visibleFirst(unique([...shown, ...named]));
  const whole = fits.filter((element) => plain(nameOf(element)) === needle || plain(textOf(element)) === needle);
  const best = whole.length > 0 ? whole : fits;
  const operated = best.filter((element) => operable(element, dom.tag(element), roleOf(element), false));
  const chosen = operated.length > 0 ? operated : best;
  return withoutHolders(chosen);
}

/** The deepest elements of a root whose text holds the needle. */
function innermost(root, needle) {
  const list = [], stack = [root];
  const holds = (node) => plain(dom.content(node) ?? '').includes(needle);
  const start = dom.type(root) === DOCUMENT ? root.documentElement : root;
  if (!start || !holds(start)) return list;
  stack[0] = start;
  while (stack.length > 0) {
    const node = stack.pop();
    const inner = [];
    for (let at = isElement(node) ? dom.firstElement(node) : node.firstElementChild; at; at = dom.nextElement(at)) {
      if (!UNREAD_TAGS.has(dom.tag(at)) && holds(at)) inner.push(at);
    }
    if (inner.length > 0) stack.push(...inner.reverse());
    else if (isElement(node) && holdsShown(node, needle)) list.push(node);
  }
  return list;
}

/** Not counting what scripts and styles hold. */
function holdsShown(element, needle) {
  for (let at = dom.firstElement(element); at; at = dom.nextElement(at)) {
    if (UNREAD_TAGS.has(dom.tag(at))) return plain(linesOf(element)).includes(needle);
  }
  return true;
}

/** What is operated around an element that shows the words, or what its label is for. */
function lifted(element, needle) {
  const around = nearest(element, (at) => operable(at, dom.tag(at), roleOf(at), false) || dom.tag(at) === 'label');
  if (!around) return element;
  if (dom.tag(around) === 'label') {
    const control = around.control;
    return control && visible(control) && !labelStandsIn(around) ? control : around;
  }
  return plain(nameOf(around)).includes(needle) || plain(textOf(around)).includes(needle) ? around : element;
}

// ---- the same, only asked ----

function count(asked) {
  begin();
  return String(asked.target?.query ? everyMatch(asked.target.query).length : Number(nodeOf(asked) !== null));
}

function isVisible(asked) {
  begin();
  const fits = asked.target?.query && asked.key == null ? everyMatch(asked.target.query) : [nodeOf(asked)];
  return String(fits.some((element) => element !== null && visible(element) && boxOf(element).height > 0));
}

/** A selector that does not parse fits nothing; `resolve` is what says why. */
function everyMatch(query) {
  try {
    return matchesOf(query);
  } catch (error) {
    if (error instanceof Invalid) return [];
    throw error;
  }
}
