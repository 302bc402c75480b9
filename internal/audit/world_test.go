package audit

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/internal/store/payments"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// world is a small company's books in which every rule has something to hold.
type world struct {
	storetest.World

	address string
	s       *store.Store
	db      *sql.DB
	silent  *sql.DB // of an unguarded world
	finance db.Actor

	kept     models.PaymentTransaction // paid, nothing else
	split    models.PaymentTransaction // paid, two partial refunds
	clawed   models.PaymentTransaction // paid, paid out, then refunded in part
	returned models.PaymentTransaction // paid and refunded in full
	campaign models.PaymentTransaction // paid advertising
	declined models.PaymentTransaction // failed
	late     models.PaymentTransaction // money that came when the seats were gone, still owed
	owed     models.Refund             // of other late money, which has gone back
	reserved models.PaymentTransaction // paid, with a refund that is PENDING
	pending  models.Refund             // the refund of reserved
	partial  models.Refund             // the first refund of split
	refused  models.Refund             // one that the gateway refused
	mismatch uuid.UUID                 // event of another amount
	suspense models.PaymentTransaction // its payment, whose money is in suspense
	policy   models.Refund             // one by the cancellation policy, after another one
	byHand   models.Refund             // of a bill, paid out
	reverted models.PaymentTransaction // marked, refunded in part, then twice taken back and marked again
	rejected models.Refund             // of a bill, not paid out

	alone                        models.Refund // without an approval, within the limit of one person
	approved, withdrawn, waiting models.Refund // over the limit: gone back, rejected by its requester, PENDING
	logged                       [3]uuid.UUID  // entries of the audit log, two under the first of three seals and one under the last

	outside models.PaymentTransaction // of which the gateway gave some back without an order
	again   models.PaymentTransaction // a second payment, still owed

	parts                  models.PaymentTransaction // of three seats, two of which were cancelled one after the other
	byPlatform, byProvider models.Refund             // what went back for each of the two, by whom it was borne

	calledOff models.PaymentTransaction // of a trip that two people have called off
	tripOff   uuid.UUID                 // that trip

	owedAgain, repaid models.Refund // that failed after they had succeeded; the second was paid out then
}

func newWorld(t *testing.T) *world {
	t.Helper()

	w := &world{}
	policies := models.DefaultPolicies()
	policies.Approval.AlonePerDay = models.MustMoney("20000.00")
	w.address = storetest.Database(t)
	w.s, w.db = storetest.OpenAt(t, w.address, policies)
	w.World = storetest.Fixture(t, w.s)
	// The migrations count as a week old: the audit excuses gaps in rows from before them, and none in later ones.
	_, err := w.db.ExecContext(t.Context(), "UPDATE bun_migrations SET migrated_at = migrated_at - interval '1 week'")
	require.NoError(t, err)

	w.finance = db.Actor{UserID: w.Users[models.RoleFinanceAdmin].ID, Role: models.RoleFinanceAdmin, RequestID: "req-1"}

	w.kept, w.split, w.clawed = w.paid(t), w.paid(t), w.paid(t)
	w.returned, w.reserved = w.paid(t), w.paid(t)

	w.partial = w.refund(t, w.split, "33.33")
	w.refund(t, w.split, "0.07")
	w.transfer(t, w.clawed)
	w.refund(t, w.clawed, "40.00")
	w.refund(t, w.returned, "115.00")
	w.pending = w.reserve(t, w.reserved, "10.00")
	w.refused = w.reserve(t, w.kept, "1.00")
	w.settle(t, w.refused, models.RefundFailed)
	w.buyCampaign(t)

	w.declined = w.open(t, models.Attempt{BookingID: w.book(t).ID, Number: 1})
	w.report(t, w.declined, models.EventPaymentFailed, w.declined.Amount)

	wrong := w.open(t, models.Attempt{BookingID: w.book(t).ID, Number: 1})
	w.suspense = wrong
	w.mismatch = w.report(t, wrong, models.EventPaymentSucceeded, models.MustMoney("1.00"))

	folded, err := w.s.Ledger.FoldReports(t.Context())
	require.NoError(t, err)
	require.Positive(t, folded, "the sums of reports are folded half-way")

	w.logged[0], w.logged[1] = w.note(t, "first"), w.note(t, "second")
	w.seal(t)
	w.payLate(t)
	w.seal(t)
	w.refundByPolicy(t)
	w.cancelParts(t)
	w.correctNames(t)
	w.callOff(t)
	w.refuseByMessage(t)
	w.refundByHand(t)
	w.revertTwice(t)
	w.cameBack(t)
	w.backOutside(t)
	w.paidAgain(t)
	w.approve(t)
	w.logged[2] = w.note(t, "third")
	w.seal(t)

	return w
}

