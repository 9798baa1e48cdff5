// What input events alone cannot do: give the focus and select what will be overwritten, set the
// fields that nobody types into, scroll the page.
//
// Contract: these are acts, the only functions of the library that change anything, and only what a
// person at the page could change. All answer JSON text; {"status":"gone"} for a node that is.

/**
 * {"status":"ok","kind":"type"} focus is there and all content is selected: type over it
 * {"status":"ok","kind":"assign"} typing is not how it is filled: use `assign`
 * {"status":"not_editable","is":"button"}
 */
function focusForFill(asked) {
  begin();
  const element = nodeOf(asked);
  if (!element) return JSON.stringify({ status: 'gone' });
  const tag = dom.tag(element);
  if (tag === 'select' && !disabled(element)) return JSON.stringify({ status: 'ok', kind: 'assign' });
  if (!editable(element, tag)) return JSON.stringify({ status: 'not_editable', is: label(element) });
  dom.focus(element, { preventScroll: true });
  if (tag === 'input' && ASSIGNED_TYPES.has(element.type)) return JSON.stringify({ status: 'ok', kind: 'assign' });
  if (tag === 'input' || tag === 'textarea') element.select();
  else selectContent(element);
  return JSON.stringify({ status: 'ok', kind: 'type' });
}

const ASSIGNED_TYPES = words('date time month week datetime-local color range');

function selectContent(element) {
  const view = dom.owner(element).defaultView, selection = view.getSelection();
  const range = dom.owner(element).createRange();
  range.selectNodeContents(element);
  selection.removeAllRanges();
  selection.addRange(range);
}

const setValue = {
  input: writer(HTMLInputElement, 'value'),
  textarea: writer(HTMLTextAreaElement, 'value'),
};

/**
 * Sets a value as a person's choice in the browser's own picker would: with `input` and `change`.
 * {"status":"ok","kind":"date","value":"2026-01-31"} | {"status":"rejected","why":"…"}
 */
function assign(asked) {
  begin();
  const element = nodeOf(asked);
  if (!element) return JSON.stringify({ status: 'gone' });
  const tag = dom.tag(element);
  if (tag === 'select') return JSON.stringify(choose(element, asked.text));
  if (!Object.hasOwn(setValue, tag)) return JSON.stringify({ status: 'rejected', why: `${label(element)} holds no value` });
  const before = element.value;
  setValue[tag](element, asked.text);
  if (element.value === '' && asked.text !== '') {
    setValue[tag](element, before);
    const hint = SHAPES[element.type] ?? '';
    const why = `"${clip(asked.text, 40)}" is no value of a field of type ${element.type}${hint}`;
    return JSON.stringify({ status: 'rejected', why });
  }
  announce(element);
  return JSON.stringify({ status: 'ok', kind: element.type, value: secret(element) ? SECRET_MARK : element.value });
}

const SHAPES = {
  date: '; write 2026-01-31', time: '; write 14:30', month: '; write 2026-01', week: '; write 2026-W05',
  'datetime-local': '; write 2026-01-31T14:30', number: '; write digits',
};

function announce(element) {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}

function choose(select, wanted) {
  const options = Array.from(select.options).filter((option) => !option.disabled);
  const fits = byWords(options, wanted, (option) => [option.text, option.label, option.value]);
  const best = fits.length > 1 ? fits.filter((option) => plain(option.text) === plain(wanted)) : fits;
  if (best.length !== 1) {
    const list = options.slice(0, 12).map((option) => `"${clip(fold(option.text), 40)}"`).join(', ');
    const what = fits.length > 1 ? `${fits.length} options fit` : 'no option fits';
    return { status: 'rejected', why: `${what} "${clip(wanted, 40)}"; there are ${list}${options.length > 12 ? ', …' : ''}` };
  }
  if (!best[0].selected) {
    best[0].selected = true;
    announce(select);
  }
  return { status: 'ok', kind: 'select', value: fold(best[0].text) };
}

/** Chooses the nth option, from 0: answers as `assign` does. */
function selectOption(asked) {
  begin();
  const element = nodeOf(asked);
  if (!element) return JSON.stringify({ status: 'gone' });
  if (dom.tag(element) !== 'select') return JSON.stringify({ status: 'rejected', why: `${label(element)} is no select` });
  const option = element.options[asked.option];
  if (!option || option.disabled) {
    const why = option ? `option ${asked.option} is disabled` : `there is no option ${asked.option}; there are ${element.options.length}`;
    return JSON.stringify({ status: 'rejected', why });
  }
  if (!option.selected) {
    option.selected = true;
    announce(element);
  }
  return JSON.stringify({ status: 'ok', kind: 'select', value: fold(option.text) });
}

/** {"status":"ok","value":"…" or null,"secret":false,"filled":true,"checked":"true" or null} */
function value(asked) {
  begin();
  const element = nodeOf(asked);
  if (!element) return JSON.stringify({ status: 'gone' });
  const hidden = secret(element);
  const held = hidden ? SECRET_MARK : dom.tag(element) === 'button' ? element.value : valueOf(element);
  const filled = hidden ? element.value !== '' : held !== null && held !== '';
  return JSON.stringify({ status: 'ok', value: held, secret: hidden, filled, checked: checkedOf(element) });
}

/** Scrolls a viewport or to an end: {"moved":true,"y":600,"bottom":1400}. */
function scroll({ way }) {
  begin();
  const scroller = scrollerOf(way);
  const before = dom.scrollTop(scroller), page = dom.clientHeight(scroller);
  const bottom = Math.max(0, dom.scrollHeight(scroller) - page);
  const wanted = { up: before - page, down: before + page, top: 0, bottom }[way] ?? before;
  scroller.scrollTo({ top: Math.min(Math.max(wanted, 0), bottom), behavior: 'instant' });
  const y = dom.scrollTop(scroller);
  return JSON.stringify({ moved: Math.abs(y - before) >= 1, y: Math.round(y), bottom: Math.round(bottom) });
}

/** The page itself; where it has nothing to scroll, what fills its middle. */
function scrollerOf() {
  const root = document.scrollingElement ?? document.documentElement;
  const scrolls = (element) => dom.scrollHeight(element) > dom.clientHeight(element) + 1;
  if (scrolls(root) && styleOf(root).overflowY !== 'hidden') return root;
  const middle = elementAt(innerWidth / 2, innerHeight / 2);
  const inner = middle && nearest(middle, (at) => scrolls(at) && /auto|scroll/.test(styleOf(at).overflowY));
  return inner ?? root;
}
