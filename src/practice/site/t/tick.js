// Put where a page says tick. A page gives onTick what its next moment does; a test brings the
// moment, so that no test waits for a clock:
//   window.tick()                                  from the page's own world
//   document.dispatchEvent(new Event("tick"))      from any world
//   ?on=NAME in the URL, then releasing NAME       from the server's side, once
const moments = [];
const onTick = (moment) => moments.push(moment);
window.tick = () => moments.forEach((moment) => moment());
document.addEventListener("tick", window.tick);
const awaited = new URLSearchParams(location.search).get("on");
if (awaited) fetch("/__hold/" + encodeURIComponent(awaited)).then(window.tick);
