package moyasar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

const reference = "5b3a3a52-3f0c-4f5e-9f0e-3c7a9f5f4c11"

// The invoice and the payment of the documentation, with our metadata in the place of null:
// docs.moyasar.com/fetch-invoice and docs.moyasar.com/update-payment.
const (
	sampleInvoice = `{"id":"73bda482-5f95-4f59-87d3-3fe3615c54bc","status":"STATUS","amount":6091,"currency":"SAR",
		"description":"Order #123126","logo_url":"https://s3-eu-west-1.amazonaws.com/moyasar.api.assets.prod/entities/logos/default.png",
		"amount_format":"60.91 SAR","url":"https://checkout.moyasar.com/invoices/73bda482-5f95-4f59-87d3-3fe3615c54bc?lang=en",
		"callback_url":"https://mystore.com/notify-paid","expired_at":null,"created_at":"2023-08-23T11:21:15.690Z",
		"updated_at":"2023-08-23T11:21:15.690Z","back_url":null,"success_url":null,
		"metadata":{"merchant_reference":"` + reference + `","number":7},"payments":[PAYMENTS]}`

	samplePayment = `{"id":"611c028e-855c-425c-a4eb-ce1e06680000","status":"paid","amount":4866,"fee":0,"currency":"SAR","refunded":0,
		"refunded_at":null,"captured":0,"captured_at":null,"voided_at":null,"description":"Order #1000","amount_format":"48.66 SAR",
		"fee_format":"0.00 SAR","refunded_format":"0.00 SAR","captured_format":"0.00 SAR",
		"invoice_id":"73bda482-5f95-4f59-87d3-3fe3615c54bc","ip":"2.88.101.106","callback_url":null,
		"created_at":"2023-04-16T18:27:04.730Z","updated_at":"2023-04-16T18:27:10.251Z","metadata":{"test":"4"},
		"source":{"type":"creditcard","company":"visa","name":"Abdullah Alrayes","number":"XXXX-XXXX-XXXX-1111",
		"gateway_id":"moyasar_cc_4uWh6w1RfRT9KcUGUCxEScw","reference_number":null,"token":null,
		"message":"Succeeded! (Test Environment)","transaction_url":"https://api.moyasar.com/v1/transaction_auths/x/form"}}`
)

// sample is the documentation's invoice with a status and payments.
func sample(status string, payments ...string) string {
	return strings.NewReplacer("STATUS", status, "PAYMENTS", strings.Join(payments, ",")).Replace(sampleInvoice)
}

// changed is the documentation's payment with other values: pairs of an old and a new text.
func changed(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(samplePayment) }

func status(s string) string { return changed(`"status":"paid"`, `"status":"`+s+`"`) }

