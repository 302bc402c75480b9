package hyperpay_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/hyperpay"
	"rihla/models"
)

func pageData() gateways.PageView {
	return gateways.PageView{
		Lang: "ar", CheckoutID: checkout, Status: gateways.CheckoutOpen, Amount: models.MustMoney("1150.00"), Currency: "SAR",
		Method: models.MethodDebitNetwork, Purchase: models.Purchase{
			Title: `عمرة <script>alert(1)</script>`, Number: "RB-7XK010A", Company: "Noor <b>Travel", Seats: 2, VAT: models.MustMoney("150.00"),
			Departure: time.Date(2026, 11, 27, 21, 30, 0, 0, time.UTC), Return: time.Date(2026, 12, 1, 18, 0, 0, 0, time.UTC),
			Policy: models.DefaultCancellationPolicy(),
		}, ReturnURL: "https://rihla.test/return/1?a=b&c=d",
		ExpiresAt: time.Date(2026, 11, 24, 10, 30, 0, 0, time.UTC), Nonce: "0123456789abcdef",
		Checkout: map[string]string{
			hyperpay.DataIntegrity: "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC",
			hyperpay.DataOrigin:    "https://eu-test.oppwa.com", hyperpay.DataBrands: "MADA VISA",
		},
	}
}

func rendered(t *testing.T, d gateways.PageView) string {
	t.Helper()

	var out bytes.Buffer

	policy, err := hyperpay.Page(&out, d)
	require.NoError(t, err)
	require.Contains(t, policy, d.Nonce)

	return out.String()
}

func TestPage(t *testing.T) {
	t.Parallel()

	html := rendered(t, pageData())
	for _, part := range []string{
		`<html lang="ar" dir="rtl">`, `1,150.00`, `13:30`, `data-brands="MADA VISA"`, `class="paymentWidgets"`,
		`action="https://rihla.test/return/1?a=b&amp;c=d"`, `"locale":"ar"`, `"labels":{"submit":"ادفع 1,150.00 ر.س"}`,
		`id="countdown" data-expires="2026-11-24T10:30:00Z"`, `RB-7XK010A`, "العودة دون دفع", "<svg ",
		`<dt>الشركة</dt><dd><bdi>Noor &lt;b&gt;Travel</bdi></dd>`, `<dt>عدد المقاعد</dt><dd><bdi>2</bdi></dd>`,
		`السبت 28 نوفمبر 2026، الساعة 00:30`, `<dt>منه ضريبة القيمة المضافة</dt><dd><bdi>150.00 ر.س</bdi></dd>`,
		`<li>قبل المغادرة بـ72 ساعة أو أكثر: يُسترد كامل المبلغ</li>`,
		`src="https://eu-test.oppwa.com/v1/paymentWidgets.js?checkoutId=` + checkout + `"`,
		`integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6&#43;R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC" crossorigin="anonymous"`,
	} {
		require.Contains(t, html, part)
	}

	require.NotContains(t, html, "<script>alert")

	d := pageData()
	d.Lang = "en"
	html = rendered(t, d)
	require.Contains(t, html, `<html lang="en" dir="ltr">`)
	require.Contains(t, html, "Complete your payment")
	require.Contains(t, html, `"labels":{"submit":"Pay 1,150.00 SAR"}`)
	require.Contains(t, html, "Go back without paying")

	for _, status := range []gateways.CheckoutStatus{
		gateways.CheckoutPaid, gateways.CheckoutFailed, gateways.CheckoutExpired, gateways.CheckoutCanceled,
	} {
		d.Status = status
		html = rendered(t, d)
		require.NotContains(t, html, "paymentWidgets", "there is nothing to be paid")
		require.NotContains(t, html, checkout)
		require.Contains(t, html, `href="https://rihla.test/return/1`)
		require.NotContains(t, html, "refresh")
		require.NotContains(t, html, "You may close this page.")
	}

	// A button that leads to the page that it is on leads nowhere.
	d.ReturnsHere, d.ReturnURL = true, "https://rihla.test/pay/1"
	html = rendered(t, d)
	require.NotContains(t, html, "https://rihla.test/pay/1")
	require.Contains(t, html, "You may close this page.")

	// Back from the widget, with what came of it not known: the page looks again, and the way to the widget stays open.
	d = pageData()
	d.Checking = true
	html = rendered(t, d)
	require.NotContains(t, html, "paymentWidgets")
	require.Contains(t, html, `<meta http-equiv="refresh"`)
	require.Contains(t, html, `href="?lang=ar"`)

	d.CheckingSince = time.Unix(1764250000, 0)
	require.Contains(t, rendered(t, d), `<meta http-equiv="refresh" content="2;url=?lang=ar&amp;id=1&amp;since=1764250000">`)
}

