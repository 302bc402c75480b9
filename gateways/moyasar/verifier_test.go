package moyasar_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/gateways"
	"rihla/gateways/moyasar"
	"rihla/gateways/simulator/engine"
	moyasarsim "rihla/gateways/simulator/moyasar"
	"rihla/models"
)

func TestNewVerifierRefusesBadSecrets(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		secrets []string
		mode    gateways.Mode
	}{
		"none":          {nil, gateways.ModeTest},
		"short":         {[]string{secret, "short"}, gateways.ModeTest},
		"with a space":  {[]string{"a token with several spaces"}, gateways.ModeTest},
		"not ASCII":     {[]string{strings.Repeat("س", 20)}, gateways.ModeTest},
		"mode not told": {[]string{secret}, gateways.ModeUnknown},
	} {
		_, err := moyasar.NewVerifier(test.secrets, test.mode)
		require.Error(t, err, name)

		for _, s := range test.secrets {
			require.NotContains(t, err.Error(), s, name)
		}
	}
}

func verify(t *testing.T, body string) (gateways.Event, error) {
	t.Helper()

	return verifier(t, secret).Verify(nil, []byte(body), time.Now())
}

// webhook is a message with the documentation's payment (docs.moyasar.com/api/other/webhooks/webhook-reference, …/update-payment).
func webhook(kind, data string) string {
	return `{"id":"65a2b41b-b644-4792-a45d-f1c6f67846fe","type":"` + kind + `","created_at":"2023-04-16T18:27:11.000Z",
		"secret_token":"` + secret + `","account_name":"Test","live":false,"data":` + data + `}`
}

// TestEvents is the table of README.md.
func TestEvents(t *testing.T) {
	t.Parallel()

	ours := strings.Replace(samplePayment, `{"test":"4"}`, `{"merchant_reference":"`+reference+`"}`, 1)
	declined := strings.Replace(ours, `"status":"paid"`, `"status":"failed"`, 1)
	refunded := strings.Replace(ours, `"refunded":0`, `"refunded":866`, 1)
	foreign := strings.Replace(samplePayment, `"`+invoiceID+`"`, `null`, 1)

	for name, test := range map[string]struct {
		body      string
		event     models.EventType
		checkout  string
		reference string
		amount    string
	}{
		"paid":                  {webhook("payment_paid", ours), models.EventPaymentSucceeded, invoiceID, reference, "48.66"},
		"captured":              {webhook("payment_captured", ours), models.EventPaymentSucceeded, invoiceID, reference, "48.66"},
		"without our reference": {webhook("payment_paid", samplePayment), models.EventPaymentSucceeded, invoiceID, "", "48.66"},
		"faild":                 {webhook("payment_faild", declined), models.EventNotice, invoiceID, reference, "48.66"},
		"failed":                {webhook("payment_failed", declined), models.EventNotice, invoiceID, reference, "48.66"},
		"abandoned":             {webhook("payment_abandoned", ours), models.EventNotice, invoiceID, reference, "48.66"},
		"authorized":            {webhook("payment_authorized", ours), models.EventNotice, invoiceID, reference, "48.66"},
		"verified":              {webhook("payment_verified", ours), models.EventNotice, invoiceID, reference, "48.66"},
		"voided":                {webhook("payment_voided", ours), models.EventNotice, invoiceID, reference, "48.66"},
		"expired":               {webhook("payment_expired", ours), models.EventPaymentExpired, invoiceID, reference, "48.66"},
		"refunded":              {webhook("payment_refunded", refunded), models.EventRefundSucceeded, invoiceID, "", "8.66"},
		"of another system":     {webhook("payment_paid", foreign), models.EventNotice, "", "", "48.66"},
		"by our reference only": {webhook("payment_paid", strings.Replace(foreign, `{"test":"4"}`, `{"merchant_reference":"`+reference+`"}`, 1)), models.EventPaymentSucceeded, "", reference, "48.66"},
		"a transfer":            {webhook("balance_transferred", `{"whatever":1}`), models.EventNotice, "", "", "0.00"},
		"a card's check":        {webhook("card_auth_failed", `{"id":"x"}`), models.EventNotice, "", "", "0.00"},
		"an unknown one":        {webhook("payment_moonlit", ours), "payment_moonlit", invoiceID, reference, "48.66"},
		"an unknown one, bare":  {`{"id":"e1","type":"moon","secret_token":"` + secret + `"}`, "moon", "", "", "0.00"},
		"an unknown one, odd":   {webhook("payment_moonlit", `"text"`), "payment_moonlit", "", "", "0.00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e, err := verify(t, test.body)
			require.NoError(t, err)
			require.Equal(t, test.event, e.Type)
			require.Equal(t, test.checkout, e.CheckoutID)
			require.Equal(t, test.amount, e.Amount.String())
			require.True(t, e.Hint)
			require.Empty(t, e.RefundID, "refunds have no id")

			want := uuid.Nil
			if test.reference != "" {
				want = uuid.MustParse(test.reference)
			}

			require.Equal(t, want, e.MerchantReference)
		})
	}

	e, err := verify(t, webhook("payment_faild", declined))
	require.NoError(t, err)
	require.Equal(t, "65a2b41b-b644-4792-a45d-f1c6f67846fe", e.ID)
	require.Equal(t, "2023-04-16T18:27:11Z", e.Timestamp.Format(time.RFC3339))
	require.Equal(t, "secret_token: verified", e.Signature)
	require.Equal(t, models.MethodCreditCard, e.Method)
	require.Equal(t, "creditcard/visa", e.ResultCode)
	require.Equal(t, "Succeeded! (Test Environment)", e.FailureReason)
	require.Equal(t, strings.Replace(webhook("payment_faild", declined), `"`+secret+`"`, "null", 1), e.Body)
}

