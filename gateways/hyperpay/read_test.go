package hyperpay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/hyperpay"
	hyperpaysim "rihla/gateways/simulator/hyperpay"
	"rihla/models"
)

// TestStates: what the status of a checkout and the report say, soon after it was opened and later.
func TestStates(t *testing.T) {
	t.Parallel()

	const (
		soon  = time.Minute
		late  = 36 * time.Minute // half an hour, and what the report lags
		later = 70 * time.Minute
	)

	gone, none := saying(400, "200.300.404"), saying(404, "700.400.580")
	declined := strings.Replace(item("DB", "800.100.152"), `"amount":"92.00","currency":"SAR",`, "", 1)

	for name, test := range map[string]struct {
		ago            time.Duration
		status, report answer
		want           gateways.CheckoutStatus
		kind           gateways.ErrorKind // of an error, when want is empty
		live           bool
	}{
		"nobody has paid yet":                      {ago: soon, status: saying(200, "000.200.000"), report: none, want: gateways.CheckoutOpen},
		"paid":                                     {ago: soon, status: answer{200, item("DB", "000.000.000"), ""}, report: none, want: gateways.CheckoutPaid},
		"paid, to be reviewed":                     {ago: soon, status: answer{200, item("DB", "000.400.100"), ""}, report: none, want: gateways.CheckoutPaid},
		"paid, and charged back since":             {ago: later, status: gone, report: reported(item("DB", "000.100.220")), want: gateways.CheckoutPaid},
		"paid, told with 400":                      {ago: soon, status: answer{400, item("DB", "000.000.000"), ""}, report: none, want: gateways.CheckoutPaid},
		"a test's success when live":               {ago: soon, status: answer{200, item("DB", "000.100.110"), ""}, report: none, live: true},
		"a test's success in the report when live": {ago: later, status: gone, report: reported(item("DB", "000.100.112")), live: true},
		"authorized only":                          {ago: soon, status: answer{200, item("PA", "000.000.000"), ""}, report: none},
		"paid, of another reference":               {ago: soon, status: answer{200, strings.Replace(item("DB", "000.000.000"), reference, "x", 1), ""}, report: none},
		"paid, without an amount":                  {ago: soon, status: answer{200, strings.Replace(item("DB", "000.000.000"), "92.00", "", 1), ""}, report: none},
		"a success of nothing":                     {ago: soon, status: saying(200, "000.000.000"), report: none},
		"declined":                                 {ago: soon, status: answer{400, declined, ""}, report: none, want: gateways.CheckoutOpen},
		"declined, and it is over":                 {ago: late, status: answer{400, declined, ""}, report: reported(declined), want: gateways.CheckoutFailed},
		"declined, then paid":                      {ago: late, status: answer{400, declined, ""}, report: reported(declined, item("DB", "000.000.000"), declined), want: gateways.CheckoutPaid},
		"gone, paid":                               {ago: late, status: gone, report: reported(item("DB", "000.000.000")), want: gateways.CheckoutPaid},
		"gone soon, and not reported yet":          {ago: soon, status: gone, report: none, kind: gateways.KindNotFound},
		"gone, unpaid":                             {ago: late, status: gone, report: none, want: gateways.CheckoutExpired},
		"gone, nothing but a refund of the name":   {ago: late, status: gone, report: reported(item("RF", "000.000.000")), want: gateways.CheckoutExpired},
		"gone, a payment of another reference":     {ago: late, status: gone, report: reported(strings.Replace(item("DB", "000.000.000"), reference, "x", 1)), want: gateways.CheckoutExpired},
		"never more than pending":                  {ago: later, status: saying(200, "000.200.000"), report: none, want: gateways.CheckoutExpired},
		"begun, and left at the bank":              {ago: later, status: gone, report: reported(item("DB", "000.200.000")), want: gateways.CheckoutExpired},
		"begun just before it was over":            {ago: late, status: gone, report: reported(item("DB", "000.200.000")), want: gateways.CheckoutOpen},
		"waits for days":                           {ago: later, status: gone, report: reported(item("DB", "800.400.500")), want: gateways.CheckoutOpen},
		"a communication error":                    {ago: later, status: gone, report: reported(item("DB", "900.100.300"))},
		"a communication error, but it goes on":    {ago: soon, status: gone, report: reported(item("DB", "900.100.300")), want: gateways.CheckoutOpen},
		"throttled, paid":                          {ago: soon, status: saying(429, "800.120.100"), report: reported(item("DB", "000.000.000")), want: gateways.CheckoutPaid},
		"throttled, and not reported yet":          {ago: soon, status: saying(429, "800.120.100"), report: none, kind: gateways.KindRateLimited},
		"throttled twice":                          {ago: soon, status: saying(400, "800.120.100"), report: saying(429, "800.120.100"), kind: gateways.KindRateLimited},
		"the report may not be read":               {ago: late, status: gone, report: saying(403, "800.900.303"), kind: gateways.KindUnauthorized},
		"the report is refused":                    {ago: late, status: gone, report: saying(400, "200.300.405"), kind: gateways.KindRejected},
		"a report without a list":                  {ago: late, status: gone, report: saying(200, "000.000.100")},
		"a report with something else":             {ago: late, status: gone, report: reported(`{"a":1}`)},
		"a report that is no answer":               {ago: late, status: gone, report: answer{200, `{}`, ""}},
		"a status that is refused, and paid":       {ago: soon, status: saying(400, "100.390.112"), report: reported(item("DB", "000.000.000")), want: gateways.CheckoutPaid},
		"a status that is refused, and it is over": {ago: late, status: saying(400, "100.390.112"), report: none, want: gateways.CheckoutExpired},
		"a status that is refused":                 {ago: soon, status: saying(400, "600.200.500"), report: none, kind: gateways.KindRejected},
		"a system error of the company":            {ago: soon, status: saying(400, "999.999.999"), report: none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &script{answers: map[string]answer{statusPath: test.status, reportPath: test.report}}
			d := scripted(t, s, func(c *hyperpay.Config) { c.Live = test.live })

			c, err := d.ReadCheckout(t.Context(), ref(test.ago))
			if test.want == "" {
				require.Error(t, err, "%+v", c)
				require.Equal(t, test.kind, gateways.KindOf(err), "%v", err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, test.want, c.Status)
			require.Equal(t, checkout, c.ID)
			require.Equal(t, reference, c.MerchantReference.String())

			if c.Status == gateways.CheckoutPaid {
				require.NotEmpty(t, c.ResultCode)
				require.Empty(t, c.FailureReason)
				require.Equal(t, time.Date(2026, 11, 24, 10, 0, 0, 123e6, time.UTC), *c.PaidAt)
			}
		})
	}
}

