package moyasar_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	moyasarsim "rihla/gateways/simulator/moyasar"
	"rihla/models"
)

const invoiceID = "73bda482-5f95-4f59-87d3-3fe3615c54bc"

func refundRequest(amount, before string) gateways.RefundRequest {
	return gateways.RefundRequest{
		Checkout:          gateways.CheckoutRef{ID: invoiceID, MerchantReference: uuid.MustParse(reference)},
		MerchantReference: uuid.New(), Amount: models.MustMoney(amount), Currency: "SAR", RefundedBefore: models.MustMoney(before),
	}
}

// TestRefundsThatAreNotSent: what is known beforehand to be no refund, or perhaps made already, costs no POST.
func TestRefundsThatAreNotSent(t *testing.T) {
	t.Parallel()

	sadad := changed(`"type":"creditcard","company":"visa"`, `"type":"sadadbill"`)
	other := refundRequest("1.00", "0.00")
	other.Checkout.MerchantReference = uuid.New()
	dollars := refundRequest("1.00", "0.00")
	dollars.Currency = "USD"

	for name, test := range map[string]struct {
		answer  string
		request gateways.RefundRequest
		kind    gateways.ErrorKind
		code    string
	}{
		"unpaid":              {sample("initiated"), refundRequest("1.00", "0.00"), gateways.KindRejected, "not_paid"},
		"voided":              {sample("voided", status("voided")), refundRequest("1.00", "0.00"), gateways.KindRejected, "payment_voided"},
		"by SADAD":            {sample("paid", sadad), refundRequest("1.00", "0.00"), gateways.KindRejected, "sadad"},
		"too much":            {sample("paid", samplePayment), refundRequest("48.67", "0.00"), gateways.KindRejected, "refund_exceeds_paid"},
		"another currency":    {sample("paid", samplePayment), dollars, gateways.KindRejected, "currency"},
		"another reference":   {sample("paid", samplePayment), other, gateways.KindRejected, "other_checkout"},
		"nothing":             {sample("paid", samplePayment), refundRequest("0.00", "0.00"), gateways.KindRejected, "amount"},
		"more was given back": {sample("refunded", changed(`"refunded":0`, `"refunded":100`)), refundRequest("1.00", "0.00"), gateways.KindInProgress, "refunded_meanwhile"},
		"less was given back": {sample("paid", samplePayment), refundRequest("1.00", "5.00"), gateways.KindInProgress, "refunded_meanwhile"},
	} {
		var posts atomic.Int32

		driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				posts.Add(1)
			}

			respond(200, test.answer)(w, r)
		})

		_, err := driver.CreateRefund(t.Context(), test.request)
		require.Error(t, err, name)
		requireKind(t, test.kind, err)
		require.ErrorContains(t, err, "("+test.code+")", name)
		require.Zero(t, posts.Load(), name)
	}
}

// TestRefundIsBelievedOnlyIfItAddsUp: the answer is the payment, with the sum that it has given back.
func TestRefundIsBelievedOnlyIfItAddsUp(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		after string
		good  bool
	}{
		"as asked":            {changed(`"refunded":0`, `"refunded":100`), true},
		"with another status": {changed(`"refunded":0`, `"refunded":100`, `"status":"paid"`, `"status":"refunded"`), true},
		"nothing":             {samplePayment, false},
		"more":                {changed(`"refunded":0`, `"refunded":200`), false},
		"of another payment":  {changed(`"refunded":0`, `"refunded":100`, "611c028e", "711c028e"), false},
		"another currency":    {changed(`"refunded":0`, `"refunded":100`, `"currency":"SAR"`, `"currency":"USD"`), false},
	} {
		driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				respond(200, test.after)(w, r)
			} else {
				respond(200, sample("paid", samplePayment))(w, r)
			}
		})

		request := refundRequest("1.00", "0.00")
		r, err := driver.CreateRefund(t.Context(), request)

		if !test.good {
			require.Error(t, err, name)
			requireKind(t, gateways.KindUnknown, err)

			continue
		}

		require.NoError(t, err, name)
		require.Equal(t, gateways.Refund{
			CheckoutID: invoiceID, MerchantReference: request.MerchantReference, Amount: request.Amount, Currency: "SAR",
			Status: gateways.RefundSucceeded,
		}, r)
	}
}

