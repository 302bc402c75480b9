package tripcancel_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

func (b *books) list(t *testing.T, f tripcancel.Filter) []tripcancel.Counted {
	t.Helper()

	list, err := b.Store.TripCancellations.List(t.Context(), f)
	require.NoError(t, err)
	require.EqualValues(t, len(list.Items), list.Total)

	return list.Items
}

// The list has all cancellations of all trips, each with the counts and the trip that it has by itself.
func TestListOfCancellations(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.TripCancellationAbove = models.MustMoney("200.00")
	b := setup(t, p)

	b.Paid(t, 1)

	done := b.order(t)
	require.Zero(t, b.cancelAll(t, done.ID))
	b.grantAll(t)
	require.True(t, b.finish(t, done.ID))

	first := b.Trip
	b.Trip = b.InsertTrip(t, 20, func(x *models.Trip) { x.Title, x.Origin, x.Destination = "To the sea", "Riyadh", "Jeddah" })
	b.Paid(t, 2)

	waiting := b.order(t)
	require.True(t, waiting.ApprovalPending)

	all := b.list(t, tripcancel.Filter{})
	require.Equal(t, []uuid.UUID{waiting.ID, done.ID}, []uuid.UUID{all[0].ID, all[1].ID}, "newest first")
	require.Equal(t, models.TripCancellationTrip{
		Title: "To the sea", Origin: "Riyadh", Destination: "Jeddah", DepartureAt: all[0].DepartureAt, ProviderName: b.Provider.Name,
	}, all[0].TripCancellationTrip)
	require.True(t, all[0].DepartureAt.Equal(b.Trip.DepartureAt))
	require.Equal(t, b.Provider.ID, all[0].ProviderID)
	require.NotEmpty(t, all[0].RequesterName)
	require.Equal(t, models.TripCancellationCounts{Bookings: 1, RefundedTotal: all[0].Counts.RefundedTotal}, all[0].Counts)
	require.True(t, all[0].Counts.RefundedTotal.IsZero())
	require.Equal(t, models.TripCancellationCounts{
		Bookings: 1, Cancelled: 1, RefundsSucceeded: 1, RefundedTotal: all[1].Counts.RefundedTotal,
	}, all[1].Counts)
	require.Equal(t, "115.00", all[1].Counts.RefundedTotal.String())

	for _, one := range all {
		got, err := b.Store.TripCancellations.Get(t.Context(), b.As(models.RoleSupportAgent), one.TripID)
		require.NoError(t, err)
		require.Equal(t, one, got)
	}

	today := models.DateIn(time.Now())

	for name, c := range map[string]struct {
		filter tripcancel.Filter
		want   []tripcancel.Ordered
	}{
		"status":           {tripcancel.Filter{Status: models.TripCancellationDone}, []tripcancel.Ordered{done}},
		"no such status":   {tripcancel.Filter{Status: models.TripCancellationExpired}, nil},
		"waits":            {tripcancel.Filter{NeedsApproval: new(true)}, []tripcancel.Ordered{waiting}},
		"does not wait":    {tripcancel.Filter{NeedsApproval: new(false)}, []tripcancel.Ordered{done}},
		"company":          {tripcancel.Filter{ProviderID: b.Provider.ID}, []tripcancel.Ordered{waiting, done}},
		"another company":  {tripcancel.Filter{ProviderID: uuid.New()}, nil},
		"trip":             {tripcancel.Filter{TripID: first.ID}, []tripcancel.Ordered{done}},
		"trip and company": {tripcancel.Filter{TripID: first.ID, ProviderID: uuid.New()}, nil},
		"today":            {tripcancel.Filter{Days: models.Days{From: today, To: today}}, []tripcancel.Ordered{waiting, done}},
		"until yesterday":  {tripcancel.Filter{Days: models.Days{To: today.AddDays(-1)}}, nil},
		"least first": {
			tripcancel.Filter{Page: db.Page{Sort: []db.Sort{{Field: "refund_total"}}}}, []tripcancel.Ordered{done, waiting},
		},
	} {
		list := b.list(t, c.filter)
		require.Len(t, list, len(c.want), name)

		for i, one := range list {
			require.Equal(t, c.want[i].ID, one.ID, name)
		}
	}

	_, err := b.Store.TripCancellations.List(t.Context(), tripcancel.Filter{Page: db.Page{Sort: []db.Sort{{Field: "reason"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

// What a later cancellation of the same trip does is not counted to one that was rejected.
func TestARejectedCancellationKeepsItsCounts(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.TripCancellationAbove = models.MustMoney("1.00")
	b := setup(t, p)
	b.Paid(t, 1)

	has := func() bool {
		trip, err := b.Store.Catalogue.GetProviderTrip(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID)
		require.NoError(t, err)

		return *trip.HasCancellation
	}
	decide := func(approve bool) {
		_, err := b.Store.TripCancellations.Decide(t.Context(), b.As(models.RoleFinanceAdmin), tripcancel.Decision{
			TripID: b.Trip.ID, Approve: approve, Note: "as agreed",
		}, time.Now())
		require.NoError(t, err)
	}

	require.False(t, has())

	rejected := b.order(t)
	decide(false)
	require.True(t, has())

	second := b.order(t)
	decide(true)
	require.Zero(t, b.cancelAll(t, second.ID))
	b.grantAll(t)
	require.True(t, b.finish(t, second.ID))

	all := b.list(t, tripcancel.Filter{TripID: b.Trip.ID})
	require.Equal(t, []uuid.UUID{second.ID, rejected.ID}, []uuid.UUID{all[0].ID, all[1].ID})
	require.Equal(t, 1, all[0].Counts.Cancelled)
	require.Zero(t, all[1].Counts.Cancelled)
	require.Zero(t, all[1].Counts.RefundsSucceeded)
	require.Equal(t, "0.00", all[1].Counts.RefundedTotal.String())
	b.RequireBooks(t)
}
