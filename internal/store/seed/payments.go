package seed

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// booking is paid at the first attempt, or at the second after one that was declined; then it may be refunded.
func (g *grower) booking(rows *seedRows, c *seedCompany, t *models.Trip) {
	at, seats := g.paidAt(t), 1+g.random.IntN(4)
	amount := t.PricePerSeat.Times(seats)
	made := at.Add(-4 * time.Minute)
	id := models.SubjectIDAt(made)

	pay := models.PaymentTransaction{
		Kind: models.KindPayment, Attempt: 1, UserID: g.customers[g.random.IntN(len(g.customers))], ProviderID: c.id, BookingID: &id,
		Amount: amount, VATRate: g.policies.VATBooking, VATAmount: models.VATWithin(amount, g.policies.VATBooking), Currency: models.Currency,
		CommissionRate: c.rate, PaymentMethod: g.method(), ExpiresAt: made.Add(g.policies.BookingHold),
	}

	if g.chance(4) {
		declined := pay
		declined.ID = models.BookingAttemptID(id, 1)
		g.decline(rows, &declined, made)

		pay.Attempt = 2
	}

	pay.ID = models.BookingAttemptID(id, pay.Attempt)
	g.capture(rows, &pay, at)

	line := models.Sale(&pay, t.Title)
	recipient := pay.UserID.String() + "@seed.rihla.test"
	g.notify(rows, pay.ID, models.NotifyPaymentSucceeded, recipient, at)
	g.settle(rows, &pay, &line, at, recipient)

	status := models.BookingConfirmed
	if pay.RefundedAmount.Equal(pay.Amount) {
		status = models.BookingCancelled
	} else {
		t.SeatsTaken += seats
	}

	rows.addTransaction(&pay)
	rows.add("bookings", id, t.ID, c.id, pay.UserID, string(status), seats, status == models.BookingConfirmed, pay.ExpiresAt, numeric(amount),
		rate(pay.VATRate), numeric(pay.VATAmount), travellers(seats), "عميل", recipient, "", string(models.LocaleArabic), made, at,
		t.DepartureAt, g.policies.Cancellation.String())
}

