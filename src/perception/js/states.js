// What state an element is in, what it holds, and what of that must never leave the page.
//
// Contract: a secret field (password, one-time code, card) is listed, and nothing of its content,
// not even its length, is in any answer.

const FIELD_TYPES = words(`text search email tel url number password date month week time
  datetime-local`);
const SECRET_COMPLETIONS = words(`current-password new-password one-time-code cc-number cc-csc cc-exp
  cc-exp-month cc-exp-year`);
const SECRET_WORDS = new RegExp([
  'pass(word|wd|phrase|code)', 'pwd', 'otp', 'one.?time.?(code|pass)', '(2fa|mfa|totp|verification).?code',
  'cvc\\d?', 'cvv\\d?', 'csc', 'card.?(number|num|no|code|cvc|cvv)', 'cc.?(number|num|csc|cvc|exp)',
  'security.?code', 'credit.?card', 'pin',
].map((word) => `(^|[^a-z])(${word})([^a-z]|$)`).join('|'), 'i');
const SECRET_MARK = '<secret>';
const everSecret = new WeakSet();

/** Whether what a field holds must stay in the page. Once secret, always: "show password" is no leak. */
function secret(element) {
  if (dom.tag(element) !== 'input') return false;
  if (everSecret.has(element)) return true;
  const found = element.type === 'password' || (FIELD_TYPES.has(element.type) && saysSecret(element));
  if (found) everSecret.add(element);
  return found;
}

function saysSecret(input) {
  const completion = attribute(input, 'autocomplete').toLowerCase().split(/\s+/);
  if (completion.some((word) => SECRET_COMPLETIONS.has(word))) return true;
  const apart = (text) => text.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
  const told = ['name', 'id', 'aria-label', 'placeholder'].map((name) => attribute(input, name));
  const said = labelsOf(input).map((label) => clip(dom.content(label), 80));
  return [...told, ...said].some((text) => SECRET_WORDS.test(apart(text)));
}

/** What a field holds, as a person sees it; null for what holds nothing. */
function valueOf(element, tag = dom.tag(element)) {
  if (secret(element)) return null;
  if (tag === 'input') {
    return FIELD_TYPES.has(element.type) || element.type === 'range' || element.type === 'color'
      ? element.value
      : element.type === 'file' ? Array.from(element.files, (file) => file.name).join(', ') : null;
  }
  if (tag === 'textarea') return element.value;
  if (tag === 'select') return Array.from(element.selectedOptions, (option) => fold(option.text)).join(', ');
  if (tag === 'progress' || tag === 'meter') return String(element.value);
  const told = attribute(element, 'aria-valuetext') || attribute(element, 'aria-valuenow');
  if (told !== '') return told;
  return editableRoot(element) ? fold(dom.content(element)) : null;
}

function disabled(element) {
  return dom.matches(element, ':disabled')
    || nearest(element, (at) => attribute(at, 'aria-disabled') === 'true' || dom.has(at, 'inert')) !== null;
}

const checkedOf = (element) => {
  if (dom.tag(element) === 'input' && (element.type === 'checkbox' || element.type === 'radio')) {
    return element.indeterminate ? 'mixed' : String(element.checked);
  }
  const told = attribute(element, 'aria-checked');
  return told === 'true' || told === 'false' || told === 'mixed' ? told : null;
};

/** The states and attributes that renderings show, as name, value, name, value. */
function statesOf(element, tag, role) {
  const list = [];
  const put = (name, value) => list.push(name, value);
  const aria = (name) => attribute(element, `aria-${name}`);
  if (tag === 'input' || (tag === 'button' && element.type !== 'submit')) put('type', element.type);
  if (role === 'heading') put('level', headingLevel(element, tag));
  const placeholder = attribute(element, 'placeholder') || aria('placeholder');
  if (placeholder.trim() !== '') put('placeholder', clip(fold(placeholder), 100));
  if (!secret(element)) {
    const value = valueOf(element, tag);
    if (value !== null && value !== '') put('value', clip(tag === 'textarea' ? value : fold(value), 500));
  }
  if (operableTag(tag) && nameOf(element) === '') {
    const hint = attribute(element, 'name') || attribute(element, 'id');
    if (hint !== '') put('named', clip(fold(hint), 60));
  }
  const checked = checkedOf(element);
  if (checked !== null) put('checked', checked);
  if (tag === 'summary') put('expanded', String(dom.parent(element).open === true));
  else if (aria('expanded') === 'true' || aria('expanded') === 'false') put('expanded', aria('expanded'));
  if (aria('pressed') !== '') put('pressed', aria('pressed'));
  if (aria('selected') === 'true') put('selected', 'true');
  if (aria('current') !== '' && aria('current') !== 'false') put('current', aria('current'));
  if (aria('invalid') !== '' && aria('invalid') !== 'false') put('invalid', 'true');
  if (operableTag(tag) || OPERABLE_ROLES.has(role)) putLimits(element, tag, put);
  putShape(element, tag, put);
  return list;
}

const operableTag = (tag) => tag === 'input' || tag === 'button' || tag === 'select' || tag === 'textarea';

function putLimits(element, tag, put) {
  if (disabled(element)) put('disabled', 'true');
  if (element.required === true || attribute(element, 'aria-required') === 'true') put('required', 'true');
  const still = (tag === 'input' && FIELD_TYPES.has(element.type)) || tag === 'textarea';
  if ((still && element.readOnly) || attribute(element, 'aria-readonly') === 'true') put('readonly', 'true');
}

function headingLevel(element, tag) {
  const told = parseInt(attribute(element, 'aria-level'), 10);
  return String(told > 0 ? told : /^h[1-6]$/.test(tag) ? tag[1] : 2);
}

/** What the Markdown needs to know of a table, list, code block, link or picture. */
function putShape(element, tag, put) {
  const copy = (name) => {
    const value = attribute(element, name);
    if (value !== '') put(name, clip(fold(value), 300));
  };
  if (tag === 'td' || tag === 'th') ['colspan', 'rowspan'].forEach(copy);
  else if (tag === 'ol') copy('start');
  else if (tag === 'img' || tag === 'area') copy('alt');
  else if (tag === 'pre' || tag === 'code') {
    const language = /(?:^|\s)(?:language|lang)-([\w+#-]{1,20})/.exec(attribute(element, 'class'));
    if (language) put('lang', language[1]);
  }
  if (tag === 'a') copy('href');
  if (tag === 'label' && speaksFor(element)) put('for', String(keyOf(element.control)));
}

/** Whether a label's words are what its field, shown too, is called: said once is enough. */
function speaksFor(label) {
  const { control } = label;
  return control !== null && !authorNamed(control) && !labelStandsIn(label) && visible(control);
}
