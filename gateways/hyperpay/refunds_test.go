package hyperpay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

const (
	refundReference = "0190a1b2-c3d4-7e5f-8a9b-ffffffffffff"
	refundID        = "8ac7a4a277bb37680177ca9e266d3192"
	refundPath      = "POST /v1/payments/" + payment
)

// back is a refund as the company tells it.
func back(code string) string {
	return strings.NewReplacer(payment, refundID, reference, refundReference, "92.00", "12.00", checkout, payment+"_"+refundID,
		`"timestamp"`, `"referencedId":"`+payment+`","timestamp"`).Replace(item("RF", code))
}

func refundRequest(ago time.Duration) gateways.RefundRequest {
	return gateways.RefundRequest{
		Checkout: ref(ago), MerchantReference: uuid.MustParse(refundReference), Amount: models.MustMoney("12.00"), Currency: "SAR",
		Reason: "why",
	}
}

func TestRefundOnTheWire(t *testing.T) {
	t.Parallel()

	s := &script{answers: map[string]answer{
		statusPath: saying(400, "200.300.404"), reportPath: reported(item("DB", "000.000.000")), refundPath: {200, back("000.000.000"), ""},
	}}
	d := scripted(t, s)

	for range 2 {
		f, err := d.CreateRefund(t.Context(), refundRequest(time.Hour))
		require.NoError(t, err)
		require.Equal(t, gateways.Refund{
			ID: refundID, CheckoutID: checkout, MerchantReference: uuid.MustParse(refundReference), Amount: models.MustMoney("12.00"),
			Currency: "SAR", Status: gateways.RefundSucceeded,
		}, f)
	}

	require.Equal(t, "RF", s.form.Get("paymentType"))
	require.Equal(t, "12.00", s.form.Get("amount"))
	require.Equal(t, "SAR", s.form.Get("currency"))
	require.Equal(t, refundReference, s.form.Get("merchantTransactionId"))
	require.Equal(t, []string{reportPath, refundPath, refundPath}, s.asked, "the payment's id never changes")
}

func TestRefundStates(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		answer answer
		want   gateways.RefundStatus
		kind   gateways.ErrorKind // of an error, when want is empty
	}{
		"given back":               {answer: answer{200, back("000.000.000"), ""}, want: gateways.RefundSucceeded},
		"to be reviewed":           {answer: answer{200, back("000.400.000"), ""}, want: gateways.RefundSucceeded},
		"later":                    {answer: answer{200, back("000.200.000"), ""}, want: gateways.RefundPending},
		"in days":                  {answer: answer{200, back("800.400.500"), ""}, want: gateways.RefundPending},
		"more than was paid":       {answer: answer{400, back("700.400.200"), ""}, kind: gateways.KindRejected},
		"more, without a refund":   {answer: saying(400, "700.400.200"), kind: gateways.KindRejected},
		"another currency":         {answer: saying(400, "700.100.500"), kind: gateways.KindRejected},
		"not a success":            {answer: saying(400, "700.400.530"), kind: gateways.KindRejected},
		"still pending":            {answer: saying(400, "700.400.570"), kind: gateways.KindRejected},
		"no such payment":          {answer: saying(404, "700.400.580"), kind: gateways.KindRejected},
		"the bank declined it":     {answer: answer{200, back("800.100.152"), ""}, kind: gateways.KindRejected},
		"sent before":              {answer: saying(400, "800.110.100"), kind: gateways.KindInProgress},
		"a communication error":    {answer: answer{200, back("900.100.300"), ""}},
		"a system error":           {answer: answer{400, back("999.999.999"), ""}},
		"a success of nothing":     {answer: saying(200, "000.000.000")},
		"another type":             {answer: answer{200, strings.Replace(back("000.000.000"), `"RF"`, `"RV"`, 1), ""}},
		"another reference":        {answer: answer{200, strings.Replace(back("000.000.000"), refundReference, reference, 1), ""}},
		"another payment":          {answer: answer{200, strings.Replace(back("000.000.000"), `"referencedId":"8`, `"referencedId":"9`, 1), ""}},
		"without an amount":        {answer: answer{200, strings.Replace(back("000.000.000"), "12.00", "", 1), ""}},
		"throttled, nothing moved": {answer: saying(429, "800.120.100"), kind: gateways.KindRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := scripted(t, &script{answers: map[string]answer{statusPath: {200, item("DB", "000.000.000"), ""}, refundPath: test.answer}})
			f, err := d.CreateRefund(t.Context(), refundRequest(time.Minute))

			if test.want == "" {
				require.Error(t, err)
				require.Equal(t, test.kind, gateways.KindOf(err), "%v", err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, test.want, f.Status)
		})
	}
}

