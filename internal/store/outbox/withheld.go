package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// messageDay is the time in which the messages to one address are counted.
const messageDay = 24 * time.Hour

// Why a message is not sent, as the timeline of its payment shows it.
const (
	WithheldMoved   = "not sent: the trip was moved again before; a later message says so"
	withheldForNow  = "waits: the address has had its messages of 24 hours (MESSAGES_PER_RECIPIENT)"
	withheldCountry = "not sent: SMS do not go to this country (SMS_COUNTRIES)"
	withheldLimit   = "not sent: the address has had its messages of 24 hours (MESSAGES_PER_RECIPIENT)"
)

// HeldBackReason is why a message is not sent, for programs.
type HeldBackReason string

// The reasons.
const (
	HeldBackByLimit    HeldBackReason = "RECIPIENT_LIMIT"    // the address has had its messages of 24 hours
	HeldBackByCountry  HeldBackReason = "COUNTRY_NOT_SERVED" // no SMS go there
	HeldBackByLaterOne HeldBackReason = "REPLACED"           // a later message says it anew
	HeldBackByDelivery HeldBackReason = "DELIVERY_FAILED"    // the mail server or SMS service did not take it
)

// HeldBack is why a message is not sent yet, or will never be; empty for one that waits for its turn.
func HeldBack(n *models.Notification) HeldBackReason {
	switch n.LastError {
	case "":
		return ""
	case withheldForNow, withheldLimit:
		return HeldBackByLimit
	case withheldCountry:
		return HeldBackByCountry
	case WithheldMoved:
		return HeldBackByLaterOne
	default:
		return HeldBackByDelivery
	}
}

// postponedFor is how long a message that a customer must have waits for room among those of its address.
const postponedFor = 7 * 24 * time.Hour

// Limited reports that a message counts among those that its address gets within 24 hours, and is held back by their number. What was paid
// is always written about: a stranger is not annoyed for money, and an agent books for many travellers with one address. Nor does a
// link to a new password count, which has a limit of its own (models.AccountTokenPurpose.MailLimit): strangers can ask for it, and would
// use up its owner's messages. What staff have sent again counts, whatever it is about.
func Limited(n *models.Notification) bool {
	return n.Resent() || !slices.Contains(unlimitedKinds, n.Kind)
}

// unlimitedKinds are the messages that the limit does not hold: what was paid, what was given back, when those who have paid leave,
// what staff have corrected, what companies are told of their own business, and links to a new password.
var unlimitedKinds = []models.NotificationKind{
	models.NotifyPaymentSucceeded, models.NotifyCampaignPaid, models.NotifyRefundSucceeded, models.NotifyCampaignRefunded,
	models.NotifyTripMoved, models.NotifyResetPassword, models.NotifyBookingCancelled, models.NotifyCancellationRejected,
	models.NotifyBookingCorrected,
	models.NotifyCompanyBooked, models.NotifyCompanyCancelled, models.NotifyCompanyRefunded, models.NotifyCompanyClawback,
	models.NotifyCompanyPayout, models.NotifyCompanyDispute,
}

