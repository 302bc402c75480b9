package cmd

import (
	"database/sql"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/seed"
	"rihla/models"
)

// Everything in a fuzzWorld has the same id and the same date in every run, so that an input which was kept means the
// same for ever. Dates are far in the future: nothing departs while the corpus gets old.
var (
	fuzzProvider = fuzzID(1)
	fuzzRival    = fuzzID(2)
	fuzzHotel    = fuzzID(100)
	fuzzBus      = fuzzID(200)
	fuzzRestStop = fuzzID(300)
	fuzzTrip     = fuzzID(400) // DRAFT; 401 is PUBLISHED
	fuzzCampaign = fuzzID(500)
)

// fuzzCrowd is how many hotels, buses and rest stops the company has besides the one that is patched: more than a page.
const fuzzCrowd = 24

func fuzzID(n int) uuid.UUID { return uuid.MustParse(fmt.Sprintf("f0000000-0000-4000-8000-%012d", n)) }

func fuzzUser(role models.Role) uuid.UUID { return fuzzID(900 + slices.Index(models.Roles(), role)) }

// fuzzSecrets are a channel's signing secrets, newest first, the second on its way out.
func fuzzSecrets(channel models.Channel) []string {
	secret := func(age string) string {
		return "whsec_" + base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%-32s", "fuzz "+age+" "+string(channel)))
	}

	return []string{secret("new"), secret("old")}
}

// fuzzPayment is an attempt that webhooks may be about.
type fuzzPayment struct {
	booking   int
	method    models.PaymentMethod
	status    models.TransactionStatus
	reference string
}

func fuzzPayments() []fuzzPayment {
	return []fuzzPayment{
		{600, models.MethodCreditCard, models.TransactionPending, "cs_card"},
		{601, models.MethodWalletA, models.TransactionPending, "cs_wallet_a"},
		{602, models.MethodWalletB, models.TransactionPending, "cs_wallet_b"},
		{603, models.MethodBillPayment, models.TransactionPending, "cs_bill"},
		{604, models.MethodCreditCard, models.TransactionPaid, "cs_paid"},
		{605, models.MethodDebitNetwork, models.TransactionFailed, "cs_failed"},
	}
}

func (p fuzzPayment) id() uuid.UUID { return models.BookingAttemptID(fuzzID(p.booking), 1) }

// fuzzRefund is of cs_paid, and the gateway has not decided it.
var fuzzRefund = fuzzID(700)

func insertFuzzWorld(tb testing.TB, s *store.Store, conn *sql.DB) {
	tb.Helper()

	d := fuzzRows()
	for i, role := range models.Roles() {
		u := models.User{
			ID: fuzzUser(role), Name: "Fuzz User", Email: strings.ToLower(string(role)) + "@fuzz.test",
			Phone: fmt.Sprintf("+9665000000%02d", i), PasswordHash: "none", Role: role, Locale: models.LocaleEnglish,
		}
		if role.IsProvider() {
			u.ProviderID = &fuzzProvider
		}

		d.Users = append(d.Users, u)
	}

	require.NoError(tb, seed.Of(s).InsertDemo(tb.Context(), d))

	staff := db.Actor{UserID: fuzzUser(models.RoleProviderAdmin), Role: models.RoleProviderAdmin, ProviderID: fuzzProvider}
	_, err := s.Catalogue.CreateCampaign(tb.Context(), staff, models.AdCampaign{
		ID: fuzzCampaign, TripID: fuzzTrip, Title: "Fuzz campaign", Description: "On the front page",
		StartsOn: models.NewDate(2098, time.January, 1), EndsOn: models.NewDate(2098, time.January, 31), Price: models.MustMoney("1000.00"),
	}, time.Now())
	require.NoError(tb, err)

	for _, p := range fuzzPayments() {
		p.insert(tb, s)
	}

	finance := fuzzUser(models.RoleFinanceAdmin)
	part := models.MustMoney("15.00")
	_, err = s.Refunds.OrderRefund(tb.Context(), models.RefundRequest{
		ID: fuzzRefund, BookingID: fuzzID(604), Type: models.RefundPartial, Amount: &part, RequestedBy: &finance,
		Role: models.RoleFinanceAdmin, RequestID: "fuzz",
	}, time.Now())
	require.NoError(tb, err)

	// What the inputs have noted is forgotten again, or there would be too much of it.
	_, err = conn.ExecContext(tb.Context(), "ALTER TABLE audit_log DISABLE TRIGGER USER")
	require.NoError(tb, err)

	_, err = conn.ExecContext(tb.Context(), `UPDATE hotels SET deleted_at = now() WHERE id = $1`, fuzzID(199))
	require.NoError(tb, err)
}

