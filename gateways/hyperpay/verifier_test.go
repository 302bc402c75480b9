package hyperpay_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/hyperpay"
	"rihla/models"
)

// closed encrypts a content as the company does, with a vector that depends on the content alone.
func closed(t require.TestingT, key, content string, wrapped bool) (http.Header, []byte) {
	raw, err := hex.DecodeString(key)
	require.NoError(t, err)

	block, err := aes.NewCipher(raw)
	require.NoError(t, err)

	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)

	vector := []byte(fmt.Sprintf("%012d", len(content)))
	sealed := gcm.Seal(nil, vector, []byte(content), nil)
	end := len(sealed) - gcm.Overhead()
	header := http.Header{}
	header.Set(hyperpay.HeaderVector, strings.ToUpper(hex.EncodeToString(vector)))
	header.Set(hyperpay.HeaderTag, strings.ToUpper(hex.EncodeToString(sealed[end:])))

	body := strings.ToUpper(hex.EncodeToString(sealed[:end]))
	if wrapped {
		body = `{"encryptedBody": "` + body + `"}`
	}

	return header, []byte(body)
}

func verifier(t require.TestingT, live bool, keys ...string) *hyperpay.Verifier {
	v, err := hyperpay.NewVerifier(keys, live)
	require.NoError(t, err)

	return v
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05-0700") }

func TestWebhooks(t *testing.T) {
	t.Parallel()

	for name, wrapped := range map[string]bool{"as text": false, "in JSON": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			gatewaytest.RunWebhooks(t, gatewaytest.Webhooks{
				Verifier: func(t *testing.T, secrets ...string) gateways.WebhookVerifier {
					t.Helper()
					return verifier(t, false, secrets...)
				},
				Secrets: [2]string{keyOld, keyNew},
				Paid: func(t *testing.T, secret string, c gateways.Checkout, at time.Time) (http.Header, []byte) {
					t.Helper()

					return closed(t, secret, fmt.Sprintf(`{"type":"PAYMENT","payload":{"id":"8ac7a4a277bb37680177ca9e266d3192",
						"paymentType":"DB","amount":%q,"currency":%q,"merchantTransactionId":%q,"result":{"code":"000.000.000"},
						"timestamp":%q,"ndc":%q}}`, c.Amount, c.Currency, c.MerchantReference, stamp(at), c.ID), wrapped)
				},
				Unknown: func(t *testing.T, secret string, _ time.Time) (http.Header, []byte) {
					t.Helper()

					return closed(t, secret, `{"type":"MOON","payload":{}}`, wrapped)
				},
				Proof:  (*hyperpay.Verifier)(nil).Headers(),
				Signed: true,
			})
		})
	}
}

// TestPublishedVector: docs.acaptureservices.com/tutorials/webhooks/decryption-example, on the same platform. The content has a type
// and nothing else, as it is printed there.
func TestPublishedVector(t *testing.T) {
	t.Parallel()

	const body = "0A3471C72D9BE49A8520F79C66BBD9A12FF9"

	header := http.Header{}
	header.Set(hyperpay.HeaderVector, "000000000000000000000000")
	header.Set(hyperpay.HeaderTag, "CE573FB7A41AB78E743180DC83FF09BD")

	for _, form := range []string{body, strings.ToLower(body), `{"encryptedBody": "` + body + `"}`, `{"encryptedBody":"` + body + `"}`} {
		e, err := verifier(t, true, keyNew, keyOld).Verify(header, []byte(form), time.Now())
		require.NoError(t, err, form)
		require.Equal(t, models.EventNotice, e.Type)
	}

	_, err := verifier(t, true, keyNew).Verify(header, []byte(body), time.Now())
	require.Equal(t, models.CodeInvalidSignature, models.CodeOf(err))
}

func TestKeys(t *testing.T) {
	t.Parallel()

	for _, keys := range [][]string{nil, {""}, {keyOld[1:]}, {keyOld, "xx" + keyOld[2:]}, {keyOld + "00"}} {
		_, err := hyperpay.NewVerifier(keys, false)
		require.Error(t, err)

		for _, k := range keys {
			require.False(t, k != "" && strings.Contains(err.Error(), k))
		}
	}
}

const (
	payment   = "8a829449515d198b01517d5601df5584"
	checkout  = "38CF45B689EEFAA922F39BB7C3C05B7D.uat01-vm-tx04"
	reference = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
)

