package refunds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// What came back cannot have been paid out before that, although the payment is older.
func TestDayOfAPayoutOfWhatCameBack(t *testing.T) {
	t.Parallel()

	today := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	taken, returned := today.AddDate(0, 0, -9), today.AddDate(0, 0, -2)
	payment := models.PaymentTransaction{CapturedAt: &taken}

	for name, test := range map[string]struct {
		refund models.Refund
		ago    int // days
		ok     bool
	}{
		"manual, long ago":             {models.Refund{}, 9, true},
		"manual, before the payment":   {models.Refund{}, 10, false},
		"came back, on that day":       {models.Refund{ReturnedAt: &returned}, 2, true},
		"came back, the day before it": {models.Refund{ReturnedAt: &returned}, 3, false},
		"tomorrow":                     {models.Refund{ReturnedAt: &returned}, -1, false},
	} {
		day := models.DateIn(today).AddDays(-test.ago)
		err := datePayout(&models.RefundPayout{Decision: models.PayoutPaid, PaidOutOn: &day}, &test.refund, &payment, today)
		require.Equal(t, test.ok, err == nil, "%s: %v", name, err)
	}
}