func TestWebhooksThatAreRefused(t *testing.T) {
	t.Parallel()

	good := webhook("payment_paid", samplePayment)
	token := `"secret_token":"` + secret + `"`

	const signature, malformed, invalid = models.CodeInvalidSignature, models.CodeMalformedRequest, models.CodeValidation

	for name, test := range map[string]struct {
		body  string
		code  models.Code
		field string
	}{
		"no token":                {strings.Replace(good, token, `"x":1`, 1), signature, ""},
		"an empty token":          {strings.Replace(good, secret, "", 1), signature, ""},
		"a wrong token":           {strings.Replace(good, secret, secret+"x", 1), signature, ""},
		"the beginning of it":     {strings.Replace(good, secret, secret[:16], 1), signature, ""},
		"another case":            {strings.Replace(good, secret, strings.ToUpper(secret), 1), signature, ""},
		"null as token":           {strings.Replace(good, `"`+secret+`"`, "null", 1), signature, ""},
		"a list as token":         {strings.Replace(good, `"`+secret+`"`, `["`+secret+`"]`, 1), signature, ""},
		"another member's case":   {strings.Replace(good, "secret_token", "Secret_Token", 1), signature, ""},
		"two tokens":              {strings.Replace(good, token, token+`,`+token, 1), signature, ""},
		"two tokens, one escaped": {strings.Replace(good, token, token+`,"secret\u005ftoken":"x"`, 1), signature, ""},
		"a token within":          {strings.Replace(strings.Replace(good, token, `"x":1`, 1), `"data":{`, `"data":{`+token+`,`, 1), signature, ""},
		"a list":                  {`[` + good + `]`, signature, ""},
		"more behind":             {good + `{}`, signature, ""},
		"not UTF-8":               {strings.Replace(good, `"Test"`, "\"\xff\"", 1), malformed, ""},
		"no id":                   {strings.Replace(good, `"id":"65a2b41b-b644-4792-a45d-f1c6f67846fe",`, "", 1), invalid, "id"},
		"a long id":               {strings.Replace(good, "65a2b41b", strings.Repeat("é", 256), 1), invalid, "id"},
		"a number as id":          {strings.Replace(good, `"65a2b41b-b644-4792-a45d-f1c6f67846fe"`, "7", 1), invalid, "body"},
		"no type":                 {strings.Replace(good, "payment_paid", "", 1), invalid, "type"},
		"a type of ours":          {strings.Replace(good, "payment_paid", "payment.succeeded", 1), invalid, "type"},
		"no time":                 {strings.Replace(good, "2023-04-16T18:27:11.000Z", "yesterday", 1), invalid, "created_at"},
		"a year that is none":     {strings.Replace(good, "2023-04-16T18:27:11.000Z", "0000-01-01T00:00:00Z", 1), invalid, "created_at"},
		"of no mode":              {strings.Replace(good, `"live":false,`, "", 1), invalid, "live"},
		"no payment":              {webhook("payment_paid", "null"), invalid, "data"},
		"a list as payment":       {webhook("payment_paid", "[]"), invalid, "data"},
		"a payment without an id": {webhook("payment_paid", `{"id":""}`), invalid, "data.id"},
		"an empty invoice":        {webhook("payment_paid", `{"id":"p1","invoice_id":""}`), invalid, "data.invoice_id"},
		"NUL":                     {strings.Replace(good, `"Test"`, `"\u0000"`, 1), invalid, "body"},
		"half a pair":             {strings.Replace(good, `"Test"`, `"\ud83d"`, 1), invalid, "body"},
		"the other half":          {strings.Replace(good, `"Test"`, `"\ude00\ud83d"`, 1), invalid, "body"},
		"a number beyond all":     {strings.Replace(good, `"Test"`, `1e99999`, 1), invalid, "body"},
		"nested":                  {strings.Replace(good, `"Test"`, strings.Repeat("[", 70)+strings.Repeat("]", 70), 1), invalid, "body"},
		"the token a second time": {strings.Replace(good, `"Test"`, `"x`+secret+`"`, 1), invalid, "body"},
		"the token as a name":     {strings.Replace(good, `"account_name"`, `"`+secret+`"`, 1), invalid, "body"},
		"the token, hidden":       {strings.Replace(good, `"Test"`, `"\u006d`+secret[1:]+`"`, 1), invalid, "body"},
		"too many members":        {strings.Replace(good, `"Test"`, `{`+strings.Repeat(`"a":1,`, 2500)+`"b":1}`, 1), models.CodeTooManyMembers, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := verify(t, test.body)
			require.Error(t, err)
			require.Equal(t, test.code, models.CodeOf(err), err.Error())
			require.NotContains(t, err.Error(), secret)

			if test.field != "" {
				var e *models.Error

				require.ErrorAs(t, err, &e)
				require.Contains(t, e.Details, test.field)
			}
		})
	}

	for name, whole := range map[string]string{
		"a pair":           strings.Replace(good, `"Test"`, `"\ud83d\ude00 \\ud83d \u0041"`, 1),
		"an escaped name":  strings.Replace(good, "secret_token", `secret\u005ftoken`, 1),
		"an escaped token": strings.Replace(good, secret, `\u006d`+secret[1:], 1),
		"space":            strings.NewReplacer(`,`, " ,\r\n", `:`, "\t: ").Replace(`{"id":"e","type":"x","secret_token":"` + secret + `","a":[1,{"b":"}"}],"c":-1}`),
	} {
		e, err := verify(t, whole)
		require.NoError(t, err, name)
		require.True(t, json.Valid([]byte(e.Body)), name)
		require.NotContains(t, e.Body, secret[1:], name)
	}
}

