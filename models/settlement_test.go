package models_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

var paidAt = time.Date(2026, 3, 1, 20, 59, 0, 0, time.UTC) // 23:59 in Riyadh

// attempt is a booking's payment of 115.00 in the given state.
func attempt(status models.TransactionStatus, why models.FailureCode, captured bool) *models.PaymentTransaction {
	booking := uuid.New()
	t := &models.PaymentTransaction{
		ID: models.BookingAttemptID(booking, 1), Kind: models.KindPayment, BookingID: &booking, ProviderID: uuid.New(),
		Amount: models.MustMoney("115.00"), Currency: models.Currency, VATAmount: models.MustMoney("15.00"),
		VATRate: models.MustRate("0.15"), Gateway: models.GatewayA, Status: status,
	}
	if why != "" {
		t.FailureCode = &why
	}

	if captured {
		t.CapturedAt = &paidAt
	}

	return t
}

func event(kind models.EventType, amount, currency string) *models.WebhookEvent {
	e := &models.WebhookEvent{Type: kind, Currency: currency}
	if amount != "" {
		m := models.MustMoney(amount)
		e.Amount = &m
	}

	return e
}

// The states an attempt can be in, by the names that the table below uses.
func attemptStates() map[string]*models.PaymentTransaction {
	return map[string]*models.PaymentTransaction{
		"pending":           attempt(models.TransactionPending, "", false),
		"paid":              attempt(models.TransactionPaid, "", true),
		"declined":          attempt(models.TransactionFailed, models.FailureDeclined, false),
		"expired":           attempt(models.TransactionFailed, models.FailureExpired, false),
		"cancelled":         attempt(models.TransactionFailed, models.FailureCancelled, false),
		"rejected":          attempt(models.TransactionFailed, models.FailureGatewayRejected, false),
		"amount mismatch":   attempt(models.TransactionFailed, models.FailureAmountMismatch, false),
		"currency mismatch": attempt(models.TransactionFailed, models.FailureCurrencyMismatch, false),
		"late capture":      attempt(models.TransactionFailed, models.FailureExpired, true),
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()

	const (
		success       = "success"
		wrongAmount   = "wrong amount"
		wrongCurrency = "wrong currency"
		failed        = "failed"
		expired       = "expired"
		refund        = "refund"
		unknown       = "unknown"
	)

	events := map[string]*models.WebhookEvent{
		success:       event(models.EventPaymentSucceeded, "115", "SAR"),
		wrongAmount:   event(models.EventPaymentSucceeded, "114.99", "SAR"),
		wrongCurrency: event(models.EventPaymentSucceeded, "115.00", "USD"),
		failed:        event(models.EventPaymentFailed, "115.00", "SAR"),
		expired:       event(models.EventPaymentExpired, "", ""),
		refund:        event(models.EventRefundSucceeded, "115.00", "SAR"),
		unknown:       event("checkout.viewed", "", ""),
	}

	type row map[string]models.EventOutcome

	const (
		applied   = models.OutcomeApplied
		duplicate = models.OutcomeDuplicate
		ignored   = models.OutcomeIgnored
		incident  = models.OutcomeIncident
	)

	ended := row{success: ignored, wrongAmount: ignored, wrongCurrency: ignored, failed: duplicate, expired: duplicate, refund: ignored, unknown: ignored}
	final := row{success: incident, wrongAmount: incident, wrongCurrency: incident, failed: incident, expired: incident, refund: incident, unknown: incident}
	want := map[string]row{
		"pending":  {success: applied, wrongAmount: incident, wrongCurrency: incident, failed: applied, expired: applied, refund: ignored, unknown: ignored},
		"paid":     {success: duplicate, wrongAmount: incident, wrongCurrency: incident, failed: ignored, expired: ignored, refund: ignored, unknown: ignored},
		"declined": ended, "expired": ended, "cancelled": ended, "rejected": ended,
		"amount mismatch": final, "currency mismatch": final,
		"late capture": {success: duplicate, wrongAmount: incident, wrongCurrency: incident, failed: duplicate, expired: duplicate, refund: ignored, unknown: ignored},
	}

	states := attemptStates()
	require.Len(t, want, len(states))

	for state, outcomes := range want {
		require.Len(t, outcomes, len(events), state)

		for name, outcome := range outcomes {
			v := models.Judge(states[state], events[name])
			require.Equal(t, outcome, v.Outcome, "%s, then %s", state, name)

			if state != "pending" {
				require.Equal(t, states[state].Status, v.Status, "an attempt that has ended keeps its state: %s, then %s", state, name)
			}

			late := name == success || name == wrongAmount || name == wrongCurrency
			late = late && (state == "declined" || state == "expired" || state == "cancelled" || state == "rejected")
			require.Equal(t, late, models.IsLateSuccess(states[state], events[name]), "%s, then %s", state, name)
		}
	}
}

func TestJudgePending(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		event   *models.WebhookEvent
		status  models.TransactionStatus
		failure models.FailureCode
	}{
		{"paid", event(models.EventPaymentSucceeded, "115.00", "SAR"), models.TransactionPaid, ""},
		{"one halala short", event(models.EventPaymentSucceeded, "114.99", "SAR"), models.TransactionFailed, models.FailureAmountMismatch},
		{"one halala more", event(models.EventPaymentSucceeded, "115.01", "SAR"), models.TransactionFailed, models.FailureAmountMismatch},
		{"no amount", event(models.EventPaymentSucceeded, "", "SAR"), models.TransactionFailed, models.FailureAmountMismatch},
		{"other currency", event(models.EventPaymentSucceeded, "115.00", "USD"), models.TransactionFailed, models.FailureCurrencyMismatch},
		{"other currency and amount", event(models.EventPaymentSucceeded, "1.00", "USD"), models.TransactionFailed, models.FailureCurrencyMismatch},
		{"no currency", event(models.EventPaymentSucceeded, "115.00", ""), models.TransactionFailed, models.FailureCurrencyMismatch},
		{"declined", event(models.EventPaymentFailed, "", ""), models.TransactionFailed, models.FailureDeclined},
		{"expired", event(models.EventPaymentExpired, "", ""), models.TransactionFailed, models.FailureExpired},
		{"of a refund", event(models.EventRefundFailed, "115.00", "SAR"), models.TransactionPending, ""},
	}
	for _, tt := range tests {
		v := models.Judge(attempt(models.TransactionPending, "", false), tt.event)
		require.Equal(t, tt.status, v.Status, tt.name)
		require.Equal(t, tt.failure, v.Failure, tt.name)
	}
}