// TestRefundOfTheRightPayment: of two payments the one that is named gives its money back, and what the other has given back counts for
// nothing.
func TestRefundOfTheRightPayment(t *testing.T) {
	t.Parallel()

	spent := changed(`"refunded":0`, `"refunded":4866`, `"status":"paid"`, `"status":"refunded"`)
	second := changed("611c028e", "711c028e")

	var path string

	driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			path = r.URL.Path
			respond(200, changed("611c028e", "711c028e", `"refunded":0`, `"refunded":4866`))(w, r)
		} else {
			respond(200, sample("paid", spent, second))(w, r)
		}
	})

	request := refundRequest("48.66", "0.00")
	request.Checkout.PaymentID = "711c028e-855c-425c-a4eb-ce1e06680000"
	_, err := driver.CreateRefund(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "/v1/payments/711c028e-855c-425c-a4eb-ce1e06680000/refund", path)

	_, err = driver.ReadRefund(t.Context(), request.Ref())
	requireKind(t, gateways.KindNotFound, err)

	for _, id := range []string{"", "611c028e-855c-425c-a4eb-ce1e06680000", "811c028e-855c-425c-a4eb-ce1e06680000"} {
		path = ""
		first := refundRequest("48.66", "48.66")
		first.Checkout.PaymentID = id
		_, err = driver.CreateRefund(t.Context(), first)
		requireKind(t, gateways.KindRejected, err)
		require.Empty(t, path, "nothing was sent for %q", id)
	}
}

// TestRefundBySum: what was given back since the order is the refund, whatever it is.
func TestRefundBySum(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		answer, before string
		found          string // "": KindNotFound
	}{
		"nothing":               {sample("paid", samplePayment), "0.00", ""},
		"nothing more":          {sample("paid", changed(`"refunded":0`, `"refunded":100`)), "1.00", ""},
		"just that":             {sample("paid", changed(`"refunded":0`, `"refunded":300`)), "1.00", "2.00"},
		"another amount":        {sample("paid", changed(`"refunded":0`, `"refunded":301`)), "1.00", "2.01"},
		"less than before":      {sample("paid", samplePayment), "1.00", "-1.00"},
		"an unpaid invoice":     {sample("initiated"), "0.00", ""},
		"a voided payment":      {sample("voided", status("voided")), "1.00", ""},
		"all, without a status": {sample("paid", changed(`"refunded":0`, `"refunded":4866`)), "0.00", "48.66"},
	} {
		request := refundRequest("2.00", test.before)
		r, err := driverFor(t, respond(200, test.answer)).ReadRefund(t.Context(), request.Ref())

		if test.found == "" {
			require.Error(t, err, name)
			requireKind(t, gateways.KindNotFound, err)

			continue
		}

		require.NoError(t, err, name)
		require.Equal(t, test.found, r.Amount.String(), name)
		require.Equal(t, gateways.RefundSucceeded, r.Status, name)
	}
}

// TestSadadIsNotRefunded: a customer may pay an invoice of any method by SADAD.
func TestSadadIsNotRefunded(t *testing.T) {
	t.Parallel()

	b := setup(t, moyasarsim.Settings{})
	request := gatewaytest.Request()
	request.Method = models.MethodBillPayment
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Pay(t, c)

	refund := refundRequest("1.00", "0.00")
	refund.Checkout = gatewaytest.RefOf(request, c)
	_, err = b.driver.CreateRefund(t.Context(), refund)
	requireKind(t, gateways.KindRejected, err)

	status, answer := b.Do(t, http.MethodPost, "/v1/payments/"+paymentOf(t, b, c.ID)+"/refund", "")
	require.Equal(t, http.StatusBadRequest, status, answer)
}

// paymentOf is the id of the payment of an invoice.
func paymentOf(t *testing.T, b *bundle, invoice string) string {
	t.Helper()

	_, answer := b.Do(t, http.MethodGet, "/v1/invoices/"+invoice, "")
	_, payments, _ := strings.Cut(answer, `"payments":[{"id":"`)
	id, _, found := strings.Cut(payments, `"`)
	require.True(t, found, answer)

	return id
}