// TestPaidOtherwise: the amount and the currency of a paid checkout are those that the company took, not what was asked for.
func TestPaidOtherwise(t *testing.T) {
	t.Parallel()

	other := strings.NewReplacer("92.00", "0000012", "SAR", "USD").Replace(item("DB", "000.000.000"))
	d := scripted(t, &script{answers: map[string]answer{statusPath: {200, other, ""}}})

	c, err := d.ReadCheckout(t.Context(), ref(time.Minute))
	require.NoError(t, err)
	require.Equal(t, "12.00", c.Amount.String())
	require.Equal(t, "USD", c.Currency)
}

// TestWhatWentBack: refunds that succeeded or may yet, and reversals; of this payment.
func TestWhatWentBack(t *testing.T) {
	t.Parallel()

	of := func(kind, code, amount, payment string) string {
		return strings.NewReplacer("92.00", amount, `"timestamp"`, `"referencedId":"`+payment+`","timestamp"`).Replace(item(kind, code))
	}

	s := &script{answers: map[string]answer{
		statusPath: {200, item("DB", "000.000.000"), ""},
		"GET /v1/query/" + payment: reported(item("DB", "000.000.000"), of("RF", "000.000.000", "10.00", payment),
			of("RF", "000.200.000", "5.00", payment), of("RF", "800.100.152", "7.00", payment), of("RF", "000.000.000", "3.00", "another"),
			of("CB", "000.100.220", "92.00", payment), of("RV", "000.000.000", "1.00", payment)),
	}}

	c, err := scripted(t, s).ReadCheckout(t.Context(), ref(time.Minute))
	require.NoError(t, err)
	require.Equal(t, "16.00", c.RefundedAmount.String())

	s.answers["GET /v1/query/"+payment] = saying(429, "800.120.100")
	c, err = scripted(t, s).ReadCheckout(t.Context(), ref(time.Minute))
	require.NoError(t, err, "that it was paid is not lost with it")
	require.Equal(t, gateways.CheckoutPaid, c.Status)
}

// TestFoundWithoutAnID: a payment is found by our reference, with the checkout's id where the report tells it.
func TestFoundWithoutAnID(t *testing.T) {
	t.Parallel()

	lost := ref(time.Minute)
	lost.ID = ""

	d := scripted(t, &script{answers: map[string]answer{reportPath: reported(item("DB", "000.000.000"))}})
	c, err := d.ReadCheckout(t.Context(), lost)
	require.NoError(t, err)
	require.Equal(t, checkout, c.ID)

	call := strings.Replace(item("DB", "000.000.000"), checkout, payment+"_"+payment, 1)
	d = scripted(t, &script{answers: map[string]answer{reportPath: reported(call)}})
	c, err = d.ReadCheckout(t.Context(), lost)
	require.NoError(t, err)
	require.Equal(t, payment, c.ID, "at least the payment's")

	lost.CreatedAt = time.Now().Add(-24 * time.Hour)
	_, err = scripted(t, &script{}).ReadCheckout(t.Context(), lost)
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err), "nobody has ever seen its id")
}

// TestOpenedLate: without the time of opening a checkout may have been opened half an hour after its attempt.
func TestOpenedLate(t *testing.T) {
	t.Parallel()

	s := &script{answers: map[string]answer{statusPath: saying(200, "000.200.000")}}
	r := ref(40 * time.Minute)
	r.OpenedAt = time.Time{}

	c, err := scripted(t, s).ReadCheckout(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutOpen, c.Status)

	r.OpenedAt = r.CreatedAt
	c, err = scripted(t, s).ReadCheckout(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutExpired, c.Status)

	r.Method = models.MethodWalletA
	_, err = scripted(t, s).ReadCheckout(t.Context(), r)
	require.Equal(t, gateways.KindRejected, gateways.KindOf(err))
}

// TestReportThatIsAskedTooOften: what went back is compared all the same, and the answer says that it may lack further payments.
func TestReportThatIsAskedTooOften(t *testing.T) {
	t.Parallel()

	b := setup(t, hyperpaysim.Settings{Throttled: true}, "")
	c, ref := b.Opened(t)
	b.Pay(t, c)

	paid, err := b.driver.ReadCheckout(t.Context(), ref)
	require.NoError(t, err)

	ref.PaymentID = paid.PaymentID
	b.PayAgain(t, c)

	for _, unread := range []bool{false, false, true} {
		now, err := b.driver.ReadCheckout(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutPaid, now.Status)
		require.Equal(t, unread, now.OthersUnread)
		require.Equal(t, !unread, len(now.Others) == 1)
	}
}
