// What the library answers to. Each function takes one parsed object and answers a string.

globalThis.strawmanus = Object.freeze({
  walk,
  resolve,
  count,
  visible: isVisible,
  probe,
  probe_point: probePoint,
  probe_focus: probeFocus,
  focused: probeFocus,
  focus_for_fill: focusForFill,
  assign,
  select_option: selectOption,
  value_of: value,
  scroll,
  get,
  text_has: textHas,
  watch_begin: watchBegin,
  watch_peek: watchPeek,
  watch_end: watchEnd,
  secrets,
  page_values: pageValues,
});
