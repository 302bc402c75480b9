// The double's payment widget: no real money, and no card numbers.
(function () {
  var own = new URL(document.currentScript.src);
  var id = own.searchParams.get("checkoutId") || "";
  var options = window.wpwlOptions || {};
  var arabic = options.locale === "ar";
  var labels = options.labels || {};
  var names = {VISA: "Visa", MASTER: "Mastercard", MADA: "mada", AMEX: "American Express", APPLEPAY: "Apple Pay"};
  function button(text, outcome, form) {
    var b = document.createElement("button");
    b.type = "button";
    b.name = "outcome";
    b.value = outcome;
    b.className = "wpwl-button wpwl-button-" + (outcome === "succeed" ? "pay" : outcome);
    b.textContent = text;
    b.style.cssText = "display:block;width:100%;margin:0 0 10px;padding:13px 16px;border-radius:6px;font:inherit;cursor:pointer;" +
      (outcome === "succeed" ? "border:0;background:#0b7285;color:#fff" : "border:1px solid #dfe4e8;background:#fff;color:#a11d1d");
    b.addEventListener("click", function () { pay(form, outcome); });
    form.appendChild(b);
  }
  function pay(form, outcome) {
    // Its answer is for the double's own page, and a browser does not show it to another one.
    fetch(own.origin + "/pay/" + encodeURIComponent(id), {
      method: "POST", mode: "no-cors", body: new URLSearchParams({outcome: outcome})
    }).then(function () { leave(form); }, function () { form.append(arabic ? "تعذر الاتصال" : "No connection"); });
  }
  function leave(form) {
    var to = new URL(form.getAttribute("action"), location.href);
    to.searchParams.set("id", id);
    to.searchParams.set("resourcePath", "/v1/checkouts/" + id + "/payment");
    location.assign(to.href);
  }
  function fill() {
    document.querySelectorAll("form.paymentWidgets").forEach(function (form) {
      var brands = document.createElement("p");
      brands.className = "wpwl-brands";
      (form.dataset.brands || "").split(" ").filter(Boolean).forEach(function (code) {
        var brand = document.createElement("span");
        brand.className = "wpwl-brand";
        brand.textContent = names[code] || code;
        brand.style.cssText = "display:inline-block;margin-inline-end:8px;padding:2px 10px;border:1px solid #dfe4e8;border-radius:4px;background:#fff;font-size:14px";
        brands.appendChild(brand);
      });
      form.appendChild(brands);
      button(labels.submit || (arabic ? "ادفع" : "Pay"), "succeed", form);
      button(arabic ? "محاكاة الرفض" : "Simulate a decline", "decline", form);
    });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", fill); else fill();
})();
