// Single things that are asked of the page or of one element.
//
// Contract: `get({what, name?, document?, key?})` answers JSON text {"status":"ok","value":"…" or
// null}, or {"status":"gone"}; without a key it means the whole page. `text_has({words})` and
// `visible({target, …})` answer `true` or `false`, `count({target})` a number.

function get(asked) {
  begin();
  const whole = asked.key === undefined || asked.key === null;
  const element = whole ? document.documentElement : nodeOf(asked);
  if (!element) return JSON.stringify({ status: 'gone' });
  return JSON.stringify({ status: 'ok', value: answer(asked, element, whole) });
}

function answer(asked, element, whole) {
  switch (asked.what) {
    case 'text': return clip(whole ? pageText() : shownIn(element), MOST_TEXT);
    case 'html': return clip(htmlOf(element), MOST_TEXT);
    case 'value': return secret(element) ? SECRET_MARK : valueOf(element);
    case 'attribute':
      return secret(element) && asked.name?.toLowerCase() === 'value' ? SECRET_MARK : dom.attribute(element, asked.name ?? '');
    case 'bounds': {
      const { x, y, width, height } = boxOf(element);
      return JSON.stringify([x, y, width, height].map((number) => Math.round(number * 10) / 10));
    }
  }
  return null;
}

function shownIn(element) {
  if (secret(element)) return SECRET_MARK;
  return isField(element) ? valueOf(element) ?? '' : linesOf(element).trim();
}

const isField = (element) => operableTag(dom.tag(element)) && dom.tag(element) !== 'button';

/** The markup, without what secret fields carry in their `value`. */
function htmlOf(element) {
  let html = dom.outerHtml(element);
  for (const field of [element, ...dom.queryAll(element, 'input[value]')]) {
    if (!dom.has(field, 'value') || !secret(field)) continue;
    const own = dom.outerHtml(field);
    html = html.split(own).join(own.replace(/(\svalue=)"[^"]*"/, `$1"${SECRET_MARK}"`));
  }
  return html;
}

function textHas(asked) {
  begin();
  return String(plain(pageText()).includes(plain(asked.words)));
}