func TestSale(t *testing.T) {
	t.Parallel()

	tests := []struct{ rate, commission, net string }{
		{"0.10", "11.50", "103.50"},
		{"0", "0.00", "115.00"},
		{"1", "115.00", "0.00"},
		{"0.1234", "14.19", "100.81"}, // 14.191
		{"0.0001", "0.01", "114.99"},  // 0.0115
	}
	for _, tt := range tests {
		tx := attempt(models.TransactionPaid, "", true)
		tx.CommissionRate = models.MustRate(tt.rate)
		r := models.Sale(tx, "Winter in AlUla")

		require.Equal(t, models.RecordSale, r.Kind)
		require.Equal(t, "115.00", r.GrossAmount.String())
		require.Equal(t, tt.commission, r.PlatformCommissionAmount.String(), tt.rate)
		require.Equal(t, tt.net, r.NetAmount.String(), tt.rate)
		require.True(t, r.CommissionRate.Equal(tx.CommissionRate), tt.rate)
		require.Equal(t, "15.00", r.VATAmount.String())
		require.True(t, r.RefundedAmount.IsZero())
		require.Equal(t, "Winter in AlUla", r.Details)
		require.Equal(t, "2026-03-01", r.RecordDate.String())
		require.Equal(t, models.BalanceInCurrent, r.BalanceStatus)
		require.Equal(t, tx.ID, r.PaymentTransactionID)
		require.Equal(t, tx.BookingID, r.BookingID)
		require.Equal(t, models.RecordID(tx.ID, "SALE"), r.ID)

		moved := models.Money{}
		for _, tr := range models.SettlementTransfers(&r, tx.Gateway) {
			require.Equal(t, models.GatewayAccount(tx.Gateway), tr.DebitAccount)
			require.True(t, tr.Amount.IsPositive(), "the database refuses empty transfers")
			require.Equal(t, r.ID, *tr.RecordID)
			moved = moved.Add(tr.Amount)
		}

		require.True(t, moved.Equal(r.GrossAmount))
	}

	// A minute later it is the next day in Riyadh.
	tomorrow, later := attempt(models.TransactionPaid, "", true), paidAt.Add(time.Minute)
	tomorrow.CapturedAt = &later
	next := models.Sale(tomorrow, "x")
	require.Equal(t, "2026-03-02", next.RecordDate.String())
}