// TestRefundWithoutAPayment: what the report does not show yet is no refusal for good.
func TestRefundWithoutAPayment(t *testing.T) {
	t.Parallel()

	gone := saying(400, "200.300.404")

	for name, test := range map[string]struct {
		ago            time.Duration
		status, report answer
		want           gateways.ErrorKind
	}{
		"nobody has paid":            {time.Minute, saying(200, "000.200.000"), reported(), gateways.KindRejected},
		"declined":                   {time.Minute, answer{400, item("DB", "800.100.152"), ""}, reported(), gateways.KindRejected},
		"gone, not reported yet":     {time.Minute, gone, saying(404, "700.400.580"), gateways.KindUnknown},
		"gone, and never reported":   {time.Hour, gone, saying(404, "700.400.580"), gateways.KindRejected},
		"gone, nothing but declined": {time.Minute, gone, reported(item("DB", "800.100.152")), gateways.KindRejected},
		"throttled twice":            {time.Minute, saying(429, "800.120.100"), saying(429, "800.120.100"), gateways.KindRateLimited},
		"broken":                     {time.Minute, answer{502, "<html>", ""}, reported(), gateways.KindUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &script{answers: map[string]answer{statusPath: test.status, reportPath: test.report}}
			_, err := scripted(t, s).CreateRefund(t.Context(), refundRequest(test.ago))
			require.Error(t, err)
			require.Equal(t, test.want, gateways.KindOf(err), "%v", err)
			require.NotContains(t, s.asked, refundPath, "nothing was sent")
		})
	}
}

func TestFindingRefunds(t *testing.T) {
	t.Parallel()

	declined := strings.Replace(back("800.100.152"), `"amount":"12.00","currency":"SAR",`, "", 1)
	request := refundRequest(time.Hour).Ref()

	for name, test := range map[string]struct {
		report answer
		want   gateways.RefundStatus
		kind   gateways.ErrorKind
	}{
		"given back":             {report: reported(back("000.000.000")), want: gateways.RefundSucceeded},
		"declined, then given":   {report: reported(declined, back("000.000.000")), want: gateways.RefundSucceeded},
		"declined":               {report: reported(declined), want: gateways.RefundFailed},
		"pending":                {report: reported(declined, back("000.200.000")), want: gateways.RefundPending},
		"a communication error":  {report: reported(back("900.100.300"))},
		"a payment of the name":  {report: reported(strings.Replace(back("000.000.000"), `"RF"`, `"DB"`, 1)), kind: gateways.KindNotFound},
		"not there":              {report: saying(404, "700.400.580"), kind: gateways.KindNotFound},
		"another's":              {report: reported(strings.Replace(back("000.000.000"), refundReference, reference, 1)), kind: gateways.KindNotFound},
		"no code of the company": {report: reported(strings.Replace(back("000.000.000"), "000.000.000", "ok", 1))},
	} {
		d := scripted(t, &script{answers: map[string]answer{reportPath: test.report}})

		f, err := d.ReadRefund(t.Context(), request)
		if test.want == "" {
			require.Error(t, err, name)
			require.Equal(t, test.kind, gateways.KindOf(err), "%s: %v", name, err)

			continue
		}

		require.NoError(t, err, name)
		require.Equal(t, test.want, f.Status, name)
		require.Equal(t, "12.00", f.Amount.String(), name)
	}

	byID := request
	byID.ID = refundID

	for name, test := range map[string]struct {
		answer answer
		want   gateways.RefundStatus
		kind   gateways.ErrorKind
	}{
		"the transaction":         {answer: answer{200, back("000.000.000"), ""}, want: gateways.RefundSucceeded},
		"in a list":               {answer: reported(back("000.000.000")), want: gateways.RefundSucceeded},
		"another one's reference": {answer: answer{200, strings.Replace(back("000.000.000"), refundReference, reference, 1), ""}},
		"another id":              {answer: answer{200, strings.Replace(back("000.000.000"), refundID, payment, 1), ""}},
		"nothing":                 {answer: saying(200, "000.000.000")},
		"not there":               {answer: saying(404, "700.400.580"), kind: gateways.KindNotFound},
	} {
		d := scripted(t, &script{answers: map[string]answer{"GET /v1/query/" + refundID: test.answer}})

		f, err := d.ReadRefund(t.Context(), byID)
		require.Equal(t, test.want, f.Status, name)

		if test.want == "" {
			require.Error(t, err, name)
			require.Equal(t, test.kind, gateways.KindOf(err), "%s: %v", name, err)
		}
	}
}

func TestRefundsThatAreNotSent(t *testing.T) {
	t.Parallel()

	s := &script{}
	d := scripted(t, s)

	for name, change := range map[string]func(*gateways.RefundRequest){
		"nothing":            func(r *gateways.RefundRequest) { r.Amount = models.Money{} },
		"another currency":   func(r *gateways.RefundRequest) { r.Currency = "USD" },
		"a method not there": func(r *gateways.RefundRequest) { r.Checkout.Method = models.MethodWalletA },
	} {
		r := refundRequest(time.Hour)
		change(&r)

		_, err := d.CreateRefund(t.Context(), r)
		require.Equal(t, gateways.KindRejected, gateways.KindOf(err), name)
	}

	require.Empty(t, s.asked)
}
