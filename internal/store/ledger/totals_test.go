package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// The totals of a filter are what the entries of its list add up to, each halala of them.
func TestRecordTotals(t *testing.T) {
	t.Parallel()
	b := setup(t)

	today := models.DateIn(time.Now())
	partly, owed := b.Paid(t, 3), b.Paid(t, 1)
	advertised := b.OpenCampaign(t, b.Campaign(t, today, today.AddDays(3)), 1)
	b.Deliver(t, bookstest.Event(advertised, models.EventPaymentSucceeded, nil))
	b.Settle(t, advertised, time.Now())

	line, reference := b.entryOf(t, partly), "TRF-77"
	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{Reference: &reference})
	require.NoError(t, err)

	b.Refund(t, partly, bookstest.Amount("100.01")) // a refunded entry, a rest that is transferred, and a claw-back

	for what, f := range map[string]ledger.RecordFilter{
		"everything": {}, "a company": {ProviderID: b.Provider.ID}, "another company": {ProviderID: uuid.New()},
		"a booking": {BookingID: *owed.BookingID}, "a campaign": {AdCampaignID: *advertised.AdCampaignID},
		"owed": {BalanceStatus: models.BalanceInCurrent}, "transferred": {BalanceStatus: models.BalanceTransferred},
		"refunded": {BalanceStatus: models.BalanceRefunded}, "today": {Days: models.Days{From: today, To: today}},
		"before": {Days: models.Days{To: today.AddDays(-1)}}, "a number": {Search: line.TransactionNumber}, "all numbers": {Search: "rh-"},
		"a reference": {Search: "trf-77"}, "a name": {Search: b.Provider.Name, BalanceStatus: models.BalanceInCurrent}, "nothing": {Search: "%"},
	} {
		f.Page = db.Page{PerPage: 100}
		list, err := b.Store.Ledger.ListRecords(t.Context(), f)
		require.NoError(t, err, what)

		want := models.RecordTotals{}
		for _, r := range list.Items {
			sum := want[r.BalanceStatus]
			sum.Lines++
			sum.Gross, sum.Commission = sum.Gross.Add(r.GrossAmount), sum.Commission.Add(r.PlatformCommissionAmount)
			sum.Net, sum.Refunded = sum.Net.Add(r.NetAmount), sum.Refunded.Add(r.RefundedAmount)
			sum.VAT = sum.VAT.Add(r.VATAmount)
			want[r.BalanceStatus] = sum
		}

		got, err := b.Store.Ledger.RecordTotals(t.Context(), f)
		require.NoError(t, err, what)
		require.Equal(t, list.Total, got.All().Lines, what)
		require.Len(t, got, len(want), what)

		for status, sum := range want {
			require.Equal(t, texts(sum), texts(got[status]), "%s: %s", what, status)
		}
	}

	all, err := b.Store.Ledger.RecordTotals(t.Context(), ledger.RecordFilter{})
	require.NoError(t, err)
	require.Len(t, all, 3, "of each state there is something")
	require.Equal(t, "100.01", all.All().Refunded.String())
	require.EqualValues(t, 5, all.All().Lines)
	require.True(t, all[models.BalanceInCurrent].Net.Equal(all.All().Net.Sub(all[models.BalanceTransferred].Net).Sub(all[models.BalanceRefunded].Net)))
}

func texts(t models.RecordTotal) []string {
	return []string{t.Gross.String(), t.Commission.String(), t.Net.String(), t.Refunded.String()}
}