// fuzzRows are two companies: one with a crowd of everything, and a rival whose rows the users of the first must not see.
func fuzzRows() seed.DemoData {
	leaves := time.Date(2099, time.January, 1, 6, 0, 0, 0, time.UTC)

	d := seed.DemoData{}
	for i, id := range []uuid.UUID{fuzzProvider, fuzzRival} {
		d.Providers = append(d.Providers, models.Provider{
			ID: id, Name: fmt.Sprintf("Fuzz Tours %d", i), Email: fmt.Sprintf("tours%d@fuzz.test", i), Phone: "+966500000099",
			City: "Riyadh", CommissionRate: models.MustRate("0.1"), Status: models.StatusActive,
		})
	}

	for i := range fuzzCrowd + 1 {
		d.Hotels = append(d.Hotels, fuzzHotelRow(fuzzID(100+i), fuzzProvider, i))
		d.Buses = append(d.Buses, fuzzBusRow(fuzzID(200+i), fuzzProvider, i))
		d.RestStops = append(d.RestStops, models.RestStop{
			ID: fuzzID(300 + i), ProviderID: fuzzProvider, Name: fmt.Sprintf("Stop %d", i), City: "Hail",
			Amenities: []string{"mosque"}, Status: models.StatusActive,
		})
	}

	d.Hotels = append(d.Hotels, fuzzHotelRow(fuzzID(198), fuzzRival, 98), fuzzHotelRow(fuzzID(199), fuzzProvider, 99))
	d.Buses = append(d.Buses, fuzzBusRow(fuzzID(298), fuzzRival, 98))

	for i, status := range []models.TripStatus{models.TripDraft, models.TripPublished} {
		d.Trips = append(d.Trips, models.Trip{
			ID: fuzzID(400 + i), ProviderID: fuzzProvider, Type: models.TripTourism, Title: fmt.Sprintf("Fuzz trip %d", i),
			Origin: "Riyadh", Destination: "AlUla", DepartureAt: leaves, ReturnAt: leaves.AddDate(0, 0, 3),
			HotelID: &fuzzHotel, BusID: fuzzBus, PricePerSeat: models.MustMoney("115.00"), Capacity: 40,
			Status: status, RestStopIDs: []uuid.UUID{fuzzRestStop},
		})
	}

	return d
}

func fuzzHotelRow(id, provider uuid.UUID, i int) models.Hotel {
	stars := i%7 + 1

	return models.Hotel{
		ID: id, ProviderID: provider, Name: fmt.Sprintf("فندق Hotel %d", i), City: "AlUla", Stars: &stars,
		Address: "100% real_street", Status: []string{models.StatusActive, models.StatusInactive}[i%5/4],
	}
}

func fuzzBusRow(id, provider uuid.UUID, i int) models.Bus {
	return models.Bus{
		ID: id, ProviderID: provider, PlateNumber: fmt.Sprintf("FUZZ %d", i), Model: "Coach", Capacity: 49,
		DriverName: "Fuzz Driver", DriverPhone: "+966500000098", Features: []string{"wifi"}, Status: models.StatusActive,
	}
}

// insert makes the booking and its attempt, and what the gateway has said about it so far.
func (p fuzzPayment) insert(tb testing.TB, s *store.Store) {
	tb.Helper()

	user := fuzzUser(models.RoleEndUser)
	_, err := s.Bookings.CreateBooking(tb.Context(), bookings.NewBooking{
		ID: fuzzID(p.booking), UserID: user, TripID: fuzzID(401), Passengers: []models.Passenger{{Name: "Passenger"}},
		ContactName: "Contact", ContactEmail: "contact@fuzz.test", ContactPhone: "+966500000097", Method: p.method,
	}, time.Now())
	require.NoError(tb, err)

	t, _, err := s.Payments.OpenPayment(tb.Context(), models.Attempt{BookingID: fuzzID(p.booking), Number: 1, UserID: user, Method: p.method}, time.Now)
	require.NoError(tb, err)
	require.Equal(tb, p.id(), t.ID)
	require.NoError(tb, s.Payments.SaveCheckout(tb.Context(), t.ID, t.Channel, payments.OpenedCheckout{
		Reference: p.reference, URL: "https://gateway.test/" + p.reference,
	}))

	kind := map[models.TransactionStatus]models.EventType{
		models.TransactionPaid: models.EventPaymentSucceeded, models.TransactionFailed: models.EventPaymentFailed,
	}[p.status]
	if kind == "" {
		return
	}

	_, err = s.Inbox.StoreEvent(tb.Context(), models.WebhookEvent{
		ID: models.NewID(), Channel: p.method.Channel(), WebhookID: "world-" + p.reference, Type: kind, CheckoutID: p.reference,
		MerchantReference: t.ID.String(), Amount: &t.Amount, Currency: t.Currency, PaymentMethod: p.method,
		ResultCode: "000", OccurredAt: time.Now(),
	}, time.Now())
	require.NoError(tb, err)

	_, err = s.Payments.SettlePayment(tb.Context(), t.ID, time.Now())
	require.NoError(tb, err)
}
