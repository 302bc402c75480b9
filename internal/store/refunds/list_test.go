package refunds_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Refunds are found by what people know: the booking's number, who travels, the phone, the payout's reference, company, payment and day.
func TestListRefundsFinds(t *testing.T) {
	t.Parallel()
	b := setup(t)

	paid := b.PaidBill(t)
	b.Exec(t, "UPDATE bookings SET contact_name = 'نورة القحطاني', contact_phone = '+966512345678' WHERE id = $1", paid.BookingID)

	byHand := b.Ask(paid, "60.00")
	b.Reserve(t, byHand)
	b.Decide(t, bookstest.PaidOut(byHand.ID, "SARIE-4711"), models.RoleAdmin)

	other := b.Paid(t, 1)
	b.Refund(t, other, bookstest.Amount("10.00"))

	today := models.DateIn(time.Now())
	number := b.BookingNow(t, *paid.BookingID).Number

	for name, f := range map[string]refunds.RefundFilter{
		"number":           {Search: number},
		"name":             {Search: "القحطاني نوره"},
		"phone":            {Search: "0512345678"},
		"payout reference": {Search: "sarie-47"},
		"refund":           {Search: byHand.ID.String()},
		"payment":          {TransactionID: paid.ID},
		"company and name": {Search: number, ProviderID: paid.ProviderID, Days: models.Days{From: today, To: today}},
	} {
		list, err := b.Store.Refunds.ListRefunds(t.Context(), f)
		require.NoError(t, err, name)
		require.Len(t, list.Items, 1, name)
		require.EqualValues(t, 1, list.Total, name)

		r := list.Items[0]
		require.Equal(t, byHand.ID, r.ID, name)
		require.Equal(t, []string{"Test Tours", "نورة القحطاني"}, []string{r.ProviderName, r.CustomerName})
		require.Equal(t, paid.ProviderID, *r.ProviderID)
		require.NotEmpty(t, r.TripTitle)
	}

	for name, f := range map[string]refunds.RefundFilter{
		"another company": {ProviderID: uuid.New()},
		"yesterday":       {Days: models.Days{To: today.AddDays(-1)}},
		"nobody":          {Search: "nobody is called so"},
		"another payment": {TransactionID: uuid.New()},
	} {
		list, err := b.Store.Refunds.ListRefunds(t.Context(), f)
		require.NoError(t, err, name)
		require.Empty(t, list.Items, name)
	}

	all, err := b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{ProviderID: paid.ProviderID})
	require.NoError(t, err)
	require.Len(t, all.Items, 2)

	_, err = b.Store.Refunds.ListRefunds(t.Context(), refunds.RefundFilter{Search: "RB-0000001"})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

// The second person who decides about a refund sees what its requester saw; nothing is written, and nothing is left to see once it has ended.
func TestPreviewOrdered(t *testing.T) {
	t.Parallel()
	b := setup(t, bookstest.Strict())

	r := b.waiting(t, b.Paid(t, 1))
	before := b.Fingerprint(t)

	got, err := b.Store.Refunds.PreviewOrdered(t.Context(), r.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, before, b.Fingerprint(t))
	require.True(t, got.NeedsApproval)
	require.Equal(t, b.refundNow(t, r).Amount, got.Amount)
	require.NotNil(t, got.Line)
	require.NotEmpty(t, got.Split.Transfers)

	t0 := b.Transaction(t, got.TransactionID)
	require.Equal(t, t0.Remaining(), got.Remaining, "it is reserved already")

	b.DecideApproval(t, bookstest.Disapproved(r.ID, "no"), models.RoleAdmin)
	b.SettleRefund(t, r, models.RefundResult{Status: models.RefundPending})
	_, err = b.Store.Refunds.PreviewOrdered(t.Context(), r.ID, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	_, err = b.Store.Refunds.PreviewOrdered(t.Context(), uuid.New(), time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// An incident about money names the step that puts it right, and says when it is made.
func TestRepairsOfIncidents(t *testing.T) {
	t.Parallel()
	b := setup(t)

	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	reported := tx
	reported.Amount = models.MustMoney("1.00")
	b.Report(t, reported, models.EventPaymentSucceeded)

	repair := func() *models.Repair {
		all := b.Incidents(t)
		require.Len(t, all, 1)
		require.NotContains(t, all[0].Message, "/api/", "for people, not programs")

		got, err := b.Store.Refunds.Repairs(t.Context(), all)
		require.NoError(t, err)

		return got[all[0].ID]
	}

	require.Equal(t, &models.Repair{
		Kind: models.RepairRefundPayment, State: models.RepairDue, Amount: models.MustMoney("1.00"), Currency: "SAR", TransactionID: tx.ID,
	}, repair())

	request := models.RefundRequest{
		ID: uuid.New(), TransactionID: tx.ID, BookingID: *tx.BookingID, Type: models.RefundFull, RequestedBy: &b.Finance.UserID, Role: models.RoleFinanceAdmin,
	}
	b.Reserve(t, request)
	require.Equal(t, models.RepairUnderWay, repair().State)

	b.SettleRefund(t, request, bookstest.Granted(request))
	require.Equal(t, models.RepairDone, repair().State)
	require.Equal(t, request.ID, *repair().RefundID)
}
