// Where what must not be shown stands.
//
// Contract: `secrets({})` answers JSON text
//   {"document":"…", "scroll":[x, y], "boxes":[[x, y, width, height], …]}
// Boxes are CSS pixels of the page. They hold every secret field that takes up room, in view or not,
// and every frame that cannot be read from here: nobody knows what was typed there. It reads only.

function secrets() {
  begin();
  const fields = all(document, 'input').filter((input) => secret(input));
  const frames = all(document, 'iframe, frame, object, embed, fencedframe').filter((frame) => !readable(frame));
  const boxes = [...fields, ...frames].map(boxOf).filter((box) => box.width > 0 && box.height > 0);
  return JSON.stringify({
    document: documentId, scroll: [scrollX, scrollY],
    boxes: boxes.map((box) => [box.x + scrollX, box.y + scrollY, box.width, box.height]),
  });
}

/** Whether what a frame shows was looked through; an `object` is looked into by nobody. */
function readable(frame) {
  const tag = dom.tag(frame);
  return (tag === 'iframe' || tag === 'frame') && documentOf(frame) !== null;
}