// WithholdNotifications takes out of a claimed batch what is not to be sent, and gives it up: SMS to countries to which none are sent, and
// what exceeds the messages that an address gets within 24 hours, by mail and by SMS each. What is said about an account is not given up
// for that, but put back until there is room again, and what was paid is not held back at all (Limited). It returns what is left. underWay
// is how many the deliverer has to deliver of earlier batches that count (Limited), by address. An address has one deliverer at a time
// (LeaseShards), so that the limit is exact.
func (s *Store) WithholdNotifications(
	ctx context.Context, batch []models.Notification, underWay map[Address]int, now time.Time,
) ([]models.Notification, error) {
	had, err := s.messagesHad(ctx, batch, now)
	if err != nil {
		return nil, err
	}

	for to, n := range underWay {
		for range n {
			had[to] = had[to].andOne(now)
		}
	}

	dropped, postponed := map[string][]uuid.UUID{}, map[time.Time][]uuid.UUID{}
	left := make([]models.Notification, 0, len(batch))

	for i := range batch {
		n := &batch[i]

		to := AddressOf(n)

		full := Limited(n) && s.policies.MessagesPerRecipient > 0 && had[to].count >= s.policies.MessagesPerRecipient

		switch {
		case n.Channel == models.NotifySMS && !SMSAllowed(s.policies, n.Recipient):
			dropped[withheldCountry] = append(dropped[withheldCountry], n.ID)
		case full && n.Kind.IsAboutAccount() && now.Before(n.CreatedAt.Add(postponedFor)):
			room := had[to].first.Add(messageDay)
			postponed[room] = append(postponed[room], n.ID)
		case full:
			dropped[withheldLimit] = append(dropped[withheldLimit], n.ID)
		default:
			if Limited(n) {
				had[to] = had[to].andOne(now)
			}

			left = append(left, *n)
		}
	}

	for why, ids := range dropped {
		_, err := s.db.NewUpdate().Model((*models.Notification)(nil)).Set("status = ?", models.NotificationFailed).Set("last_error = ?", why).
			Where("id IN (?)", bun.List(ids)).Where("status = ?", models.NotificationPending).Exec(ctx)
		if err != nil {
			return nil, fmt.Errorf("withhold notifications: %w", err)
		}
	}

	for room, ids := range postponed {
		// It was not tried: the tries that a message has are for those to whom it cannot be delivered.
		_, err := s.db.NewUpdate().Model((*models.Notification)(nil)).Set("next_attempt_at = ?", room).
			Set("attempts = greatest(attempts - 1, 0)").Set("last_error = ?", withheldForNow).
			Where("id IN (?)", bun.List(ids)).Where("status = ?", models.NotificationPending).Exec(ctx)
		if err != nil {
			return nil, fmt.Errorf("postpone notifications: %w", err)
		}
	}

	return left, nil
}

// messageCount is what an address has had within a day: how many messages, and when the first of them.
type messageCount struct {
	count int
	first time.Time
}

func (r messageCount) andOne(now time.Time) messageCount {
	if r.count == 0 {
		r.first = now
	}

	return messageCount{r.count + 1, r.first}
}

// messagesHad counts what the addresses of a batch have had within a day.
func (s *Store) messagesHad(ctx context.Context, batch []models.Notification, now time.Time) (map[Address]messageCount, error) {
	had := map[Address]messageCount{}
	if s.policies.MessagesPerRecipient == 0 || len(batch) == 0 {
		return had, nil
	}

	to := make([]string, len(batch))
	for i := range batch {
		to[i] = mailboxOf(batch[i].Recipient)
	}

	var rows []struct {
		Channel   models.NotificationChannel
		Recipient string
		Count     int
		First     time.Time
	}

	err := s.db.NewSelect().Model((*models.Notification)(nil)).
		ColumnExpr("n.channel, "+mailboxSQL+" AS recipient, count(*) AS count, min(n.sent_at) AS first").
		Where(mailboxSQL+" IN (?)", bun.List(to)).Where("n.sent_at > ?", now.Add(-messageDay)).
		Where("(n.kind NOT IN (?) OR n.cause LIKE ?)", bun.List(unlimitedKinds), models.ResentCauses).
		GroupExpr("n.channel, "+mailboxSQL).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("count messages of a day: %w", err)
	}

	for _, r := range rows {
		had[Address{r.Channel, r.Recipient}] = messageCount{r.Count, r.First}
	}

	return had, nil
}

// SMSAllowed reports whether SMS are sent to a number.
func SMSAllowed(p models.Policies, phone string) bool {
	number, ok := models.E164(phone)

	return len(p.SMSCountries) == 0 || ok && slices.ContainsFunc(p.SMSCountries, func(code string) bool {
		return strings.HasPrefix(number, "+"+code)
	})
}
