package activities_test

import (
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// desk is a database, a gateway in memory and the activities between them.
type desk struct {
	*activities.Payments

	db      *sql.DB
	world   storetest.World
	gateway *fake.Gateway
	queued  atomic.Int32 // how often the outbox was announced
}

func newDesk(t *testing.T) *desk {
	t.Helper()

	return newDeskWith(t, models.DefaultPolicies())
}

func newDeskWith(t *testing.T, p models.Policies) *desk {
	t.Helper()

	s, db := storetest.Open(t, p)
	d := &desk{db: db, world: storetest.Fixture(t, s), gateway: fake.New()}
	d.Payments = &activities.Payments{Log: silent, Store: s, Now: time.Now, Queued: func() { d.queued.Add(1) }}
	d.serve(d.gateway)

	return d
}

// serve puts another gateway behind the activities.
func (d *desk) serve(g gateways.Gateway) {
	d.Gateways = map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: g, models.AccountWalletB: g}
}

// attempt is the first payment attempt of a new booking of one seat, 115.00.
func (d *desk) attempt(t *testing.T) models.Attempt {
	t.Helper()

	user := d.world.Users[models.RoleEndUser].ID
	booking, err := d.Store.Bookings.CreateBooking(t.Context(), bookings.NewBooking{
		UserID: user, TripID: d.world.Trip.ID, Passengers: []models.Passenger{{Name: "Passenger"}}, ContactName: "Contact",
		ContactEmail: "contact@rihla.test", ContactPhone: "+966500000000", Method: models.MethodCreditCard,
	}, time.Now())
	require.NoError(t, err)

	return models.Attempt{
		BookingID: booking.ID, ProviderID: booking.ProviderID, Number: 1, UserID: user, Method: models.MethodCreditCard,
	}
}

// campaignAttempt is the first payment attempt of a new campaign.
func (d *desk) campaignAttempt(t *testing.T) models.Attempt {
	t.Helper()

	admin := d.world.Users[models.RoleAdmin]
	today := models.DateIn(time.Now())
	c, err := d.Store.Catalogue.CreateCampaign(t.Context(), db.Actor{UserID: admin.ID, Role: models.RoleAdmin}, models.AdCampaign{
		ID: models.NewID(), ProviderID: d.world.Provider.ID, TripID: d.world.Trip.ID, CreatedBy: admin.ID, Title: "Spring",
		StartsOn: today, EndsOn: today.AddDays(7), Price: models.MustMoney("100.00"),
	}, time.Now())
	require.NoError(t, err)

	return models.Attempt{CampaignID: c.ID, ProviderID: c.ProviderID, Number: 1, UserID: admin.ID, Method: models.MethodCreditCard}
}

// opened is an attempt with an open checkout.
func (d *desk) opened(t *testing.T) models.Attempt {
	t.Helper()

	return d.open(t, d.attempt(t))
}

func (d *desk) open(t *testing.T, a models.Attempt) models.Attempt {
	t.Helper()

	c, err := d.OpenCheckout(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)

	return a
}

// paid is an attempt that was paid, learnt by asking the gateway.
func (d *desk) paid(t *testing.T) models.Attempt {
	t.Helper()

	return d.pay(t, d.opened(t))
}

// openUnheard has the gateway make the attempt's checkout, and its answer lost.
func (d *desk) openUnheard(t *testing.T, a models.Attempt) {
	t.Helper()
	d.gateway.Script(fake.CreateCheckout, fake.Fault{Mode: fake.UnknownAfterEffect})

	_, err := d.OpenCheckout(t.Context(), a)
	require.Error(t, err)
}

// billed is paid by a bill.
func (d *desk) billed(t *testing.T) models.Attempt {
	t.Helper()

	a := d.attempt(t)
	a.Method = models.MethodBillPayment

	return d.pay(t, d.open(t, a))
}

func (d *desk) pay(t *testing.T, a models.Attempt) models.Attempt {
	t.Helper()
	require.NoError(t, d.gateway.Pay(a.ID()))
	require.NoError(t, d.CloseCheckout(t.Context(), a.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, a).Status)

	return a
}

// cancelBooking gives up the attempt's booking, as its owner does.
func (d *desk) cancelBooking(t *testing.T, a models.Attempt) {
	t.Helper()

	b, pending, err := d.Store.Payments.CancelBooking(t.Context(), db.Actor{UserID: a.UserID, Role: models.RoleEndUser}, a.BookingID, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.BookingCancelled, b.Status)
	require.Equal(t, a.ID(), pending.ID)
}

func (d *desk) settle(t *testing.T, a models.Attempt) models.Settled {
	t.Helper()

	s, err := d.SettlePayment(t.Context(), a.ID())
	require.NoError(t, err)

	return s
}

func (d *desk) transaction(t *testing.T, a models.Attempt) models.PaymentTransaction {
	t.Helper()

	tx, err := d.Store.Payments.TransactionByID(t.Context(), a.ID())
	require.NoError(t, err)

	return tx
}

// reserved is a refund of 60.00 of the attempt whose amount has been reserved.
func (d *desk) reserved(t *testing.T, a models.Attempt) uuid.UUID {
	t.Helper()

	return d.reservedOf(t, a, "60.00")
}

func (d *desk) reservedOf(t *testing.T, a models.Attempt, sum string) uuid.UUID {
	t.Helper()

	amount := models.MustMoney(sum)
	r := models.RefundRequest{ID: uuid.New(), BookingID: a.BookingID, Type: models.RefundPartial, Amount: &amount}
	_, err := d.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)

	return r.ID
}

// paysWhileCancelled is a gateway whose customer pays between the question and the cancellation.
type paysWhileCancelled struct{ *fake.Gateway }

func (g paysWhileCancelled) CancelCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	c, err := g.ReadCheckout(ctx, r)
	if err == nil {
		err = g.Pay(c.MerchantReference)
	}

	if err != nil {
		return c, err
	}

	return g.Gateway.CancelCheckout(ctx, r)
}

// miscounts is a gateway that reports another amount than it was asked to refund.
type miscounts struct{ *fake.Gateway }

func (g miscounts) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	out, err := g.Gateway.CreateRefund(ctx, r)
	out.Amount = out.Amount.Add(models.Halalas(1))

	return out, err
}

func (g miscounts) ReadRefund(ctx context.Context, r gateways.RefundRef) (gateways.Refund, error) {
	out, err := g.Gateway.ReadRefund(ctx, r)
	out.Amount = out.Amount.Add(models.Halalas(1))

	return out, err
}

// unheardOf is a gateway that knows no such path.
type unheardOf struct{ *fake.Gateway }

func (unheardOf) CreateCheckout(context.Context, gateways.CheckoutRequest) (gateways.Checkout, error) {
	return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindNotFound, Code: "not_found"}
}

// silent is the log of activities whose warnings are not looked at.
var silent = slog.New(slog.DiscardHandler)
