// Whether a press at a point of the viewport reaches an element, and what is in its way.
//
// Contract: points are CSS pixels of the top document's viewport; `pointOn` answers one that
// really hits, or null.

/** The innermost element at a point, through open shadow roots and frames of the same origin. */
function elementAt(x, y) {
  let root = document, left = 0, top = 0, found = null;
  for (let depth = 0; depth < 64; depth++) {
    const hit = root.elementFromPoint(x - left, y - top);
    if (!hit || hit === found) break;
    found = hit;
    const shadow = dom.shadow(hit), inside = documentOf(hit);
    if (!shadow && !inside) break;
    root = shadow ?? inside;
    if (inside) [left, top] = contentCorner(hit);
  }
  return found;
}

/** Whether `hit` is the element, a part of it, or (part of) a label that passes the press on. */
function reaches(element, hit) {
  if (within(element, hit)) return true;
  const label = nearest(hit, (at) => dom.tag(at) === 'label');
  return label !== null && label.control === element;
}

/** The points that are tried: the middle and four more of each line, then the same on its labels. */
function* pointsOf(element) {
  if (dom.tag(element) === 'area') return yield* pointsIn(boxOf(element));
  const owner = offsetOf(dom.owner(element));
  const lines = Array.from(dom.rects(element)).slice(0, 3)
    .map((box) => ({ x: box.x + owner[0], y: box.y + owner[1], width: box.width, height: box.height }));
  for (const line of lines) yield* pointsIn(line);
  if (dom.tag(element) === 'input') {
    for (const label of labelsOf(element)) yield* pointsIn(boxOf(label));
  }
}

function* pointsIn(box) {
  const view = inView(box);
  if (!view) return;
  for (const [across, down] of [[0.5, 0.5], [0.25, 0.25], [0.75, 0.75], [0.75, 0.25], [0.25, 0.75]]) {
    yield { x: view.x + view.width * across, y: view.y + view.height * down };
  }
}

/** A point that hits the element, and what was hit instead where it could not be reached. */
function pointOn(element) {
  let coverer = null;
  for (const point of pointsOf(element)) {
    const hit = elementAt(point.x, point.y);
    if (!hit) continue;
    if (reaches(element, hit)) return { point, coverer: null };
    coverer ??= hit;
  }
  return { point: null, coverer };
}

/** `div "We use cookies"`: the part of what covers that a person would know it by. */
function covererName(coverer, element) {
  for (let at = coverer; at && isElement(at) && !within(at, element); at = above(at)) {
    const name = nameOf(at) || clip(textOf(at), 60);
    if (name !== '') return `${roleOf(at) || dom.tag(at)} "${clip(name, 60)}"`;
  }
  const id = attribute(coverer, 'id');
  return id === '' ? dom.tag(coverer) : `${dom.tag(coverer)} #${clip(id, 40)}`;
}

/** The text that an element shows, on one line. */
function textOf(element) {
  const inside = documentOf(element);
  if (inside) return inside.body ? fold(inside.body.innerText) : '';
  return fold(linesOf(element));
}

function linesOf(element) {
  let text;
  try {
    text = dom.innerText(element);
  } catch {
    text = dom.content(element); // SVG and MathML have no innerText
  }
  const shadow = dom.shadow(element);
  if (shadow) {
    for (let at = shadow.firstElementChild; at; at = dom.nextElement(at)) {
      if (!UNREAD_TAGS.has(dom.tag(at))) text += `\n${linesOf(at)}`;
    }
  }
  return text;
}
