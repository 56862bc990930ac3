"use strict";
// The scale of epsilon: one slider, the numbers beside it and a dot on the curve. The table says the same without it.
(function () {
  var part = document.getElementById("scale");
  if (!part) return;
  var slider = document.getElementById("scale-epsilon");
  var show = function (id, text) { document.getElementById(id).textContent = text; };
  var dot = document.getElementById("scale-dot");
  var tenths = function (chance) {
    var up = Math.ceil(Math.round(chance * 1e9) / 1e6);
    return up > 999 ? ">99.9\u00a0%" : (up / 10).toFixed(1) + "\u00a0%";
  };
  var times = function (value) {
    if (value >= 1e6) return ">1,000,000";
    if (value >= 100) return Math.ceil(Math.round(value * 1e6) / 1e6).toLocaleString("en");
    return (Math.ceil(Math.round(value * 1e8) / 1e6) / 100).toFixed(2);
  };
  var rounded = function (epsilon) { return String(Number(epsilon.toPrecision(2))); };
  var own = Number(slider.dataset.own);  // exactly, until the slider is moved
  var update = function (event) {
    var epsilon = event || !own ? Number(rounded(Math.pow(10, Number(slider.value)))) : own;
    var factor = Math.exp(epsilon), chance = factor / (1 + factor);
    show("scale-now", String(Number(epsilon.toPrecision(4))));
    show("scale-chance", tenths(chance));
    show("scale-factor", times(factor));
    slider.setAttribute("aria-valuetext",
      "epsilon " + Number(epsilon.toPrecision(4)) + ": right at most " + tenths(chance) + " of the time");
    var low = Number(slider.min), high = Number(slider.max);
    dot.style.left = 100 * (Number(slider.value) - low) / (high - low) + "%";
    dot.style.top = 100 * (1 - chance) / 0.5 + "%";
  };
  slider.addEventListener("input", update);
  part.hidden = false;
  update(null);
})();
