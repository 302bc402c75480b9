package catalogue_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

func TestProviderLife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)

	p, err := b.Store.Catalogue.CreateProviderBy(ctx, admin, models.Provider{
		Name: "More Tours", Email: "more@rihla.test", Phone: "+966500000000", City: "Jeddah",
		CommissionRate: models.MustRate("0.125"), Status: models.StatusInactive,
	})
	require.NoError(t, err)
	require.Equal(t, models.StatusActive, p.Status, "a provider starts ACTIVE")
	require.False(t, p.CreatedAt.IsZero())

	changed, err := b.Store.Catalogue.UpdateProvider(ctx, admin, p.ID, func(p *models.Provider) error {
		p.ID, p.Name, p.CommissionRate, p.Status = uuid.New(), "Other Tours", models.MustRate("0"), models.StatusInactive

		return nil
	})
	require.NoError(t, err)
	require.Equal(t, p.ID, changed.ID)
	require.Equal(t, "Other Tours", changed.Name)
	require.Equal(t, "Jeddah", changed.City)
	require.True(t, changed.CommissionRate.Equal(models.MustRate("0")))
	require.Equal(t, models.StatusActive, changed.Status, "only its own action changes the status")
	require.True(t, p.CreatedAt.Equal(changed.CreatedAt))
	require.True(t, changed.UpdatedAt.After(p.UpdatedAt))

	refusal := errors.New("no")
	_, err = b.Store.Catalogue.UpdateProvider(ctx, admin, p.ID, func(p *models.Provider) error { p.Name = "X"; return refusal })
	require.ErrorIs(t, err, refusal)

	for _, active := range []bool{false, false, true, true} {
		p, err = b.Store.Catalogue.SetProviderStatus(ctx, admin, p.ID, active)
		require.NoError(t, err)
		require.Equal(t, active, p.Status == models.StatusActive)
		require.Equal(t, "Other Tours", p.Name)
	}

	for action, want := range map[string]int{
		"PROVIDER_CREATED": 1, "PROVIDER_UPDATED": 1, "PROVIDER_ACTIVATED": 1, "PROVIDER_DEACTIVATED": 1,
	} {
		require.Equal(t, want, b.Count(t,
			"SELECT count(*) FROM audit_log WHERE action = $1 AND entity = 'provider' AND entity_id = $2 AND actor_id = $3",
			action, p.ID, admin.UserID), action)
	}

	for _, err := range []error{
		bookstest.ErrorOf(b.Store.Catalogue.UpdateProvider(ctx, admin, uuid.New(), func(*models.Provider) error { return nil })),
		bookstest.ErrorOf(b.Store.Catalogue.SetProviderStatus(ctx, admin, uuid.New(), true)),
	} {
		bookstest.RequireCode(t, models.CodeNotFound, err)
	}

	_, _, err = b.Store.Catalogue.ProviderWithStats(ctx, uuid.New())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

