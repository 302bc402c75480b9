package sandbox_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways/gatewaytest"
	"rihla/models"
)

// browse is a browser that does not follow redirects.
func (b *bundle) browse(t *testing.T, method, path, form, languages string) (*http.Response, string) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, strings.NewReader(form))
	require.NoError(t, err)
	req.Header.Set("Accept", "text/html,*/*")

	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}

	if languages != "" {
		req.Header.Set("Accept-Language", languages)
	}

	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(t, err)

	defer res.Body.Close()

	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)

	return res, string(body)
}

func TestPageLanguage(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.NoError(t, err)

	for _, test := range []struct{ query, header, lang string }{
		{"", "", "ar"},
		{"", "en-US,en;q=0.9", "en"},
		{"", "ar-SA,en;q=0.5", "ar"},
		{"", "fr-FR", "ar"},
		{"", "nonsense;;;", "ar"},
		{"?lang=en", "ar", "en"},
		{"?lang=ar", "en", "ar"},
		{"?lang=xx", "en", "en"},
	} {
		res, body := b.browse(t, http.MethodGet, "/pay/"+c.ID+test.query, "", test.header)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Contains(t, body, `<html lang="`+test.lang+`"`, "%+v", test)
		require.Equal(t, test.lang, res.Header.Get("Content-Language"))
		require.Contains(t, body, "1,150.00")
		require.Contains(t, body, "عمرة — Umrah, 2 seats")
	}
}

func TestPageIsClosedToTheOutside(t *testing.T) {
	t.Parallel()

	b := setup(t)
	request := gatewaytest.Request()
	request.Description = `<script>alert("x")</script>`
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	res, body := b.browse(t, http.MethodGet, "/pay/"+c.ID, "", "")
	policy := res.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, body, `<script>alert`)
	require.NotContains(t, body, "http://", "nothing is loaded from elsewhere")
	require.NotContains(t, body, "https://")

	// Inputs have no name, so a browser cannot send what is typed.
	for part := range strings.SplitSeq(body, "<input") {
		tag, _, _ := strings.Cut(part, ">")
		require.NotContains(t, tag, " name=")
	}
}

func TestPageOutcomes(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for outcome, test := range map[string]struct{ status, en, ar string }{
		"succeed": {"paid", "Payment received", "تم الدفع بنجاح"},
		"decline": {"failed", "Payment not completed", "لم تتم عملية الدفع"},
		"cancel":  {"canceled", "Payment cancelled", "أُلغي الدفع"},
	} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()

			request := gatewaytest.Request()
			request.ReturnURL = "https://shop.test/return?order=7"
			c, err := b.driver.CreateCheckout(t.Context(), request)
			require.NoError(t, err)

			// Whatever is pressed later, the first choice stands.
			for _, press := range []string{outcome, "succeed", "decline", "cancel"} {
				res, _ := b.browse(t, http.MethodPost, "/pay/"+c.ID, "outcome="+press, "")
				require.Equal(t, http.StatusSeeOther, res.StatusCode)

				target, err := url.Parse(res.Header.Get("Location"))
				require.NoError(t, err)
				require.Equal(t, "shop.test", target.Host)
				require.Equal(t, url.Values{
					"order": {"7"}, "transaction": {request.MerchantReference.String()}, "status": {test.status},
				}, target.Query())
			}

			_, body := b.browse(t, http.MethodGet, "/pay/"+c.ID+"?lang=en", "", "")
			require.Contains(t, body, test.en)
			require.NotContains(t, body, "<form")

			_, body = b.browse(t, http.MethodGet, "/pay/"+c.ID, "", "")
			require.Contains(t, body, test.ar)
		})
	}
}

func TestPageWithoutReturnURLShowsTheResult(t *testing.T) {
	t.Parallel()

	b := setup(t)
	request := gatewaytest.Request()
	request.ReturnURL = ""
	request.Method = models.MethodBillPayment
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	res, body := b.browse(t, http.MethodPost, "/pay/"+c.ID, "outcome=succeed", "en")
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Contains(t, body, "Payment received")
}