// seal seals what the audit log has had since the last seal.
func (w *world) seal(t *testing.T) {
	t.Helper()

	sealed, err := w.s.DB.SealAudit(t.Context())
	require.NoError(t, err)
	require.Positive(t, sealed)
}

func (w *world) book(t *testing.T) models.Booking {
	t.Helper()

	return w.bookFor(t, models.Passenger{Name: "Passenger"})
}

func (w *world) bookFor(t *testing.T, passengers ...models.Passenger) models.Booking {
	t.Helper()

	b, err := w.s.Bookings.CreateBooking(t.Context(), bookings.NewBooking{
		UserID: w.Users[models.RoleEndUser].ID, TripID: w.Trip.ID, Passengers: passengers,
		ContactName: "Contact", ContactEmail: "contact@rihla.test", ContactPhone: "+966500000000", Method: models.MethodCreditCard,
	}, time.Now())
	require.NoError(t, err)

	return b
}

func (w *world) open(t *testing.T, a models.Attempt) models.PaymentTransaction {
	t.Helper()

	a.UserID = w.Users[models.RoleEndUser].ID
	if a.Method == "" {
		a.Method = models.MethodCreditCard
	}

	tx, _, err := w.s.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	require.NoError(t, w.s.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
		Reference: "ref-" + tx.ID.String(), URL: "https://gateway.test/",
	}))

	return tx
}

// report delivers the gateway's webhook about an attempt, settles it, and returns the event's id.
func (w *world) report(t *testing.T, tx models.PaymentTransaction, kind models.EventType, amount models.Money) uuid.UUID {
	t.Helper()

	e := models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "evt-" + uuid.NewString(), Type: kind,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: tx.ID.String(), Amount: &amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, ResultCode: "000", OccurredAt: time.Now(),
	}
	sign(&e)

	_, err := w.s.Inbox.StoreEvent(t.Context(), e, time.Now())
	require.NoError(t, err)
	_, err = w.s.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
	require.NoError(t, err)

	return e.ID
}

// sign gives an event the body that says what it says, and what proves it.
func sign(e *models.WebhookEvent) {
	body := fmt.Sprintf(`{"type": %q, "timestamp": %q, "data": {"checkout_id": %q, "merchant_reference": %q, "amount": %s, "currency": %q,
		"payment_method": %q, "result_code": %q, "failure_reason": null}}`, e.Type, e.OccurredAt.Format(time.RFC3339Nano), e.CheckoutID,
		strings.ToUpper(e.MerchantReference), e.Amount, strings.ToLower(e.Currency), e.PaymentMethod, e.ResultCode)
	signature := fmt.Sprintf("webhook-timestamp: %d\nwebhook-signature: v2,other v1,%s=", time.Now().Unix(), strings.Repeat("x", 43))
	e.Body, e.Signature = &body, &signature
}

func (w *world) paid(t *testing.T) models.PaymentTransaction {
	t.Helper()

	tx := w.open(t, models.Attempt{BookingID: w.book(t).ID, Number: 1})
	w.report(t, tx, models.EventPaymentSucceeded, tx.Amount)

	return tx
}

func (w *world) reserve(t *testing.T, tx models.PaymentTransaction, amount string) models.Refund {
	t.Helper()

	m := models.MustMoney(amount)
	r := models.RefundRequest{
		ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundPartial, Amount: &m,
		RequestedBy: &w.finance.UserID, Role: w.finance.Role, RequestID: "req-2", Reason: "The customer is ill.",
	}
	_, err := w.s.Refunds.OrderRefund(t.Context(), r, time.Now())
	require.NoError(t, err)

	got, err := w.s.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)

	return got
}

func (w *world) refund(t *testing.T, tx models.PaymentTransaction, amount string) models.Refund {
	t.Helper()

	r := w.reserve(t, tx, amount)
	w.settle(t, r, models.RefundSucceeded)

	return r
}