// TestStates holds what payments and invoices become.
func TestStates(t *testing.T) {
	t.Parallel()

	const (
		open, paid, failed = gateways.CheckoutOpen, gateways.CheckoutPaid, gateways.CheckoutFailed
		expired, canceled  = gateways.CheckoutExpired, gateways.CheckoutCanceled
	)

	refundedPart := changed(`"status":"paid"`, `"status":"refunded"`, `"refunded":0`, `"refunded":866`)
	declined := changed(`"status":"paid"`, `"status":"failed"`, "Succeeded! (Test Environment)", "INSUFFICIENT FUNDS",
		`"token":null`, `"response_code":"51"`, "04.730Z", "05.000Z")
	capturedPart := changed(`"status":"paid"`, `"status":"captured"`, `"captured":0,"captured_at":null`,
		`"captured":4000,"captured_at":"2023-04-17T08:00:00.000Z"`)
	mada := changed(`"company":"visa"`, `"company":"mada"`)

	for name, test := range map[string]struct {
		answer   string
		status   gateways.CheckoutStatus // "": an answer that does not add up
		amount   string
		refunded string
		code     string
		reason   string
		paidAt   string
	}{
		"nobody has paid":                {answer: sample("initiated"), status: open, amount: "60.91"},
		"on hold":                        {answer: sample("on_hold"), status: open, amount: "60.91"},
		"an attempt is under way":        {answer: sample("initiated", status("initiated")), status: open, amount: "60.91"},
		"an amount is held":              {answer: sample("initiated", status("authorized")), status: open, amount: "60.91"},
		"a card was checked":             {answer: sample("initiated", status("verified")), status: open, amount: "60.91"},
		"a declined card":                {answer: sample("initiated", declined), status: open, amount: "60.91"},
		"failed for good":                {answer: sample("failed", status("failed"), declined), status: failed, amount: "60.91", code: "failed:creditcard/visa:51", reason: "INSUFFICIENT FUNDS"},
		"failed without a payment":       {answer: sample("failed"), status: failed, amount: "60.91", code: "failed", reason: "The payment failed."},
		"expired":                        {answer: sample("expired", declined), status: expired, amount: "60.91", code: "expired"},
		"canceled":                       {answer: sample("canceled"), status: canceled, amount: "60.91", code: "canceled"},
		"voided":                         {answer: sample("voided", status("voided")), status: canceled, amount: "60.91", code: "voided"},
		"paid and voided":                {answer: sample("paid", status("voided")), status: canceled, amount: "60.91", code: "paid"},
		"paid, another amount":           {answer: sample("paid", samplePayment), status: paid, amount: "48.66", code: "paid:creditcard/visa", paidAt: "2023-04-16T18:27:10.251Z"},
		"paid with mada":                 {answer: sample("paid", mada), status: paid, amount: "48.66", code: "paid:creditcard/mada", paidAt: "2023-04-16T18:27:10.251Z"},
		"one failed, one succeeded":      {answer: sample("paid", declined, samplePayment), status: paid, amount: "48.66", code: "paid:creditcard/visa", paidAt: "2023-04-16T18:27:10.251Z"},
		"canceled after it was paid":     {answer: sample("canceled", samplePayment), status: paid, amount: "48.66", code: "paid:creditcard/visa", paidAt: "2023-04-16T18:27:10.251Z"},
		"expired after it was paid":      {answer: sample("expired", samplePayment), status: paid, amount: "48.66", code: "paid:creditcard/visa", paidAt: "2023-04-16T18:27:10.251Z"},
		"captured, a part":               {answer: sample("paid", capturedPart), status: paid, amount: "40.00", code: "paid:creditcard/visa", paidAt: "2023-04-17T08:00:00.000Z"},
		"refunded, a part":               {answer: sample("refunded", refundedPart), status: paid, amount: "48.66", refunded: "8.66", code: "paid:creditcard/visa"},
		"refunded, and the list says so": {answer: sample("paid", changed(`"refunded":0`, `"refunded":866`)), status: paid, amount: "48.66", refunded: "8.66", code: "paid:creditcard/visa"},
		"paid twice": {
			answer: sample("paid", samplePayment, changed("611c028e", "711c028e")), status: paid, amount: "48.66",
			code: "paid:creditcard/visa", paidAt: "2023-04-16T18:27:10.251Z",
		},
		"the invoice says when": {
			answer: strings.Replace(sample("paid", samplePayment), `"back_url":null`, `"paid_at":"2023-04-16T18:27:09.000Z"`, 1),
			status: paid, amount: "48.66", code: "paid:creditcard/visa", paidAt: "2023-04-16T18:27:09.000Z",
		},

		"paid without a payment":    {answer: sample("paid")},
		"refunded without one":      {answer: sample("refunded", declined)},
		"an unknown payment status": {answer: sample("paid", status("teleported"))},
		"an unknown invoice status": {answer: sample("teleported")},
		"more refunded than paid":   {answer: sample("paid", changed(`"refunded":0`, `"refunded":4867`))},
		"a negative refund":         {answer: sample("paid", changed(`"refunded":0`, `"refunded":-1`))},
		"more captured than paid":   {answer: sample("paid", changed(`"captured":0`, `"captured":4867`))},
		"nothing was paid":          {answer: sample("paid", changed("4866", "0"))},
		"a payment of another one":  {answer: sample("paid", changed("73bda482", "83bda482"))},
		"a currency that is none":   {answer: sample("paid", changed(`"SAR"`, `"S"`))},
		"no exact amount":           {answer: sample("paid", changed(`"SAR"`, `"KWD"`))},
		"a payment without an id":   {answer: sample("paid", changed("611c028e-855c-425c-a4eb-ce1e06680000", ""))},
		"a payment as text":         {answer: sample("paid", `"paid"`)},
		"another invoice":           {answer: strings.Replace(sample("initiated"), `"id":"73bda482`, `"id":"83bda482`, 1)},
		"not ours":                  {answer: strings.Replace(sample("initiated"), reference, "order 7", 1)},
		"a reference in braces":     {answer: strings.Replace(sample("initiated"), reference, "{"+reference+"}", 1)},
		"metadata as a list":        {answer: strings.Replace(sample("initiated"), `{"merchant_reference":"`+reference+`","number":7}`, `[]`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, err := driverFor(t, respond(200, test.answer)).
				ReadCheckout(t.Context(), gateways.CheckoutRef{ID: "73bda482-5f95-4f59-87d3-3fe3615c54bc"})
			if test.status == "" {
				requireKind(t, gateways.KindUnknown, err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, test.status, c.Status)
			require.Equal(t, test.amount, c.Amount.String())
			require.Equal(t, "SAR", c.Currency)
			require.Equal(t, test.code, c.ResultCode)
			require.Equal(t, test.reason, c.FailureReason)
			require.Equal(t, uuid.MustParse(reference), c.MerchantReference)

			if test.refunded == "" {
				test.refunded = "0.00"
			}

			require.Equal(t, test.refunded, c.RefundedAmount.String())

			if test.paidAt == "" {
				require.Nil(t, c.PaidAt)
			} else {
				require.Equal(t, test.paidAt, c.PaidAt.Format("2006-01-02T15:04:05.000Z"))
			}
		})
	}
}

// The payments of the company's own PHP library, in an invoice of ours: github.com/moyasar/moyasar-php tests/raw-responses/payment.
// Their source tells what the customer paid with.
func TestSources(t *testing.T) {
	t.Parallel()

	for source, code := range map[string]string{
		`{"type":"applepay","company":"mada","name":null,"number":"XXXX-XXXX-XXXX-4352","reference_number":"125478454231","message":"APPROVED"}`:        "paid:applepay/mada",
		`{"type":"stcpay","mobile":"055xxxxxxx","reference_number":"32843287468","branch":null,"cashier":null,"message":"Paid"}`:                        "paid:stcpay",
		`{"type":"creditcard","company":"visa","name":"Power Rangers","number":"XXXX-XXXX-XXXX-1111","message":"Succeeded!"}`:                           "paid:creditcard/visa",
		`{"type":"sadadbill","provider_name":"Rosom-رسوم","biller_code":"901","sadad_number":"1234567890123","expired_at":"2026-08-15","message":null}`: "paid:sadadbill",
		`{"type":"creditcard","company":"a very odd company","response_code":0}`:                                                                        "paid:creditcard:0",
		`{"response_code":null}`: "paid",
	} {
		answer := fmt.Sprintf(`{"id":"i1","status":"paid","amount":100,"currency":"SAR","url":"https://checkout.moyasar.com/invoices/i1",
			"metadata":{"merchant_reference":%q},"payments":[{"id":"p1","status":"paid","amount":100,"currency":"SAR","source":%s}]}`,
			reference, source)

		c, err := driverFor(t, respond(200, answer)).ReadCheckout(t.Context(), gateways.CheckoutRef{ID: "i1"})
		require.NoError(t, err)
		require.Equal(t, code, c.ResultCode)
		require.Nil(t, c.PaidAt, "no time is told")
		require.Equal(t, time.Time{}, c.ExpiresAt)
	}
}

// TestPaidTwice: each of the payments that took money has its own answer, the first unless another one is named.
func TestPaidTwice(t *testing.T) {
	t.Parallel()

	const first, second = "611c028e-855c-425c-a4eb-ce1e06680000", "711c028e-855c-425c-a4eb-ce1e06680000"

	later := changed("611c028e", "711c028e", "18:27:04", "19:27:04", "18:27:10", "19:27:10", `"amount":4866`, `"amount":4800`,
		`"refunded":0`, `"refunded":100`, `"status":"paid"`, `"status":"captured"`, `"captured_at":null`,
		`"captured_at":"2023-04-16T19:27:10.251Z"`)
	driver := driverFor(t, respond(200, sample("paid", later, samplePayment)))

	for id, want := range map[string]struct{ id, other, amount, refunded string }{
		"":     {first, second, "48.66", "0.00"},
		first:  {first, second, "48.66", "0.00"},
		second: {second, first, "48.00", "1.00"},
	} {
		c, err := driver.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: invoiceID, PaymentID: id})
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutPaid, c.Status)
		require.Equal(t, want.id, c.PaymentID)
		require.Equal(t, want.amount, c.Amount.String())
		require.Equal(t, want.refunded, c.RefundedAmount.String())
		require.Len(t, c.Others, 1)
		require.Equal(t, want.other, c.Others[0].PaymentID)
		require.NotNil(t, c.Others[0].PaidAt)
	}

	gone, err := driver.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: invoiceID, PaymentID: "811c028e"})
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutCanceled, gone.Status, "what another payment took is not its money")
	require.Empty(t, gone.Others)
}
