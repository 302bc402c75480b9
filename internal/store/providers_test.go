package store_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

func TestProviderLife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)

	p, err := b.s.CreateProviderBy(ctx, models.Provider{
		Name: "More Tours", Email: "more@rihla.test", Phone: "+966500000000", City: "Jeddah",
		CommissionRate: models.MustRate("0.125"), Status: models.StatusInactive,
	}, admin)
	require.NoError(t, err)
	require.Equal(t, models.StatusActive, p.Status, "a provider starts ACTIVE")
	require.False(t, p.CreatedAt.IsZero())

	changed, err := b.s.UpdateProvider(ctx, p.ID, func(p *models.Provider) error {
		p.ID, p.Name, p.CommissionRate, p.Status = uuid.New(), "Other Tours", models.MustRate("0"), models.StatusInactive

		return nil
	}, admin)
	require.NoError(t, err)
	require.Equal(t, p.ID, changed.ID)
	require.Equal(t, "Other Tours", changed.Name)
	require.Equal(t, "Jeddah", changed.City)
	require.True(t, changed.CommissionRate.Equal(models.MustRate("0")))
	require.Equal(t, models.StatusActive, changed.Status, "only its own action changes the status")
	require.True(t, p.CreatedAt.Equal(changed.CreatedAt))
	require.True(t, changed.UpdatedAt.After(p.UpdatedAt))

	refusal := errors.New("no")
	_, err = b.s.UpdateProvider(ctx, p.ID, func(p *models.Provider) error { p.Name = "X"; return refusal }, admin)
	require.ErrorIs(t, err, refusal)

	for _, active := range []bool{false, false, true, true} {
		p, err = b.s.SetProviderStatus(ctx, p.ID, active, admin)
		require.NoError(t, err)
		require.Equal(t, active, p.Status == models.StatusActive)
		require.Equal(t, "Other Tours", p.Name)
	}

	for action, want := range map[string]int{
		"PROVIDER_CREATED": 1, "PROVIDER_UPDATED": 1, "PROVIDER_ACTIVATED": 1, "PROVIDER_DEACTIVATED": 1,
	} {
		require.Equal(t, want, b.count(t,
			"SELECT count(*) FROM audit_log WHERE action = $1 AND entity = 'provider' AND entity_id = $2 AND actor_id = $3",
			action, p.ID, admin.UserID), action)
	}

	for _, err := range []error{
		second(b.s.UpdateProvider(ctx, uuid.New(), func(*models.Provider) error { return nil }, admin)),
		second(b.s.SetProviderStatus(ctx, uuid.New(), true, admin)),
	} {
		requireCode(t, models.CodeNotFound, err)
	}

	_, _, err = b.s.ProviderWithStats(ctx, uuid.New())
	requireCode(t, models.CodeNotFound, err)
}

func TestListProviders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)

	add := func(name, email, phone string) models.Provider {
		p, err := b.s.CreateProviderBy(ctx, models.Provider{Name: name, Email: email, Phone: phone}, admin)
		require.NoError(t, err)

		return p
	}
	arabic := add("رحلات الشمال", "north@rihla.test", "+966511111111")
	south := add("South 100%", "south@rihla.test", "+966522222222")
	_, err := b.s.SetProviderStatus(ctx, south.ID, false, admin)
	require.NoError(t, err)

	for name, tt := range map[string]struct {
		f    store.ProviderFilter
		want []uuid.UUID
	}{
		"all, oldest first": {store.ProviderFilter{}, []uuid.UUID{b.Provider.ID, arabic.ID, south.ID}},
		"arabic":            {store.ProviderFilter{Search: "الشمال"}, []uuid.UUID{arabic.ID}},
		"email":             {store.ProviderFilter{Search: "NORTH@"}, []uuid.UUID{arabic.ID}},
		"phone":             {store.ProviderFilter{Search: "5222"}, []uuid.UUID{south.ID}},
		"percent":           {store.ProviderFilter{Search: "0%"}, []uuid.UUID{south.ID}},
		"inactive":          {store.ProviderFilter{Status: models.StatusInactive}, []uuid.UUID{south.ID}},
		"both":              {store.ProviderFilter{Status: models.StatusActive, Search: "south"}, []uuid.UUID{}},
		"sorted": {
			store.ProviderFilter{Page: store.Page{Sort: []store.Sort{{Field: "status", Desc: true}, {Field: "created_at", Desc: true}}}},
			[]uuid.UUID{south.ID, arabic.ID, b.Provider.ID},
		},
	} {
		got, err := b.s.ListProviders(ctx, tt.f)
		ids, err := idsOf(got, err, func(p models.Provider) uuid.UUID { return p.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	_, err = b.s.ListProviders(ctx, store.ProviderFilter{Page: store.Page{Sort: []store.Sort{{Field: "email"}}}})
	requireCode(t, models.CodeValidation, err)
}

func TestProviderStats(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	ctx := t.Context()

	p, st, err := b.s.ProviderWithStats(ctx, b.Provider.ID)
	require.NoError(t, err)
	require.Equal(t, b.Provider.Name, p.Name)
	require.Equal(t, store.ProviderStats{Buses: 1, Hotels: 1, RestStops: 1, Trips: 1}, zeroMoney(st))

	b.paid(t, 2)                               // 230.00
	b.refund(t, b.paid(t, 1), amount("15.00")) // 100.00 are left
	transferred := b.paid(t, 4)                // 460.00, paid out and then given back: a claw-back of 414.00
	b.book(t, b.Trip, 1)                       // waits for its payment
	campaign := b.campaign(t, models.DateIn(clock()), models.DateIn(clock()))
	b.report(t, b.openCampaign(t, campaign, 1), models.EventPaymentSucceeded)

	var record uuid.UUID

	require.NoError(t, b.db.QueryRowContext(ctx,
		"SELECT id FROM financial_records WHERE payment_transaction_id = $1", transferred.ID).Scan(&record))
	_, err = b.s.MarkTransferred(ctx, record, store.MarkTransfer{}, b.finance)
	require.NoError(t, err)
	b.refund(t, transferred, nil)

	admin := as(b.World, models.RoleAdmin)
	bus, err := b.s.CreateBus(ctx, newBus(b.Provider.ID, "GONE"), admin)
	require.NoError(t, err)
	require.NoError(t, b.s.DeleteBus(ctx, bus.ID, admin))

	_, st, err = b.s.ProviderWithStats(ctx, b.Provider.ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, st.Buses)
	require.EqualValues(t, 2, st.Bookings, "confirmed ones")

	ad := b.count(t, "SELECT (gross_amount * 100)::int FROM financial_records WHERE kind = 'ADVERTISING'")
	require.Equal(t, models.MustMoney("330.00").Add(models.Halalas(int64(ad))).String(), st.Gross.String())
	require.Equal(t, "297.00", st.Net.String())
	require.Equal(t, models.MustMoney("297.00").Sub(models.MustMoney("414.00")).String(), st.InCurrentBalance.String())
}

// zeroMoney makes numbers comparable: 0.00 has more than one representation.
func zeroMoney(st store.ProviderStats) store.ProviderStats {
	for _, m := range []*models.Money{&st.Gross, &st.Net, &st.InCurrentBalance} {
		if m.IsZero() {
			*m = models.Money{}
		}
	}

	return st
}