// TestMessageOfTheOtherMode: it is the company's, and cannot be about this account: it is kept, and says why.
func TestMessageOfTheOtherMode(t *testing.T) {
	t.Parallel()

	e, err := verify(t, strings.Replace(webhook("payment_paid", samplePayment), `"live":false`, `"live":true`, 1))
	require.NoError(t, err)
	require.Equal(t, models.EventUnreadable, e.Type)
	require.Equal(t, "they are of the live mode, and the account's key is a test key", e.Unreadable)
	require.NotEmpty(t, e.ID)
	require.NotContains(t, e.Body, secret)
}

// forged builds a message whose fields are what a forger may choose who knows the token.
func forged(t *rapid.T) map[string]any {
	values := rapid.OneOf(
		rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just[any](nil), rapid.Just[any]([]any{"x"}),
		rapid.Just[any](map[string]any{"merchant_reference": reference, "type": "creditcard"}),
		rapid.SampledFrom([]any{"payment_paid", "SAR", reference, "2026-11-24T00:00:00Z", secret}),
	)
	fields := func(names ...string) map[string]any {
		made := map[string]any{}
		for _, name := range names {
			if rapid.Bool().Draw(t, "has "+name) {
				made[name] = values.Draw(t, name)
			}
		}

		return made
	}

	m := map[string]any{
		"id": "e1", "type": rapid.SampledFrom([]string{"payment_paid", "payment_refunded", "payment_x"}).Draw(t, "type"),
		"created_at": "2026-11-24T00:00:00Z", "live": false,
	}
	maps.Copy(m, fields("id", "type", "created_at", "live", "account_name"))

	data := map[string]any{"id": "p1", "invoice_id": "i1"}
	maps.Copy(data, fields("id", "invoice_id", "amount", "refunded", "currency", "metadata", "source"))
	m["data"], m["secret_token"] = data, secret

	return m
}