func TestPageReturnsToAnApp(t *testing.T) {
	t.Parallel()

	b := setup(t)
	request := gatewaytest.Request()
	request.ReturnURL = "rihla://bookings/7"
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	res, _ := b.browse(t, http.MethodPost, "/pay/"+c.ID, "outcome=succeed", "")
	require.True(t, strings.HasPrefix(res.Header.Get("Location"), "rihla://bookings/7?status=paid&transaction="))

	res, body := b.browse(t, http.MethodGet, "/pay/"+c.ID, "", "")
	require.NotContains(t, res.Header.Get("Content-Security-Policy"), "form-action", "it would hold for where the merchant's address leads")
	require.Contains(t, body, `href="rihla://bookings/7?`)
}

func TestPageThatDoesNotExist(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, method := range []string{http.MethodGet, http.MethodPost} {
		form := ""
		if method == http.MethodPost {
			form = "outcome=succeed"
		}

		res, body := b.browse(t, method, "/pay/co_unknown", form, "en")
		require.Equal(t, http.StatusNotFound, res.StatusCode)
		require.Contains(t, body, "Page not found")
	}
}

// TestPageAfterADecline: the customer has a way to try again.
func TestPageAfterADecline(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, outcome := range []string{"decline", "cancel"} {
		request := gatewaytest.Request()
		request.ReturnURL = "https://shop.test/return?order=7"
		c, err := b.driver.CreateCheckout(t.Context(), request)
		require.NoError(t, err)
		b.browse(t, http.MethodPost, "/pay/"+c.ID, "outcome="+outcome, "")

		_, body := b.browse(t, http.MethodGet, "/pay/"+c.ID, "", "en")
		require.Regexp(t, `<a class="button" href="https://shop.test/return\?order=7&amp;status=[^"]+">Try again</a>`, body)

		request = gatewaytest.Request()
		request.ReturnURL = ""
		c, err = b.driver.CreateCheckout(t.Context(), request)
		require.NoError(t, err)

		_, body = b.browse(t, http.MethodPost, "/pay/"+c.ID, "outcome="+outcome, "en")
		require.Contains(t, body, "it opens a new payment")
	}
}

// TestPageSaysWhatIsPaid: the title in its own language and direction, the merchant's number of the order, and a bill number that a
// bank's app takes.
func TestPageSaysWhatIsPaid(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for description, want := range map[string]string{
		"عمرة من الرياض (RB-7XK010A)":           `<p class="what" lang="ar" dir="rtl">عمرة من الرياض</p>`,
		"Umrah from Riyadh — عمرة (RB-7XK010A)": `<p class="what" lang="ar" dir="rtl">Umrah from Riyadh — عمرة</p>`,
		"Umrah from Riyadh (RB-7XK010A)":        `<p class="what" lang="en" dir="ltr">Umrah from Riyadh</p>`,
	} {
		request := gatewaytest.Request()
		request.Description, request.Method = description, models.MethodBillPayment
		c, err := b.driver.CreateCheckout(t.Context(), request)
		require.NoError(t, err)

		for _, lang := range []string{"ar", "en"} {
			_, body := b.browse(t, http.MethodGet, "/pay/"+c.ID+"?lang="+lang, "", "")
			require.Contains(t, body, want)
			require.Contains(t, body, `<bdi dir="ltr">RB-7XK010A</bdi>`)
			require.Regexp(t, `<b><bdi dir="ltr">\d{4} \d{4} \d{4}</bdi></b>`, body, "the number of the bill")
			require.NotContains(t, body, strings.ToUpper(request.MerchantReference.String()[24:]), "no cut-off id")
		}
	}
}

// TestPageShowsDetails: what the merchant has said beside the title is a list of facts.
func TestPageShowsDetails(t *testing.T) {
	t.Parallel()

	b := setup(t)
	request := gatewaytest.Request()
	request.Description, request.Details = "Umrah · by night (RB-7XK010A)", []string{"Seats: 2", "VAT included: 150.00 SAR"}
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	_, body := b.browse(t, http.MethodGet, "/pay/"+c.ID+"?lang=en", "", "")
	require.Contains(t, body, `<p class="what" lang="en" dir="ltr">Umrah · by night</p>`)
	require.Contains(t, body, `<dt><bdi>Seats</bdi></dt><dd><bdi>2</bdi></dd>`)
	require.Contains(t, body, `<dt><bdi>VAT included</bdi></dt><dd><bdi>150.00 SAR</bdi></dd>`)
	require.Contains(t, body, `<bdi dir="ltr">RB-7XK010A</bdi>`)
}
