// Counts down to the end of the time to pay; without scripts the page shows the time of day instead.
(function () {
  var box = document.getElementById("countdown");
  if (!box) return;
  var end = Date.parse(box.dataset.expires);
  var out = box.querySelector("b");
  function two(n) { return (n < 10 ? "0" : "") + n; }
  function tick() {
    var left = Math.floor((end - Date.now()) / 1000);
    if (left < 0) { location.reload(); return; }
    var h = Math.floor(left / 3600), m = Math.floor(left / 60) % 60, s = left % 60;
    out.textContent = (h ? h + ":" + two(m) : m) + ":" + two(s);
    box.hidden = left >= 86400;
    setTimeout(tick, 1000);
  }
  tick();
})();
