// What has to be known of an element before it is acted on.
//
// Contract: `probe({document, key, scroll})`, `probe_point({x, y})` and `focused({})` (also called
// `probe_focus`) answer JSON text: {"status":"gone"}, {"status":"nowhere"} (no element has the focus,
// or none is at the point), or {"status":"ok", …} with the fields that `decode::Probe` names. With
// `scroll` the element is brought into view first, at once, and only if it is not there yet.

function probe(asked) {
  begin();
  const element = nodeOf(asked);
  if (!element || !isElement(element)) return JSON.stringify({ status: 'gone' });
  if (asked.scroll) bringIntoView(element);
  return JSON.stringify(factsOf(element, pointOn(element)));
}

function probePoint({ x, y }) {
  begin();
  const hit = elementAt(x, y);
  if (!hit) return JSON.stringify({ status: 'nowhere' });
  return JSON.stringify(factsOf(actedOn(hit), { point: { x, y }, coverer: null }));
}

function probeFocus() {
  begin();
  const element = focusedElement();
  return JSON.stringify(element ? factsOf(element, pointOn(element)) : { status: 'nowhere' });
}

/** What a press on `hit` operates: the control around it or that its label is for, or itself. */
function actedOn(hit) {
  const around = nearest(hit, (at) => dom.tag(at) === 'label' || operable(at, dom.tag(at), roleOf(at), false));
  if (!around) return hit;
  return dom.tag(around) === 'label' ? around.control ?? around : around;
}

function focusedElement() {
  let element = document.activeElement;
  for (let depth = 0; element && depth < 64; depth++) {
    const inner = dom.shadow(element)?.activeElement ?? documentOf(element)?.activeElement;
    if (!inner) break;
    element = inner;
  }
  const tag = element ? dom.tag(element) : 'body';
  return (tag === 'body' || tag === 'html') && !element?.isContentEditable ? null : element;
}

/** The part of a hidden checkbox that can be seen is its label. */
function seenPart(element) {
  if (dom.tag(element) !== 'input' || (visible(element) && boxOf(element).width > 1)) return element;
  return labelsOf(element).find(visible) ?? element;
}

function bringIntoView(element) {
  const part = seenPart(element);
  const box = boxOf(part), view = inView(box);
  const whole = view && view.width >= Math.min(box.width, innerWidth) - 1 && view.height >= Math.min(box.height, innerHeight) - 1;
  if (whole && pointOn(element).point) return;
  dom.scrollIntoView(part, { block: 'center', inline: 'center', behavior: 'instant' });
  offsets = new Map();
  for (let at = above(part); at; at = above(at)) if (isElement(at)) rememberScroll(at);
}

function factsOf(element, { point, coverer }) {
  const tag = dom.tag(element), part = seenPart(element), box = boxOf(part), control = meant(element);
  return {
    status: 'ok', document: documentId, key: keyOf(element), url: location.href, label: label(element),
    tag, kind: typeof control.type === 'string' ? control.type : '', role: roleOf(control), name: nameOf(element),
    texts: textsOf(element, tag), visible: visible(part) && box.width > 0 && box.height > 0,
    enabled: !disabled(control), editable: editable(element, tag), readonly: element.readOnly === true,
    checked: checkedOf(control), secret: secret(element), box, in_viewport: inView(box) !== null,
    point, coverer: coverer ? covererName(coverer, element) : null,
    form: formFacts(element), submits: submits(element, tag), compose: composes(element, tag),
    search: inSearch(element), place: context(element), ...sentBy(element),
    choices: tag === 'select' ? Array.from(element.options, (option) => clip(fold(option.text), 60)).slice(0, 200) : [],
  };
}

/** Every other text that the element shows or carries; of a field, never what it holds. */
function textsOf(element, tag) {
  const list = [attribute(element, 'aria-label'), attribute(element, 'title'), attribute(element, 'alt')];
  if (tag === 'input') {
    if (TICKED_TYPES.has(element.type)) list.push(...labelsOf(element).map(textOf));
    else if (!FIELD_TYPES.has(element.type)) list.push(attribute(element, 'value'));
  } else if (tag !== 'textarea' && tag !== 'select' && !editableRoot(element)) {
    list.push(textOf(element));
  }
  return unique(list.map((text) => clip(fold(text), 200)).filter((text) => text !== ''));
}

function editable(element, tag) {
  if (disabled(element)) return false;
  if (tag === 'input') {
    const fits = FIELD_TYPES.has(element.type) || element.type === 'color' || element.type === 'range';
    return fits && !(FIELD_TYPES.has(element.type) && element.readOnly);
  }
  if (tag === 'textarea') return !element.readOnly;
  return element.isContentEditable === true;
}

// ---- forms ----