// TestPageOfACampaign: the page names the ad first, and the trip that it is for among the facts.
func TestPageOfACampaign(t *testing.T) {
	t.Parallel()

	d := pageData()
	d.Lang, d.ReturnsHere = "en", true
	d.Purchase = models.Purchase{
		Title: "Ramadan offer", Trip: "Umrah by coach", Company: "Noor Travel", VAT: models.MustMoney("20.00"),
		StartsOn: models.NewDate(2026, 12, 1), EndsOn: models.NewDate(2026, 12, 7),
	}

	html := rendered(t, d)
	require.Contains(t, html, "<p class=\"label\">Advertising campaign</p>\n<h2><bdi>Ramadan offer</bdi></h2>")
	require.Contains(t, html, "<dt>Advertised trip</dt><dd><bdi>Umrah by coach</bdi></dd>")
	require.Contains(t, html, "1 December 2026 to 7 December 2026")
	require.NotContains(t, html, "Cancellation policy")
	require.NotContains(t, html, "Go back without paying", "there is nowhere to go back to")
}

// TestPageAfterADecline: it is said above the form, in both languages, and another card can be paid with at once.
func TestPageAfterADecline(t *testing.T) {
	t.Parallel()

	for code, words := range map[string][2]string{
		"800.100.152": {"رُفضت العملية ولم يُخصم أي مبلغ. حاول", "The payment was declined and nothing was charged."},
		"800.100.203": {"لعدم كفاية الرصيد", "not enough money"},
		"100.100.303": {"انتهت صلاحيتها", "or it has expired"},
		"100.380.401": {"لم يكتمل التحقق لدى مصرفك", "Your bank could not confirm"},
		"<script>":    {"رُفضت العملية ولم يُخصم أي مبلغ. حاول", "The payment was declined and nothing was charged."},
	} {
		d := pageData()
		d.Declined = code

		for i, lang := range []string{"ar", "en"} {
			d.Lang = lang
			html := rendered(t, d)
			require.Contains(t, html, `<p role="alert" class="declined">`, code)
			require.Contains(t, html, words[i], code)
			require.Contains(t, html, "paymentWidgets")
			require.NotContains(t, html, `http-equiv="refresh"`)
			require.NotContains(t, html, code)
		}
	}

	d := pageData()
	require.NotContains(t, rendered(t, d), "declined\">")

	d.Declined, d.Status = "800.100.152", gateways.CheckoutPaid
	require.NotContains(t, rendered(t, d), "role=\"alert\"", "it was paid after all")
}

// TestPageRefuses: nothing gets into the page that could do more than it should.
func TestPageRefuses(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*gateways.PageView){
		"an origin with a path":       func(d *gateways.PageView) { d.Checkout[hyperpay.DataOrigin] = "https://evil.test/x" },
		"an origin that is a script":  func(d *gateways.PageView) { d.Checkout[hyperpay.DataOrigin] = "javascript:alert(1)" },
		"no integrity":                func(d *gateways.PageView) { delete(d.Checkout, hyperpay.DataIntegrity) },
		"an odd integrity":            func(d *gateways.PageView) { d.Checkout[hyperpay.DataIntegrity] = `x" onload="` },
		"an odd brand":                func(d *gateways.PageView) { d.Checkout[hyperpay.DataBrands] = `MADA "><` },
		"an odd id":                   func(d *gateways.PageView) { d.CheckoutID = "x&y=z" },
		"a way back that is a script": func(d *gateways.PageView) { d.ReturnURL = "javascript:alert(1)" },
		"no way back":                 func(d *gateways.PageView) { d.ReturnURL = "" },
		"an odd nonce":                func(d *gateways.PageView) { d.Nonce = `" x` },
		"an unknown status":           func(d *gateways.PageView) { d.Status = "maybe" },
	} {
		d := pageData()
		change(&d)

		var out bytes.Buffer

		_, err := hyperpay.Page(&out, d)
		require.Error(t, err, name)
		require.Zero(t, out.Len(), name)
	}
}

func TestContentPolicy(t *testing.T) {
	t.Parallel()

	policy, err := hyperpay.ContentPolicy("https://eu-test.oppwa.com", "0123456789abcdef", false)
	require.NoError(t, err)
	require.Contains(t, policy, "script-src 'nonce-0123456789abcdef' https://eu-test.oppwa.com;")
	require.Contains(t, policy, "frame-ancestors 'none'")
	require.NotContains(t, policy, "*")
	require.NotContains(t, policy, "unsafe-eval")
	require.NotContains(t, policy, "apple")

	withApplePay, err := hyperpay.ContentPolicy("https://eu-test.oppwa.com", "0123456789abcdef", true)
	require.NoError(t, err)
	require.Contains(t, withApplePay, "script-src 'nonce-0123456789abcdef' https://eu-test.oppwa.com https://applepay.cdn-apple.com;")
	require.Contains(t, withApplePay, "https://apple-pay-gateway.apple.com")
	require.NotContains(t, withApplePay, "*")

	for _, origin := range []string{"", "https://x.test/path", "https://x.test; script-src *", "https://*.x.test", "ftp://x.test", "https://u@x.test"} {
		_, err := hyperpay.ContentPolicy(origin, "0123456789abcdef", true)
		require.Error(t, err, origin)
	}

	for _, nonce := range []string{"", "short", "0123456789abcdef'", strings.Repeat("a", 200)} {
		_, err := hyperpay.ContentPolicy("https://x.test", nonce, false)
		require.Error(t, err, nonce)
	}
}