// travellers are the passengers of a booking, as its column has them.
func travellers(seats int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"name": "مسافر"}, `, seats), ", ") + "]"
}

// campaign advertises a trip for a week.
func (g *grower) campaign(rows *seedRows, c *seedCompany, t *models.Trip) {
	at := g.paidAt(t)
	id := models.SubjectIDAt(at)
	price := models.Halalas(int64(20_000 + g.random.IntN(500_000)))
	starts := models.DateIn(at)
	ad := models.AdCampaign{Status: models.CampaignStatusOnPayment(starts, at), StartsOn: starts, EndsOn: starts.AddDays(7)}

	rows.add("ad_campaigns", id, c.id, t.ID, c.owner, "إعلان: "+t.Title, starts.Time(), ad.EndsOn.Time(), numeric(price),
		string(models.CampaignStatusAt(&ad, g.now)), at.Add(-time.Hour), at)

	pay := models.PaymentTransaction{
		ID: models.CampaignAttemptID(id, 1), Kind: models.KindPayment, Attempt: 1, UserID: c.owner, ProviderID: c.id, AdCampaignID: &id,
		VATRate: g.policies.VATAd, CommissionRate: models.AdvertisingCommission(), Currency: models.Currency,
		PaymentMethod: g.method(), ExpiresAt: at.Add(g.policies.BookingHold),
	}
	pay.Amount, pay.VATAmount = models.AddVAT(price, pay.VATRate)
	g.capture(rows, &pay, at)
	rows.addTransaction(&pay)

	line := models.Advertising(&pay, t.Title, "إعلان: "+t.Title)
	line.CreatedAt = at
	rows.addTransfers(models.SettlementTransfers(&line, pay.Gateway), at)
	rows.lines = append(rows.lines, line)
	g.notify(rows, pay.ID, models.NotifyCampaignPaid, c.id.String()+"@seed.rihla.test", at)
}

func (g *grower) decline(rows *seedRows, t *models.PaymentTransaction, at time.Time) {
	why := models.FailureDeclined
	t.Status, t.FailureCode, t.CreatedAt, t.UpdatedAt = models.TransactionFailed, &why, at, at.Add(time.Minute)
	g.event(rows, t, models.EventPaymentFailed, nil, t.Amount, t.UpdatedAt)
	rows.addTransaction(t)
}

// capture makes a paid attempt with the webhook that proves it; the row itself comes when its refunds are known.
func (g *grower) capture(rows *seedRows, t *models.PaymentTransaction, at time.Time) {
	t.Status, t.CapturedAt, t.CreatedAt, t.UpdatedAt = models.TransactionPaid, &at, at.Add(-2*time.Minute), at
	g.event(rows, t, models.EventPaymentSucceeded, nil, t.Amount, at)
}

// event is a processed webhook about an attempt, or about one of its refunds.
func (g *grower) event(
	rows *seedRows, t *models.PaymentTransaction, kind models.EventType, refund *uuid.UUID, amount models.Money, at time.Time,
) {
	t.Gateway = t.PaymentMethod.Gateway()
	checkout, about := "chk_"+t.ID.String(), t.ID
	t.Reference = &checkout

	if refund != nil {
		about = *refund
	}

	body := fmt.Sprintf(`{"type":%q,"timestamp":%q,"data":{"checkout_id":%q,"merchant_reference":%q,"amount":%s,"currency":%q,`+
		`"payment_method":%q,"result_code":"000"}}`,
		kind, at.UTC().Format(time.RFC3339Nano), checkout, about, amount, t.Currency, t.PaymentMethod)

	rows.add("webhook_events", idAt(at), string(t.PaymentMethod.Channel()), "evt_"+about.String(), string(kind), t.ID, refund, checkout,
		about.String(), numeric(amount), t.Currency, string(t.PaymentMethod), "000", at, at, at, string(models.OutcomeApplied),
		body, fmt.Sprintf("webhook-timestamp: %d\nwebhook-signature: v1,%s=", at.Unix(), strings.Repeat("A", 43)))
}

// idAt is an id of a moment: a webhook's id is made when it is received.
func idAt(at time.Time) uuid.UUID {
	var moment [8]byte

	binary.BigEndian.PutUint64(moment[:], uint64(at.UnixMilli()))

	id := models.NewID()
	copy(id[:6], moment[2:])

	return id
}

func (g *grower) notify(rows *seedRows, transaction uuid.UUID, kind models.NotificationKind, to string, at time.Time) {
	rows.add("notifications", models.NotificationID(transaction, kind, models.NotifyEmail), transaction, string(kind),
		string(models.NotifyEmail), string(models.LocaleArabic), to, "{}", models.NotificationSent, 1, at, at)
}

// settle books the entry of a sale, pays it out when it is old enough, and refunds some: in full or in part, before the
// payout or after it.
func (g *grower) settle(rows *seedRows, t *models.PaymentTransaction, line *models.FinancialRecord, at time.Time, recipient string) {
	line.CreatedAt = at
	rows.addTransfers(models.SettlementTransfers(line, t.Gateway), at)
	rows.lines = append(rows.lines, *line)
	live := len(rows.lines) - 1

	early := at.Add(time.Duration(1+g.random.IntN(48)) * time.Hour)
	late := at.Add(payoutAge + time.Duration(1+g.random.IntN(48))*time.Hour)

	// Of a bill nothing goes back by itself.
	byGateway := t.RefundChannel() == models.RefundByGateway

	if g.chance(8) && early.Before(g.now) && byGateway {
		live = g.refund(rows, t, live, early, recipient)
	}

	if live < 0 || !at.Add(payoutAge).Before(g.now) {
		return
	}

	g.payOut(rows, live, at.Add(payoutAge))

	if g.chance(2) && late.Before(g.now) && byGateway {
		last := len(rows.lines)
		g.refund(rows, t, live, late, recipient)

		// The claw-back, the last entry of such a refund, is netted by the next payout.
		again := late.Add(payoutAge)
		if i := len(rows.lines) - 1; i >= last && rows.lines[i].Kind == models.RecordClawback && again.Before(g.now) {
			g.payOut(rows, i, again)
		}
	}
}

func (g *grower) payOut(rows *seedRows, i int, at time.Time) {
	l, day := &rows.lines[i], models.DateIn(at)
	reference := "PAYOUT-" + day.String()
	l.BalanceStatus, l.TransferredAt, l.PayoutReference, l.PayoutDate = models.BalanceTransferred, &at, &reference, &day
	rows.addTransfers(models.PayoutTransfer(l, 0), at)
}

// refund gives a part or all of a live entry back and returns the index of the entry that is live then; -1 when none is.
func (g *grower) refund(rows *seedRows, t *models.PaymentTransaction, live int, at time.Time, recipient string) int {
	line, id := rows.lines[live], models.RefundID(*t.BookingID, uuid.NewString())
	amount, kind := line.GrossAmount, models.RefundFull

	if g.chance(50) {
		kind = models.RefundPartial
		amount = models.Halalas(1 + g.random.Int64N(line.GrossAmount.Halalas()-1))
	}

	split := models.SplitForRefund(line, id, amount, models.GatewayAccount(t.Gateway), at)
	rows.lines[live] = split.Refunded
	next := -1

	if split.Rest != nil {
		split.Rest.CreatedAt, next = at, len(rows.lines)
		rows.lines = append(rows.lines, *split.Rest)
	}

	if split.Clawback != nil {
		split.Clawback.CreatedAt = at
		rows.clawedEntry[len(rows.lines)] = live
		rows.lines = append(rows.lines, *split.Clawback)
	}

	rows.addTransfers(split.Transfers, at)

	t.RefundedAmount = t.RefundedAmount.Add(amount)
	added := models.PaymentTransaction{
		ID: models.RefundTransactionID(id), Kind: models.KindRefund, ParentID: &t.ID, Attempt: t.Attempt, UserID: t.UserID,
		ProviderID: t.ProviderID, BookingID: t.BookingID, Amount: amount, VATRate: t.VATRate,
		VATAmount: models.RefundVAT(t, amount), CommissionRate: t.CommissionRate, PaymentMethod: t.PaymentMethod,
		Gateway: t.Gateway, Status: models.RefundTransactionStatus(kind, t.RefundedAmount.Equal(t.Amount)), ExpiresAt: at,
		CreatedAt: at, UpdatedAt: at,
	}
	rows.addTransaction(&added)
	rows.add("refunds", id, t.ID, added.ID, t.BookingID, string(kind), numeric(amount), string(models.RefundSucceeded), "re_"+id.String(),
		"طلب العميل", g.finance, at.Add(-time.Minute), at, at, true)
	rows.add("audit_log", models.NewID(), g.finance, string(models.RoleFinanceAdmin), models.AuditRefundRequested,
		models.EntityRefund, id, "{}", at.Add(-time.Minute))
	g.event(rows, t, models.EventRefundSucceeded, &id, amount, at)
	g.notify(rows, added.ID, models.NotifyRefundSucceeded, recipient, at)

	return next
}