// TestForgedFields: whatever the fields are, an event is a hint that can be stored, without the secret.
func TestForgedFields(t *testing.T) {
	t.Parallel()

	v := verifier(t, secret)

	rapid.Check(t, func(t *rapid.T) {
		body, err := json.Marshal(forged(t))
		require.NoError(t, err)

		e, err := v.Verify(nil, body, time.Now())
		requireSound(t, e, err)
	})
}

// requireSound: an event can be stored and says no secret; an error is one of a webhook's.
func requireSound(t require.TestingT, e gateways.Event, err error) {
	if err != nil {
		codes := []models.Code{
			models.CodeInvalidSignature, models.CodeMalformedRequest, models.CodeValidation, models.CodeTooManyMembers,
		}
		require.True(t, slices.Contains(codes, models.CodeOf(err)), err.Error())
		require.NotContains(t, err.Error(), secret)

		return
	}

	require.True(t, e.Hint)
	require.NotEmpty(t, e.ID)
	require.NotEmpty(t, e.Type)
	require.True(t, json.Valid([]byte(e.Body)))
	require.False(t, e.Amount.IsNegative())
	require.True(t, e.Amount.Fits())

	for _, text := range []string{
		e.ID, string(e.Type), e.CheckoutID, e.Currency, e.ResultCode, e.FailureReason, e.Body, e.Signature,
	} {
		require.NotContains(t, text, secret)
		require.NotContains(t, text, "\x00")
		require.Equal(t, text, strings.ToValidUTF8(text, "?"))
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(webhook("payment_paid", samplePayment)))
	f.Add([]byte(webhook("payment_refunded", `{"id":"p1","amount":-9223372036854775808,"currency":"KWD"}`)))
	f.Add([]byte(`{"secret_token":"` + secret + `"}`))
	f.Add([]byte(`{ "a" : [ { "b" : "\\\"}" } , 1e5 , null ] , "secret_token" : "` + secret + `" }`))
	f.Add([]byte(`{"secret_token":"` + secret + `","id":"\ud800","type":"x"}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"":{"":[]}}`))

	v, err := moyasar.NewVerifier([]string{secret, newSecret}, gateways.ModeTest)
	require.NoError(f, err)

	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := v.Verify(http.Header{}, body, time.Now())
		requireSound(t, e, err)
	})
}

// TestWebhooksOfTheSimulator: the verifier reads the simulator's messages, of every change that the company reports.
func TestWebhooksOfTheSimulator(t *testing.T) {
	t.Parallel()

	for _, spelling := range []bool{false, true} {
		got := make(chan gateways.Event, 10)

		v := verifier(t, secret)
		inbox := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}

			e, err := v.Verify(r.Header, body, time.Now())
			if err != nil {
				w.WriteHeader(http.StatusUnauthorized)

				return
			}

			got <- e
		}))
		t.Cleanup(inbox.Close)

		b := setup(t, moyasarsim.Settings{Failed: spelling, CopiedMetadata: spelling}, func(cfg *engine.Config) {
			for method := range cfg.Merchants[0].Channels {
				cfg.Merchants[0].Channels[method] = engine.Channel{WebhookURL: inbox.URL, Secret: secret}
			}
		})

		c, ref := b.Opened(t)
		b.Press(t, c.ID, "decline")
		requireEvent(t, got, models.EventNotice, c)
		b.Pay(t, c)
		e := requireEvent(t, got, models.EventPaymentSucceeded, c)
		require.Equal(t, c.Amount.String(), e.Amount.String())
		require.Equal(t, spelling, e.MerchantReference == c.MerchantReference)

		refund := refundRequest("100.00", "0.00")
		refund.Checkout = ref
		_, err := b.driver.CreateRefund(t.Context(), refund)
		require.NoError(t, err)
		e = requireEvent(t, got, models.EventRefundSucceeded, c)
		require.Equal(t, "100.00", e.Amount.String())
	}
}

func requireEvent(t *testing.T, got <-chan gateways.Event, kind models.EventType, c gateways.Checkout) gateways.Event {
	t.Helper()

	select {
	case e := <-got:
		require.Equal(t, kind, e.Type)
		require.Equal(t, c.ID, e.CheckoutID)

		return e
	case <-time.After(patient):
		require.FailNow(t, "the webhook is missing", kind)

		return gateways.Event{}
	}
}