// A hold belongs to the attempt, and to the booking only so far that trying again never makes it longer.
func TestHoldFor(t *testing.T) {
	t.Parallel()

	const card, bill = 30 * time.Minute, 72 * time.Hour

	booked := paidAt

	for name, tt := range map[string]struct {
		until, method, departure, now, want time.Duration // since the booking
	}{
		"the first card":                   {card, card, 1000 * time.Hour, 0, card},
		"a second card has what is left":   {card, card, 1000 * time.Hour, 20 * time.Minute, card},
		"a bill is counted from booking":   {card, bill, 1000 * time.Hour, 20 * time.Minute, bill},
		"a card after a bill has a card's": {bill, card, 1000 * time.Hour, 5 * time.Hour, 5*time.Hour + card},
		"a second card after a bill":       {5*time.Hour + card, card, 1000 * time.Hour, 5*time.Hour + 10*time.Minute, 5*time.Hour + card},
		"a card at the end of a bill's":    {bill, card, 1000 * time.Hour, bill - time.Minute, bill},
		"never beyond the departure":       {card, bill, 10 * time.Hour, time.Minute, 10 * time.Hour},
		"nor beyond one that was moved up": {bill, bill, 10 * time.Hour, time.Minute, 10 * time.Hour},
	} {
		b := models.Booking{CreatedAt: booked, HoldUntil: booked.Add(tt.until)}
		require.Equal(t, booked.Add(tt.want), b.HoldFor(tt.method, booked.Add(tt.departure), booked.Add(tt.now)), name)
	}
}

// A payment is of the moment at which the gateway took the money, within what can be: not before there was an attempt, and not
// after the gateway told of it.
func TestTakenAt(t *testing.T) {
	t.Parallel()

	opened, told := paidAt, paidAt.Add(time.Hour)
	tx := attempt(models.TransactionPending, "", false)
	tx.CreatedAt = opened

	for name, tt := range map[string]struct{ says, taken time.Time }{
		"in between":                   {opened.Add(time.Minute), opened.Add(time.Minute)},
		"the moment it was opened":     {opened, opened},
		"before it was opened":         {opened.Add(-time.Second), opened},
		"in another age":               {time.Time{}, opened},
		"the moment it was told":       {told, told},
		"after it was told":            {told.Add(time.Second), told},
		"in another zone, same moment": {opened.Add(time.Minute).In(time.FixedZone("UTC+3", 3*60*60)), opened.Add(time.Minute)},
	} {
		e := event(models.EventPaymentSucceeded, "115.00", models.Currency)
		e.OccurredAt, e.ReceivedAt = tt.says, told
		require.True(t, tt.taken.Equal(e.TakenAt(tx)), "%s: %s", name, e.TakenAt(tx))
	}
}

func TestAdvertising(t *testing.T) {
	t.Parallel()

	tx := attempt(models.TransactionPaid, "", true)
	campaign := uuid.New()
	tx.BookingID, tx.AdCampaignID = nil, &campaign
	tx.Amount, tx.VATAmount = models.MustMoney("1200.00"), models.MustMoney("200.00")

	r := models.Advertising(tx, "Winter in AlUla", "Early birds")
	require.Equal(t, models.RecordAdvertising, r.Kind)
	require.Equal(t, "1200.00", r.PlatformCommissionAmount.String(), "all of it is the platform's")
	require.True(t, r.NetAmount.IsZero())
	require.Equal(t, "Ad campaign for trip Winter in AlUla (Early birds)", r.Details, "two campaigns of one trip can be told apart")
	require.Equal(t, &campaign, r.AdCampaignID)
	require.Nil(t, r.BookingID)

	transfers := models.SettlementTransfers(&r, tx.Gateway)
	require.Len(t, transfers, 2)
	require.Equal(t, models.AccountAdvertising, transfers[0].CreditAccount)
	require.Equal(t, "1000.00", transfers[0].Amount.String())
	require.Equal(t, models.AccountVAT, transfers[1].CreditAccount)
	require.Equal(t, "200.00", transfers[1].Amount.String())
	require.Empty(t, models.PayoutTransfer(&r, 0), "there is nothing to pay out")
}

func TestLateCaptureIsOwedStraightBack(t *testing.T) {
	t.Parallel()

	tx := attempt(models.TransactionFailed, models.FailureExpired, true)
	in := models.LateCaptureTransfer(tx)
	out := models.LateRefundTransfer(tx, uuid.New(), tx.Amount, models.GatewayAccount(tx.Gateway))

	require.Equal(t, in.DebitAccount, out.CreditAccount)
	require.Equal(t, in.CreditAccount, out.DebitAccount)
	require.Equal(t, models.AccountRefunds, in.CreditAccount)
	require.True(t, in.Amount.Equal(out.Amount))
	require.NotEqual(t, in.ID, out.ID)
	require.Nil(t, in.RefundID)
	require.NotNil(t, out.RefundID)
}
