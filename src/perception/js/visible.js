// What is shown: computed visibility, and the ways by which pages hide without saying so.
//
// Contract: `visible(element)` and `pageText()` go by the same rules as the walk.

/**
 * 'all' for what is parked away with everything in it, 'text' for words that only screen readers
 * get, '' for what is shown. A native control may be invisible under its painted stand-in.
 */
function hiddenAway(element, tag, style) {
  if (tag === 'html' || tag === 'body') return '';
  if (dom.has(element, 'inert')) return 'all';
  const lifted = style.position === 'absolute' || style.position === 'fixed';
  if (lifted && offPage(element)) return 'all';
  if (style.opacity === '0' && !operableTag(tag) && (lifted || style.pointerEvents === 'none')) return 'all';
  const cut = style.overflowX !== 'visible' || style.overflowY !== 'visible';
  if (!cut && style.clip === 'auto' && style.clipPath === 'none') return '';
  const box = dom.rect(element);
  if (lifted && box.width <= 1.5 && box.height <= 1.5) return 'text';
  const closed = (box.height === 0 || box.width === 0) && cut && style.display !== 'inline';
  return closed && !operableTag(tag) ? 'all' : '';
}

/** Parked outside the page, where no scrolling leads: left of or above it, or a fixed one aside. */
function offPage(element) {
  const style = styleOf(element);
  if (style.position !== 'absolute' && style.position !== 'fixed') return false;
  const box = dom.rect(element), view = dom.owner(element).defaultView;
  if (!view || (box.width === 0 && box.height === 0)) return false;
  if (style.position === 'fixed') {
    return box.right <= 0 || box.bottom <= 0 || box.x >= view.innerWidth || box.y >= view.innerHeight;
  }
  return box.right + view.scrollX <= 0 || box.bottom + view.scrollY <= 0;
}

/** Whether an element is painted, and nothing around it is parked away. */
function visible(element) {
  if (!paintedHere(element)) return false;
  const path = [];
  let shown = true;
  for (let at = element; at; at = above(at)) {
    if (!isElement(at)) continue;
    const known = shownAround.get(at);
    if (known !== undefined) {
      shown = known;
      break;
    }
    path.push(at);
  }
  for (const at of path.reverse()) {
    shown &&= hiddenAway(at, dom.tag(at), styleOf(at)) !== 'all';
    shownAround.set(at, shown);
  }
  return shown;
}

/** `display: contents` paints nothing itself, and is as visible as what is in it. */
function paintedHere(element) {
  if (dom.tag(element) === 'area') {
    const picture = pictureOf(element);
    return picture !== null && visible(picture);
  }
  const style = styleOf(element);
  if (style.visibility !== 'visible') return false;
  return style.display === 'contents' || dom.renders(element);
}

const MOST_TEXT = 2000000;
/** The text that the page shows, a line for each block, through open shadow roots and frames. */
function pageText() {
  const stack = document.documentElement ? [document.documentElement] : [];
  let text = '';
  while (stack.length > 0 && text.length < MOST_TEXT) {
    const node = stack.pop();
    if (typeof node === 'string') text += node;
    else if (dom.type(node) === TEXT) text += paintedText(node);
    else if (isElement(node)) pushShown(node, stack);
  }
  return text.replace(/[ \t]*\n\s*/g, '\n').trim();
}

function pushShown(element, stack) {
  const tag = dom.tag(element), style = styleOf(element);
  if (UNREAD_TAGS.has(tag) || style.display === 'none') return;
  if (style.visibility === 'visible' && !paintedHere(element)) return;
  if (hiddenAway(element, tag, style) !== '') return;
  if (tag === 'br') stack.push('\n');
  if (CLOSED_TAGS.has(tag)) return;
  const gap = tag === 'td' || tag === 'th' ? '\t' : style.display === 'inline' || style.display === 'contents' ? ''
    : style.display.startsWith('inline') ? ' ' : '\n';
  const children = childrenOf(element);
  if (gap !== '') stack.push(gap);
  for (let at = children.length - 1; at >= 0; at--) stack.push(children[at]);
  if (gap !== '') stack.push(gap);
}

/** A run of text as it is painted; '' where it is not. */
function paintedText(text) {
  const around = above(text);
  if (!around || styleOf(around).visibility !== 'visible') return '';
  const data = shownText(text);
  const kept = (styleOf(around).whiteSpaceCollapse ?? '').startsWith('preserve');
  return wordsOnly(kept ? data : data.replace(/[ \t\n\r\f]+/g, ' '));
}