func (w *world) settle(t *testing.T, r models.Refund, as models.RefundStatus) {
	t.Helper()

	if as == models.RefundSucceeded && r.Channel == models.RefundByGateway {
		tx, err := w.s.Payments.TransactionByID(t.Context(), r.PaymentTransactionID)
		require.NoError(t, err)
		_, err = w.s.Inbox.StoreEvent(t.Context(), models.WebhookEvent{
			ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: models.PolledRefundEventID(r.ID, "succeeded"),
			Type: models.EventRefundSucceeded, CheckoutID: *tx.Reference, MerchantReference: r.ID.String(), Amount: &r.Amount,
			Currency: r.Currency, PaymentMethod: tx.PaymentMethod, OccurredAt: time.Now(), GatewayRefundID: "re-" + r.ID.String(),
		}, time.Now())
		require.NoError(t, err)
	}

	result := models.RefundResult{Status: as}
	if as == models.RefundSucceeded && r.Channel == models.RefundByGateway {
		result.GatewayRefundID = "re-" + r.ID.String()
	}

	done, err := w.s.Refunds.SettleRefund(t.Context(), r.ID, result, time.Now())
	require.NoError(t, err)
	require.Equal(t, as, done.Status)
}

func (w *world) transfer(t *testing.T, tx models.PaymentTransaction) {
	t.Helper()

	_, err := w.s.Ledger.MarkTransferred(t.Context(), w.finance,
		w.id(t, "SELECT id FROM financial_records WHERE payment_transaction_id = $1", tx.ID), ledger.MarkTransfer{})
	require.NoError(t, err)
}

func (w *world) revertTwice(t *testing.T) {
	t.Helper()

	w.reverted = w.paid(t)
	w.transfer(t, w.reverted)
	w.refund(t, w.reverted, "15.00")

	other := db.Actor{UserID: w.Users[models.RoleAdmin].ID, Role: models.RoleAdmin, RequestID: "req-3"}

	for range 2 {
		rest := w.id(t, "SELECT id FROM financial_records WHERE payment_transaction_id = $1 AND balance_status = 'TRANSFERRED' AND kind = 'SALE'",
			w.reverted.ID)
		_, err := w.s.Ledger.RevertTransferred(t.Context(), other, rest, ledger.RevertTransfer{Reason: "Marked by mistake."})
		require.NoError(t, err)
		_, err = w.s.Ledger.MarkTransferred(t.Context(), w.finance, rest, ledger.MarkTransfer{})
		require.NoError(t, err)
	}

	w.refund(t, w.reverted, "5.00")
}

func (w *world) buyCampaign(t *testing.T) {
	t.Helper()

	id, today := models.NewID(), models.DateIn(time.Now())
	_, err := w.db.ExecContext(t.Context(), `
		INSERT INTO ad_campaigns (id, provider_id, trip_id, created_by, title, starts_on, ends_on, price)
		VALUES ($1, $2, $3, $4, 'Campaign', $5, $6, 999.99)`,
		id, w.Provider.ID, w.Trip.ID, w.Users[models.RoleProviderAdmin].ID, today.String(), today.AddDays(7).String())
	require.NoError(t, err)

	w.campaign = w.open(t, models.Attempt{CampaignID: id, Number: 1})
	w.report(t, w.campaign, models.EventPaymentSucceeded, w.campaign.Amount)
}

// payLate has two bookings given up before their money comes. That of one is given back.
func (w *world) payLate(t *testing.T) {
	t.Helper()

	given := w.abandoned(t)
	r, err := w.s.Refunds.OrderLateRefund(t.Context(), given.ID, time.Now())
	require.NoError(t, err)
	w.settle(t, r, models.RefundSucceeded)

	w.late = w.abandoned(t)
	w.owed, err = w.s.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
}

func (w *world) abandoned(t *testing.T) models.PaymentTransaction {
	t.Helper()

	b := w.book(t)
	tx := w.open(t, models.Attempt{BookingID: b.ID, Number: 1})
	_, _, err := w.s.Payments.CancelBooking(t.Context(), db.Actor{UserID: b.UserID, Role: models.RoleEndUser}, b.ID, time.Now())
	require.NoError(t, err)
	w.report(t, tx, models.EventPaymentSucceeded, tx.Amount)

	return tx
}

// refundByPolicy gives back what the policy says after a first part has gone back.
func (w *world) refundByPolicy(t *testing.T) {
	t.Helper()

	tx := w.paid(t)
	w.refund(t, tx, "15.00")

	r := models.RefundRequest{
		ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundPolicy, RequestedBy: &w.finance.UserID, Role: w.finance.Role,
		CancelBooking: new(false),
	}
	_, err := w.s.Refunds.OrderRefund(t.Context(), r, w.Trip.DepartureAt.Add(-30*time.Hour))
	require.NoError(t, err)

	w.policy, err = w.s.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "42.50", w.policy.Amount.String())
	w.settle(t, w.policy, models.RefundSucceeded)
}

