// The double's payment widget: no real money, and no card numbers.
(function () {
  var own = new URL(document.currentScript.src);
  var id = own.searchParams.get("checkoutId") || "";
  var arabic = window.wpwlOptions && window.wpwlOptions.locale === "ar";
  function button(text, outcome, form) {
    var b = document.createElement("button");
    b.type = "button";
    b.name = "outcome";
    b.value = outcome;
    b.className = "wpwl-button wpwl-button-" + outcome;
    b.textContent = text;
    b.style.cssText = "display:block;width:100%;margin:0 0 10px;padding:13px 16px;border-radius:11px;font:inherit;cursor:pointer;" +
      (outcome === "succeed" ? "border:0;background:#0d5a4a;color:#fff" : "border:1px solid #c9d2ce;background:#fff;color:#a8322a");
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
      brands.textContent = form.dataset.brands || "";
      form.appendChild(brands);
      button(arabic ? "ادفع" : "Pay", "succeed", form);
      button(arabic ? "محاكاة الرفض" : "Simulate a decline", "decline", form);
    });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", fill); else fill();
})();