// content is a message about a transaction.
func content(fields string) string {
	return `{"type":"PAYMENT","payload":{"id":"` + payment + `","timestamp":"2026-11-24 10:00:00+0000","ndc":"` + checkout + `",` + fields + `}}`
}

func ours(kind, code string) string {
	return content(`"paymentType":"` + kind + `","amount":"92.00","currency":"SAR","merchantTransactionId":"` + reference +
		`","result":{"code":"` + code + `","description":"said"}`)
}

func TestEvents(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		content string
		live    bool
		want    models.EventType
		code    models.Code // of an error
	}{
		"paid":                       {content: ours("DB", "000.000.000"), want: models.EventPaymentSucceeded},
		"paid in a test system":      {content: ours("DB", "000.100.110"), want: models.EventPaymentSucceeded},
		"a test's success when live": {content: ours("DB", "000.100.110"), live: true, want: models.EventUnreadable},
		"paid when live":             {content: ours("DB", "000.000.000"), live: true, want: models.EventPaymentSucceeded},
		"paid, to be reviewed":       {content: ours("DB", "000.400.000"), want: models.EventPaymentSucceeded},
		"a communication error":      {content: ours("DB", "000.400.030"), want: models.EventNotice},
		"pending":                    {content: ours("DB", "000.200.000"), want: models.EventNotice},
		"declined":                   {content: ours("DB", "800.100.152"), want: models.EventNotice},
		"declined without an amount": {content: strings.Replace(ours("DB", "800.100.152"), `"amount":"92.00","currency":"SAR",`, "", 1), want: models.EventNotice},
		"authorized only":            {content: ours("PA", "000.000.000"), want: models.EventNotice},
		"charged back":               {content: ours("CB", "000.000.000"), want: models.EventPaymentDisputed},
		"charged back by its code":   {content: ours("DB", "000.100.220"), want: models.EventPaymentDisputed},
		"of another's payment":       {content: strings.Replace(ours("CB", "000.100.221"), reference, "INV-1", 1), want: models.EventPaymentDisputed},
		"given back":                 {content: ours("RF", "000.000.000"), want: models.EventRefundSucceeded},
		"given back by a test":       {content: ours("RF", "000.100.112"), live: true, want: models.EventUnreadable},
		"given back later":           {content: ours("RF", "000.200.000"), want: models.EventNotice},
		"not given back":             {content: ours("RF", "800.100.152"), want: models.EventRefundFailed},
		"not given back, no amount":  {content: strings.Replace(ours("RF", "700.400.200"), `"amount":"92.00",`, "", 1), want: models.EventRefundFailed},
		"reversed manually":          {content: ours("RV", "000.000.000"), want: models.EventNotice},
		"not ours":                   {content: strings.Replace(ours("DB", "000.000.000"), reference, "INV-1", 1), want: models.EventNotice},
		"not quite ours":             {content: strings.Replace(ours("DB", "000.000.000"), reference, strings.ToUpper(reference), 1), want: models.EventNotice},
		"no reference":               {content: strings.Replace(ours("DB", "000.000.000"), `"merchantTransactionId":"`+reference+`",`, "", 1), want: models.EventNotice},
		"paid, no amount":            {content: strings.Replace(ours("DB", "000.000.000"), `"amount":"92.00",`, "", 1), code: models.CodeValidation},
		"paid, an odd amount":        {content: strings.Replace(ours("DB", "000.000.000"), "92.00", "92.001", 1), code: models.CodeValidation},
		"paid, an amount as number":  {content: strings.Replace(ours("DB", "000.000.000"), `"92.00"`, "92.00", 1), code: models.CodeValidation},
		"paid, an odd currency":      {content: strings.Replace(ours("DB", "000.000.000"), "SAR", "riyal", 1), code: models.CodeValidation},
		"the test of a webhook":      {content: `{"type":"test"}`, want: models.EventNotice},
		"a test with an example":     {content: `{"type":"PAYMENT","payload":{}}`, want: models.EventNotice},
		"without a type":             {content: `{"a":1}`, want: models.EventNotice},
		"a registration":             {content: `{"type":"REGISTRATION","action":"CREATED","payload":{"id":"x"}}`, want: models.EventNotice},
		"a risk":                     {content: `{"type":"RISK","payload":{"id":"x"}}`, want: models.EventNotice},
		"a type of ours":             {content: `{"type":"payment.succeeded"}`, want: "hyperpay.payment.succeeded"},
		"no payload":                 {content: `{"type":"PAYMENT"}`, want: models.EventNotice},
		"a payload that is a text":   {content: `{"type":"PAYMENT","payload":"x"}`, code: models.CodeValidation},
		"a type that is a number":    {content: `{"type":1}`, code: models.CodeValidation},
		"a list":                     {content: `[]`, code: models.CodeValidation},
		"no JSON":                    {content: `hello`, code: models.CodeMalformedRequest},
		"no UTF-8":                   {content: "{\"type\":\"\xff\"}", code: models.CodeMalformedRequest},
		"too deep":                   {content: `{"type":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, code: models.CodeValidation},
		"too many members":           {content: `{"a":[` + strings.Repeat(`{"b":1},`, 3000) + `1]}`, code: models.CodeTooManyMembers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			header, body := closed(t, keyOld, test.content, false)
			e, err := verifier(t, test.live, keyOld).Verify(header, body, time.Now())

			if test.code != "" {
				require.Equal(t, test.code, models.CodeOf(err), "%v", err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, test.want, e.Type)
			require.NotEmpty(t, e.ID)
		})
	}
}

// TestChargebackNamesThePayment: a chargeback may carry the company's id of the payment and nothing of ours.
func TestChargebackNamesThePayment(t *testing.T) {
	t.Parallel()

	const charged = "8ac7a4a29f0000000000000000000001"

	bare := strings.NewReplacer(`"merchantTransactionId":"`+reference+`",`, `"referencedId":"`+charged+`",`).Replace(ours("CB", "000.100.221"))
	header, body := closed(t, keyOld, bare, false)

	e, err := verifier(t, false, keyOld).Verify(header, body, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.EventPaymentDisputed, e.Type)
	require.Equal(t, charged, e.CheckoutID)
	require.Equal(t, uuid.Nil, e.MerchantReference)
	require.Equal(t, &models.DisputeNotice{ID: payment, Kind: models.DisputeChargeback, State: models.DisputeOpen}, e.Dispute)
}

func TestWhatAnEventSays(t *testing.T) {
	t.Parallel()

	now := time.Now()
	header, body := closed(t, keyOld, ours("DB", "000.000.000"), false)
	e, err := verifier(t, false, keyOld).Verify(header, body, now)
	require.NoError(t, err)
	require.Equal(t, gateways.Event{
		ID: payment + ":000.000.000", Type: models.EventPaymentSucceeded, Timestamp: time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC),
		CheckoutID: checkout, MerchantReference: uuid.MustParse(reference), Amount: models.MustMoney("92.00"), Currency: "SAR",
		PaymentID: payment, ResultCode: "000.000.000", Body: string(body), Sealed: true,
		Signature: "x-initialization-vector: " + header.Get(hyperpay.HeaderVector) + "\nx-authentication-tag: " + header.Get(hyperpay.HeaderTag),
	}, e)

	// The ndc of a refund is that of its call, and the same transaction has another id when its state is another.
	refund := strings.Replace(ours("RF", "800.100.152"), checkout, payment+"_"+payment, 1)
	header, body = closed(t, keyOld, refund, false)
	e, err = verifier(t, false, keyOld).Verify(header, body, now)
	require.NoError(t, err)
	require.Empty(t, e.CheckoutID)
	require.Equal(t, payment, e.RefundID)
	require.Equal(t, "said", e.FailureReason)
	require.Equal(t, payment+":800.100.152", e.ID)

	long := strings.Replace(ours("DB", "000.000.000"), payment, strings.Repeat("9", 400), 1)
	header, body = closed(t, keyOld, long, false)
	e, err = verifier(t, false, keyOld).Verify(header, body, now)
	require.NoError(t, err)
	require.LessOrEqual(t, len(e.ID), 255)

	header.Add(hyperpay.HeaderTag, header.Get(hyperpay.HeaderTag))
	_, err = verifier(t, false, keyOld).Verify(header, body, now)
	require.Equal(t, models.CodeInvalidSignature, models.CodeOf(err), "a header that comes twice")
}

// TestDocumentedPayloads: hyperpay.docs.oppwa.com/node/127 (a payment) and docs.latam.ppro.com/manage-payments/transactions-status (a
// transaction as the report and messages have it); neither has a reference of ours. docs.global-connect.tech/tutorials/webhooks/payload, on
// the same platform, has the example of a payment whole, that of a registration, and the form of the other two types.
func TestDocumentedPayloads(t *testing.T) {
	t.Parallel()

	for _, content := range []string{
		`{"type":"PAYMENT","payload":{"id":"8a829449515d198b01517d5601df5584","paymentType":"PA","paymentBrand":"VISA","amount":"92.00",
			"currency":"EUR","presentationAmount":"92.00","presentationCurrency":"EUR","descriptor":"3017.7139.1650 OPP_Channel ",
			"result":{"code":"000.000.000","description":"Transaction succeeded"}}}`,
		`{"type":"PAYMENT","payload":{"id":"8ac7a4a277bb37680177ca9e266d3192","paymentType":"DB","paymentBrand":"MASTER","amount":"5670.30",
			"currency":"BRL","descriptor":"12345 Usage","merchantTransactionId":"ABCDEF12345","recurringType":"INITIAL",
			"result":{"code":"000.100.112","description":"Request successfully processed in 'Merchant in Connector Test Mode'"},
			"resultDetails":{"AcquirerResponse":"000.000.000"},"card":{"bin":"522864","last4Digits":"0691"},"risk":{"score":"0"},
			"timestamp":"2021-02-22 16:41:39+0000"}}`,
		`{"type":"PAYMENT","payload":` + wholePayment + `}`,
	} {
		e := opened(t, content)
		require.Equal(t, models.EventNotice, e.Type)
		require.NotEmpty(t, e.ResultCode)
	}

	registration := `{"id":"8a82944a53e6a0150153eaf693584262","paymentBrand":"VISA","result":{"code":"000.000.000",
		"description":"Transaction succeeded","randomField1315125026":"more"},"card":{"bin":"420000","last4Digits":"0000","holder":"Jane Jones",
		"expiryMonth":"05","expiryYear":"2018"},"authentication":{"entityId":"8a8294185282b95b01528382b4940245"}}`

	for _, content := range []string{
		`{"type":"REGISTRATION","action":"CREATED","payload":` + registration + `}`,
		`{"type":"REGISTRATION","action":"UPDATED","payload":` + registration + `}`,
		`{"type":"REGISTRATION","action":"DELETED","payload":` + registration + `}`,
		`{"type":"SCHEDULE","action":"CREATED","payload":` + wholePayment + `}`,
		`{"type":"RISK","payload":` + wholePayment + `}`,
		`{"type": "PAYMENT"}`, // that of the published vector
	} {
		e := opened(t, content)
		require.Equal(t, models.EventNotice, e.Type, "it is not about a payment, whatever its result code is")
		require.True(t, e.Amount.IsZero())
		require.Empty(t, e.CheckoutID)
	}

	// With what makes the payment ours: a debit with our reference.
	mine := strings.NewReplacer(`"paymentType":"PA"`, `"paymentType":"DB","merchantTransactionId":"`+reference+`"`, `"EUR"`, `"SAR"`).Replace(wholePayment)
	e := opened(t, `{"type":"PAYMENT","payload":`+mine+`}`)
	require.Equal(t, models.EventPaymentSucceeded, e.Type)
	require.Equal(t, "92.00 SAR", e.Amount.String()+" "+e.Currency)
	require.Equal(t, "2015-12-07T16:46:07Z", e.Timestamp.Format(time.RFC3339))
}

const wholePayment = `{"id":"8a829449515d198b01517d5601df5584","paymentType":"PA","paymentBrand":"VISA","amount":"92.00","currency":"EUR",
	"presentationAmount":"92.00","presentationCurrency":"EUR","descriptor":"3017.7139.1650 OPP_Channel ",
	"result":{"code":"000.000.000","description":"Transaction succeeded"},"authentication":{"entityId":"8a8294185282b95b01528382b4940245"},
	"card":{"bin":"420000","last4Digits":"0000","holder":"Jane Jones","expiryMonth":"05","expiryYear":"2018"},
	"customer":{"givenName":"Jones","surname":"Jane","merchantCustomerId":"jjones","sex":"F","email":"jane@jones.com"},
	"customParameters":{"SHOPPER_promoCode":"AT052"},"risk":{"score":"0"},
	"buildNumber":"ec3c704170e54f6d7cf86c6f1969b20f6d855ce5@2015-12-01 12:20:39 +0000","timestamp":"2015-12-07 16:46:07+0000",
	"ndc":"8a8294174b7ecb28014b9699220015ca_66b12f658442479c8ca66166c4999e78","channelName":"OPP_Channel","source":"SYSTEM",
	"paymentMethod":"CC","shortId":"5420.6916.5424"}`

// opened is the event of a content, in both forms of the body.
func opened(t *testing.T, content string) gateways.Event {
	t.Helper()

	events := make([]gateways.Event, 0, 2)

	for _, wrapped := range []bool{true, false} {
		header, body := closed(t, keyOld, content, wrapped)
		e, err := verifier(t, false, keyOld).Verify(header, body, time.Now())
		require.NoError(t, err)

		events = append(events, e)
	}

	require.Equal(t, events[0].ID, events[1].ID)

	return events[0]
}

// TestForgedFields: whatever stands in the fields, a genuine message becomes an event that can be stored, or a known error.
func TestForgedFields(t *testing.T) {
	t.Parallel()

	v := verifier(t, true, keyOld)

	rapid.Check(t, func(t *rapid.T) {
		field := func(name string) string { return fmt.Sprintf("%q:%q", name, rapid.String().Draw(t, name)) }
		code := rapid.SampledFrom([]string{"000.000.000", "000.100.110", "000.100.220", "800.100.152", "x"}).Draw(t, "code")
		kind := rapid.SampledFrom([]string{"DB", "RF", "CB", "XX"}).Draw(t, "kind")
		id := rapid.SampledFrom([]string{reference, "", "x"}).Draw(t, "reference")

		header, body := closed(t, keyOld, `{"type":"PAYMENT","payload":{`+strings.Join([]string{
			field("id"), field("amount"), field("currency"), field("timestamp"), field("ndc"), `"paymentType":"` + kind + `"`,
			`"merchantTransactionId":"` + id + `"`, `"result":{"code":"` + code + `",` + field("description") + `}`,
		}, ",")+`}}`, false)
		requireStorable(t, v, header, body)
	})
}

func requireStorable(t require.TestingT, v *hyperpay.Verifier, header http.Header, body []byte) {
	e, err := v.Verify(header, body, time.Now())
	if err != nil {
		require.Contains(t, []models.Code{models.CodeMalformedRequest, models.CodeValidation, models.CodeTooManyMembers}, models.CodeOf(err))

		return
	}

	require.NotEmpty(t, e.ID)
	require.LessOrEqual(t, len([]rune(e.ID)), 255)
	require.NotContains(t, e.ID+e.CheckoutID+e.ResultCode+e.FailureReason+e.RefundID+string(e.Type)+e.Currency, "\x00")
	require.False(t, e.Amount.IsNegative())
	require.False(t, e.Type == models.EventPaymentSucceeded && e.ResultCode == "000.100.110", "a test's success when live")
}

// FuzzVerify: likewise of any content.
func FuzzVerify(f *testing.F) {
	for _, seed := range []string{
		ours("DB", "000.000.000"), ours("RF", "800.100.152"), ours("CB", "000.100.220"), `{}`, `[]`, `null`, `"`, `{"type":"test"}`,
		`{"type":"PAYMENT","payload":{"id":"\u0000","result":{"code":"000.000.000"}}}`, `{"type":"\ud83d"}`, "{\"type\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}

	v := verifier(f, true, keyOld)

	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) == 0 {
			return
		}

		header, body := closed(t, keyOld, string(content), false)
		requireStorable(t, v, header, body)
	})
}

// TestRefundsOfTheBackOffice: a refund or a reversal that we have not ordered is a reason to ask about its payment.
func TestRefundsOfTheBackOffice(t *testing.T) {
	t.Parallel()

	const of = payment

	for _, kind := range []string{"RF", "RV"} {
		header, body := closed(t, keyOld, `{"type":"PAYMENT","payload":{"id":"8a829449515d198b01517d5601df5585","paymentType":"`+kind+`",
			"referencedId":"`+of+`","amount":"20.00","currency":"SAR","result":{"code":"000.100.110"}}}`, false)
		event, err := verifier(t, false, keyOld).Verify(header, body, time.Now())
		require.NoError(t, err)
		require.Equal(t, models.EventNotice, event.Type)
		require.Equal(t, of, event.CheckoutID)
		require.True(t, event.Hint)
	}
}