const formRead = {
  action: reader(HTMLFormElement, 'action'),
  method: reader(HTMLFormElement, 'method'),
  elements: reader(HTMLFormElement, 'elements'),
};

function formOf(element) {
  const own = operableTag(dom.tag(element)) ? element.form : null;
  const around = own ?? nearest(element, (at) => dom.tag(at) === 'form');
  if (around || !submitsByCode(element, dom.tag(element))) return around;
  const all = Array.from(dom.owner(element).forms);
  return all.length === 1 ? all[0] : null;
}

const SUBMITS = /\b(submit|requestSubmit|sendBeacon|fetch|XMLHttpRequest)\b|\.click\s*\(/;
const CHANGED_TYPES = words('checkbox radio range');
/** Whether its own handlers, or those of what it stands in, say that they send something. */
function submitsByCode(element, tag) {
  const says = (at, name) => SUBMITS.test(attribute(at, name));
  const changed = tag === 'select' || (tag === 'input' && CHANGED_TYPES.has(element.type));
  const handlers = changed ? ['onchange', 'oninput', 'onclick'] : ['onclick'];
  if (nearest(element, (at) => handlers.some((name) => says(at, name)))) return true;
  if (tag !== 'select' || !element.form) return false;
  const others = Array.from(formRead.elements(element.form))
    .filter((control) => control !== element && !(dom.tag(control) === 'input' && control.type === 'hidden'));
  return others.length === 0;
}

function submitterOf(form) {
  return Array.from(formRead.elements(form)).concat(Array.from(dom.queryAll(form, 'input[type=image]')))
    .find((control) => isSubmitter(control)) ?? null;
}

function isSubmitter(control) {
  const tag = dom.tag(control);
  return (tag === 'button' && control.type === 'submit')
    || (tag === 'input' && (control.type === 'submit' || control.type === 'image'));
}

function formFacts(element) {
  const form = formOf(element);
  if (!form) return null;
  const submitter = isSubmitter(element) ? element : submitterOf(form);
  const told = (name) => (submitter && attribute(submitter, `form${name}`) !== '' ? submitter : null);
  return {
    method: (told('method')?.formMethod ?? formRead.method(form)) || 'get',
    action: told('action')?.formAction ?? formRead.action(form),
    submit: submitter ? nameOf(submitter) : '',
    search: inSearch(form) || searchesOnly(form),
    ...keptIn(form),
  };
}

const CARD_WORDS = /(^|[^a-z])(cc-?(number|num|csc|cvc|exp)|card.?(number|num|no|cvc|cvv)|cvv|cvc)([^a-z]|$)/i;
/** Whether a form asks for a card, and whether it holds a secret. */
function keptIn(form) {
  const inputs = Array.from(formRead.elements(form)).filter((control) => dom.tag(control) === 'input');
  const told = (input) => ['autocomplete', 'name', 'id', 'aria-label', 'placeholder'].map((name) => attribute(input, name));
  return {
    card: inputs.some((input) => told(input).some((text) => CARD_WORDS.test(text))),
    secrets: inputs.some((input) => secret(input) && input.value !== ''),
  };
}

/** Whether a press (of a button) or Enter (in a field) can submit a form. */
function submits(element, tag) {
  if (submitsByCode(element, tag)) return true;
  const form = operableTag(tag) ? element.form : null;
  if (!form) {
    const button = nearest(element, isSubmitter);
    return button !== null && button.form !== null;
  }
  if (isSubmitter(element)) return true;
  if (tag !== 'input' || !FIELD_TYPES.has(element.type)) return false;
  return submitterOf(form) !== null || fieldsOf(form).length === 1;
}

const fieldsOf = (form) => Array.from(formRead.elements(form))
  .filter((control) => dom.tag(control) === 'input' && FIELD_TYPES.has(control.type));

const inSearch = (element) =>
  nearest(element, (at) => roleOf(at) === 'search' || roleOf(at) === 'searchbox') !== null;

function searchesOnly(form) {
  const fields = fieldsOf(form);
  return fields.length === 1 && (fields[0].type === 'search' || roleOf(fields[0]) === 'searchbox')
    && dom.queryAll(form, 'textarea').length === 0;
}

const MESSAGE_WORDS = /(^|[^a-z])(message|comment|reply|chat|compose|post|tweet|review|body)([^a-z]|$)/i;
/** A text field of several lines, or one that composes a message. */
function composes(element, tag) {
  if (tag === 'textarea' || attribute(element, 'aria-multiline') === 'true') return true;
  if (tag !== 'input') return element.isContentEditable === true;
  if (!FIELD_TYPES.has(element.type) || inSearch(element)) return false;
  return [nameOf(element), attribute(element, 'name'), attribute(element, 'placeholder')]
    .some((text) => MESSAGE_WORDS.test(text));
}
