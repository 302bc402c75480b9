package models

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// NotificationKind is the subject of a message to a customer.
type NotificationKind string

// The kinds of notification.
const (
	NotifyPaymentSucceeded NotificationKind = "PAYMENT_SUCCEEDED"
	NotifyPaymentFailed    NotificationKind = "PAYMENT_FAILED"
	NotifyRefundSucceeded  NotificationKind = "REFUND_SUCCEEDED"
	NotifyCampaignPaid     NotificationKind = "CAMPAIGN_PAID"
	NotifyCampaignRefunded NotificationKind = "CAMPAIGN_REFUNDED"
	NotifyAccountLocked    NotificationKind = "ACCOUNT_LOCKED"
	NotifyTripMoved        NotificationKind = "TRIP_MOVED"
	// NotifyBookingCancelled: passengers were cancelled, with what goes back for them.
	NotifyBookingCancelled     NotificationKind = "BOOKING_CANCELLED"
	NotifyCancellationRejected NotificationKind = "CANCELLATION_REJECTED"
	// NotifyBookingCorrected says which kinds of data staff have changed.
	NotifyBookingCorrected NotificationKind = "BOOKING_CORRECTED"
	// NotifyCheckoutLink has the address at which a booking can be paid, which is read when the message is sent.
	NotifyCheckoutLink NotificationKind = "CHECKOUT_LINK"

	// NotifyCompanyBooked and the next ones go to contact persons of a company.
	NotifyCompanyBooked    NotificationKind = "COMPANY_BOOKED"
	NotifyCompanyCancelled NotificationKind = "COMPANY_CANCELLED"
	NotifyCompanyRefunded  NotificationKind = "COMPANY_REFUNDED"
	NotifyCompanyClawback  NotificationKind = "COMPANY_CLAWBACK"
	NotifyCompanyPayout    NotificationKind = "COMPANY_PAYOUT"
	NotifyCompanyDispute   NotificationKind = "COMPANY_DISPUTE"

	NotifyVerifyEmail         NotificationKind = "VERIFY_EMAIL"
	NotifyResetPassword       NotificationKind = "RESET_PASSWORD"
	NotifyInvitation          NotificationKind = "INVITATION"
	NotifyAlreadyRegistered   NotificationKind = "ALREADY_REGISTERED"
	NotifyPasswordChanged     NotificationKind = "PASSWORD_CHANGED"
	NotifySecondFactorAdded   NotificationKind = "SECOND_FACTOR_ADDED"
	NotifySecondFactorRemoved NotificationKind = "SECOND_FACTOR_REMOVED"
	NotifySessionStolen       NotificationKind = "SESSION_STOLEN"
	// NotifyAdminAdded goes to every SUPER_ADMIN, about another account.
	NotifyAdminAdded NotificationKind = "ADMIN_ADDED"
	// NotifyCancellationWaiting reminds finance staff of an undecided request.
	NotifyCancellationWaiting NotificationKind = "CANCELLATION_WAITING"
)

// IsAboutAccount reports that the message is about an account, and so about no money.
func (k NotificationKind) IsAboutAccount() bool {
	switch k {
	case NotifyAccountLocked, NotifyVerifyEmail, NotifyResetPassword, NotifyInvitation, NotifyAlreadyRegistered, NotifyPasswordChanged,
		NotifySecondFactorAdded, NotifySecondFactorRemoved, NotifySessionStolen, NotifyAdminAdded, NotifyCancellationWaiting:
		return true
	default:
		return false
	}
}

// MailOnly reports that the message has no form as an SMS.
func (k NotificationKind) MailOnly() bool {
	return k.IsAboutAccount() || k.IsForCompany() || k == NotifyBookingCorrected
}

// IsForCompany reports that the message goes to contact persons of a company, about what it sells.
func (k NotificationKind) IsForCompany() bool {
	switch k {
	case NotifyCompanyBooked, NotifyCompanyCancelled, NotifyCompanyRefunded, NotifyCompanyClawback, NotifyCompanyPayout,
		NotifyCompanyDispute:
		return true
	default:
		return false
	}
}

// resentCause begins the cause of a message that staff have had sent again.
const resentCause = "resent:"

// ResentCauses matches the causes of all such messages, in SQL.
const ResentCauses = resentCause + "%"

// ResentCause is the cause of the nth sending of a message that staff have had sent again.
func ResentCause(message ResendKind, n int) string {
	return resentCause + string(message) + ":" + strconv.Itoa(n)
}

// Resent reports a message that staff have had sent again.
func (n *Notification) Resent() bool { return strings.HasPrefix(n.Cause, resentCause) }

// NotificationChannel is the way that a message takes.
type NotificationChannel string

// The channels of a message.
const (
	NotifyEmail NotificationChannel = "EMAIL"
	NotifySMS   NotificationChannel = "SMS"
)

// Notification is a row of the outbox: queued with its cause, delivered once per (transaction, kind, channel, cause).
type Notification struct {
	bun.BaseModel `bun:"table:notifications,alias:n"`

	ID            uuid.UUID           `bun:"id,pk"`
	TransactionID uuid.UUID           `bun:"transaction_id,nullzero"` // zero for a message about an account
	UserID        *uuid.UUID          `bun:"user_id"`                 // of a message about an account
	Kind          NotificationKind    `bun:"kind"`
	Channel       NotificationChannel `bun:"channel"`
	Cause         string              `bun:"cause"` // the move of the trip, or which sending of a checkout; empty for what is sent once
	Locale        Locale              `bun:"locale"`
	Recipient     string              `bun:"recipient"`
	Data          map[string]string   `bun:"data,type:jsonb"`
	Status        string              `bun:"status"`
	Attempts      int                 `bun:"attempts"`
	NextAttemptAt time.Time           `bun:"next_attempt_at,nullzero,default:now()"`
	LastError     string              `bun:"last_error"`
	CreatedAt     time.Time           `bun:"created_at,nullzero,default:now()"`
	SentAt        *time.Time          `bun:"sent_at"`
}
