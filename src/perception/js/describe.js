// How an element is spoken of: `button "Delete" — in row "Acme"`.
//
// Contract: one line, bounded, of what a person sees; never the content of a field.

const ITEM_ROLES = words('row listitem article option treeitem');
const SCOPE_ROLES = words(`row listitem article option treeitem dialog alertdialog region form group
  tabpanel search menu navigation complementary`);
const SCOPE_TAGS = words('section fieldset details dialog form li tr article');

function label(element) {
  const role = roleOf(meant(element)) || dom.tag(element);
  const name = nameOf(element) || (secret(element) ? '' : clip(textOf(element), 60));
  return name === '' ? role : `${role} "${clip(name, 60)}"`;
}

/** What a label stands in for, where its control is not painted itself. */
const meant = (element) =>
  dom.tag(element) === 'label' && labelStandsIn(element) ? element.control : element;

/** Whether an element is one of several of its kind beside one another: rows, cards, messages. */
function repeated(element) {
  const kind = attribute(element, 'class'), tag = dom.tag(element), role = attribute(element, 'role');
  const alike = (other) => ITEM_ROLES.has(roleOf(element)) || (kind !== '' && attribute(other, 'class') === kind);
  const same = (other) => other !== null && dom.tag(other) === tag
    && attribute(other, 'role') === role && alike(other);
  return same(dom.nextElement(element)) || same(dom.previousElement(element));
}

function isScope(element) {
  const tag = dom.tag(element);
  if (tag === 'body' || tag === 'html' || tag === 'td' || tag === 'th') return false;
  if (SCOPE_ROLES.has(roleOf(element)) || SCOPE_TAGS.has(tag)) return true;
  return styleOf(element).display !== 'inline' && !OPERABLE_ROLES.has(roleOf(element)) && repeated(element);
}

/**
 * The rows, cards, dialogs and sections around an element, from the innermost on. It ends with the
 * first that is one of several, or a dialog: beyond it are the words of others.
 */
function* scopesAround(element) {
  for (let at = element; at && isElement(at); at = above(at)) {
    if (!isScope(at)) continue;
    yield at;
    const role = roleOf(at);
    if (role === 'dialog' || role === 'alertdialog' || repeated(at)) return;
  }
}

const MOST_SCOPES = 6;
/** ` — in row "Acme"`, or '' where nothing around it has words. */
function context(element) {
  const around = above(element);
  if (!around) return '';
  let left = MOST_SCOPES;
  for (const scope of scopesAround(around)) {
    if (left-- === 0) break;
    const name = scopeName(scope, element);
    if (name !== '') return ` — in ${scopeKind(scope)} "${clip(name, 60)}"`;
  }
  return '';
}

function scopeKind(scope) {
  const role = roleOf(scope);
  if (role === 'listitem') return 'item';
  return role === 'region' || dom.tag(scope) === 'section' ? 'section' : role || 'card';
}

/** The heading of a scope, its first cell with words, or its first line. */
function scopeName(scope, element) {
  const told = nameOf(scope);
  if (told !== '' && !ITEM_ROLES.has(roleOf(scope))) return told;
  const own = textOf(element);
  return scopeLines(scope).find((line) => line !== own) ?? '';
}

/** The first lines of a scope: its heading, then what it shows. */
function scopeLines(scope) {
  let lines = scopeWords.get(scope);
  if (!lines) scopeWords.set(scope, (lines = readScope(scope)));
  return lines;
}

function readScope(scope) {
  const heads = dom.queryAll(scope, 'h1,h2,h3,h4,h5,h6,[role=heading],th[scope=row],[role=rowheader]');
  for (const head of heads) if (visible(head) && textOf(head) !== '') return [textOf(head)];
  return clip(linesOf(scope), 2000).split(/[\n\t]+/).map(fold).filter((line) => line !== '');
}

const MOST_FITS = 40; // that are compared, to tell those apart that read the same
/** Labels with their contexts; those that read the same are told apart by their place. */
function fitsOf(elements) {
  const lines = elements.slice(0, MOST_FITS).map((element) => label(element) + context(element));
  const list = lines.slice(0, 10).map((line, at) => {
    const same = lines.filter((other) => other === line).length;
    const place = lines.slice(0, at + 1).filter((other) => other === line).length;
    return same > 1 ? `${line} (${place} of ${same})` : line;
  });
  return elements.length > 10 ? [...list, `… ${elements.length - 10} more`] : list;
}