func TestListProviders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)

	add := func(name, email, phone string) models.Provider {
		p, err := b.Store.Catalogue.CreateProviderBy(ctx, admin, models.Provider{Name: name, Email: email, Phone: phone})
		require.NoError(t, err)

		return p
	}
	arabic := add("رحلات الشمال", "north@rihla.test", "+966511111111")
	south := add("South 100%", "south@rihla.test", "+966522222222")
	_, err := b.Store.Catalogue.SetProviderStatus(ctx, admin, south.ID, false)
	require.NoError(t, err)

	for name, tt := range map[string]struct {
		f    catalogue.ProviderFilter
		want []uuid.UUID
	}{
		"all, oldest first": {catalogue.ProviderFilter{}, []uuid.UUID{b.Provider.ID, arabic.ID, south.ID}},
		"arabic":            {catalogue.ProviderFilter{Search: "الشمال"}, []uuid.UUID{arabic.ID}},
		"email":             {catalogue.ProviderFilter{Search: "NORTH@"}, []uuid.UUID{arabic.ID}},
		"phone":             {catalogue.ProviderFilter{Search: "5222"}, []uuid.UUID{south.ID}},
		"percent":           {catalogue.ProviderFilter{Search: "0%"}, []uuid.UUID{south.ID}},
		"inactive":          {catalogue.ProviderFilter{Status: models.StatusInactive}, []uuid.UUID{south.ID}},
		"both":              {catalogue.ProviderFilter{Status: models.StatusActive, Search: "south"}, []uuid.UUID{}},
		"sorted": {
			catalogue.ProviderFilter{Page: db.Page{Sort: []db.Sort{{Field: "status", Desc: true}, {Field: "created_at", Desc: true}}}},
			[]uuid.UUID{south.ID, arabic.ID, b.Provider.ID},
		},
	} {
		got, err := b.Store.Catalogue.ListProviders(ctx, tt.f)
		ids, err := bookstest.IDsOf(got, err, func(p models.Provider) uuid.UUID { return p.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	_, err = b.Store.Catalogue.ListProviders(ctx, catalogue.ProviderFilter{Page: db.Page{Sort: []db.Sort{{Field: "email"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

func TestProviderStats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	p, st, err := b.Store.Catalogue.ProviderWithStats(ctx, b.Provider.ID)
	require.NoError(t, err)
	require.Equal(t, b.Provider.Name, p.Name)
	require.Equal(t, catalogue.ProviderStats{Buses: 1, Hotels: 1, RestStops: 1, Trips: 1}, zeroMoney(st))

	b.Paid(t, 2)                                         // 230.00
	b.Refund(t, b.Paid(t, 1), bookstest.Amount("15.00")) // 100.00 are left
	transferred := b.Paid(t, 4)                          // 460.00, paid out and then given back: a claw-back of 414.00
	b.Book(t, b.Trip, 1)                                 // waits for its payment
	campaign := b.Campaign(t, models.DateIn(bookstest.Clock()), models.DateIn(bookstest.Clock()))
	b.Report(t, b.OpenCampaign(t, campaign, 1), models.EventPaymentSucceeded)

	var record uuid.UUID

	require.NoError(t, b.DB.QueryRowContext(ctx,
		"SELECT id FROM financial_records WHERE payment_transaction_id = $1", transferred.ID).Scan(&record))
	_, err = b.Store.Ledger.MarkTransferred(ctx, b.Finance, record, ledger.MarkTransfer{})
	require.NoError(t, err)
	b.Refund(t, transferred, nil)

	admin := bookstest.As(b.World, models.RoleAdmin)
	bus, err := b.Store.Catalogue.CreateBus(ctx, admin, bookstest.NewBus(b.Provider.ID, "GONE"))
	require.NoError(t, err)
	require.NoError(t, b.Store.Catalogue.DeleteBus(ctx, admin, bus.ID, time.Now()))

	_, st, err = b.Store.Catalogue.ProviderWithStats(ctx, b.Provider.ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, st.Buses)
	require.EqualValues(t, 2, st.Bookings, "confirmed ones")

	ad := b.Count(t, "SELECT (gross_amount * 100)::int FROM financial_records WHERE kind = 'ADVERTISING'")
	require.Equal(t, models.MustMoney("330.00").Add(models.Halalas(int64(ad))).String(), st.Gross.String())
	require.Equal(t, "297.00", st.Net.String())
	require.Equal(t, models.MustMoney("297.00").Sub(models.MustMoney("414.00")).String(), st.InCurrentBalance.String())
}

// zeroMoney makes numbers comparable: 0.00 has more than one representation.
func zeroMoney(st catalogue.ProviderStats) catalogue.ProviderStats {
	for _, m := range []*models.Money{&st.Gross, &st.Net, &st.InCurrentBalance} {
		if m.IsZero() {
			*m = models.Money{}
		}
	}

	return st
}