// cancelParts cancels two of three passengers, one by the policy and one for an amount; one side alone bears each refund. The third has
// boarded.
func (w *world) cancelParts(t *testing.T) {
	t.Helper()

	one := models.Passenger{Name: "Passenger"}
	w.parts = w.open(t, models.Attempt{BookingID: w.bookFor(t, one, one, one).ID, Number: 1})
	w.report(t, w.parts, models.EventPaymentSucceeded, w.parts.Amount)

	cancel := func(position int, o models.CancelOrder, bearer models.RefundBearer) models.Refund {
		o.ID, o.Passengers = models.NewID(), []uuid.UUID{models.PassengerID(*w.parts.BookingID, position)}

		done, err := w.s.Refunds.Cancel(t.Context(), models.RefundRequest{
			ID: models.NewID(), BookingID: *w.parts.BookingID, RequestedBy: &w.finance.UserID, Role: w.finance.Role, Bearer: bearer,
		}, o, w.Trip.DepartureAt.Add(-30*time.Hour))
		require.NoError(t, err)
		w.settle(t, *done.Refund, models.RefundSucceeded)

		return *done.Refund
	}

	w.byPlatform = cancel(2, models.CancelOrder{RefundBy: models.CancelByPolicy}, models.BearByPlatform)
	w.byProvider = cancel(1, models.CancelOrder{RefundBy: models.CancelByAmount, Amount: new(models.MustMoney("100.01"))}, models.BearByProvider)

	staff := db.Actor{UserID: w.Users[models.RoleProviderStaff].ID, Role: models.RoleProviderStaff, ProviderID: w.Provider.ID}
	done, err := w.s.Bookings.CheckIn(t.Context(), staff, w.Trip.ID, []bookings.Report{
		{Passenger: models.PassengerID(*w.parts.BookingID, 3), At: time.Now(), Device: "tablet"},
	}, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.CheckInDone, done[0].Status)
}

// correctNames has the name of the passenger that is left corrected twice.
func (w *world) correctNames(t *testing.T) {
	t.Helper()

	id := *w.parts.BookingID
	by := db.Actor{UserID: w.Users[models.RoleSupportAgent].ID, Role: models.RoleSupportAgent}

	for _, name := range []string{"First Name", "Right Name"} {
		require.NoError(t, w.s.Bookings.Correct(t.Context(), by, id, models.Correction{
			Passengers: []models.PassengerName{{ID: models.PassengerID(id, 3), Name: name}},
		}, time.Now()))
	}
}

// refundByHand has two parts of a bill given back: one is paid out, one is not.
func (w *world) refundByHand(t *testing.T) {
	t.Helper()

	tx := w.open(t, models.Attempt{BookingID: w.book(t).ID, Number: 1, Method: models.MethodBillPayment})
	w.report(t, tx, models.EventPaymentSucceeded, tx.Amount)
	w.byHand, w.rejected = w.reserve(t, tx, "20.00"), w.reserve(t, tx, "30.00")

	reference, other := "TRF-1", db.Actor{UserID: w.Users[models.RoleAdmin].ID, Role: models.RoleAdmin}
	_, err := w.s.Refunds.DecidePayout(t.Context(), other, models.RefundPayout{
		RefundID: w.byHand.ID, Decision: models.PayoutPaid, Reference: &reference,
	}, time.Now())
	require.NoError(t, err)
	_, err = w.s.Refunds.DecidePayout(t.Context(), w.finance, models.RefundPayout{
		RefundID: w.rejected.ID, Decision: models.PayoutRejected, Note: "no account",
	}, time.Now())
	require.NoError(t, err)

	w.settle(t, w.byHand, models.RefundSucceeded)
	w.settle(t, w.rejected, models.RefundFailed)
}

// bookingOf is the id of what was paid for, as text.
func (w *world) bookingOf(tx models.PaymentTransaction) string {
	if tx.BookingID == nil { // a world with nothing in it
		return ""
	}

	return tx.BookingID.String()
}

// entry finds the only entry of the audit log about an action.
func (w *world) entry(action string) func(*testing.T) uuid.UUID {
	return func(t *testing.T) uuid.UUID {
		t.Helper()

		return w.id(t, "SELECT id FROM audit_log WHERE action = $1", action)
	}
}

// id reads one id.
func (w *world) id(t *testing.T, query string, args ...any) uuid.UUID {
	t.Helper()

	var id uuid.UUID

	require.NoError(t, w.db.QueryRowContext(t.Context(), query, args...).Scan(&id))

	return id
}
