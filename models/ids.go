package models

import (
	"strconv"
	"time"

	"github.com/google/uuid"
)

// namespace makes the service's derived ids its own. It must never change: ids are kept for ever.
var namespace = uuid.MustParse("6f1d1c8e-4f0b-5b7a-9d55-3a2f6a1c7e10")

// Derive makes the same UUIDv5 of the same name on every machine (rules: payments.identity).
func Derive(name string) uuid.UUID { return uuid.NewSHA1(namespace, []byte(name)) }

// NewID makes a UUIDv7 for a row: ids of later rows sort later.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// BookingAttemptID is the transaction id of a booking's nth payment attempt, n ≥ 1.
func BookingAttemptID(booking uuid.UUID, attempt int) uuid.UUID {
	return Derive("booking:" + booking.String() + ":attempt:" + strconv.Itoa(attempt))
}

// CampaignAttemptID is the transaction id of a campaign's nth payment attempt, n ≥ 1.
func CampaignAttemptID(campaign uuid.UUID, attempt int) uuid.UUID {
	return Derive("ad-campaign:" + campaign.String() + ":attempt:" + strconv.Itoa(attempt))
}

// RefundID is the id of the refund that one request for it makes; request is what identifies the
// request: the caller and its Idempotency-Key, or a fresh id.
func RefundID(booking uuid.UUID, request string) uuid.UUID {
	return Derive("refund:" + booking.String() + ":" + request)
}

// RefundTransactionID is the id of the transaction that a refund adds when it succeeds.
func RefundTransactionID(refund uuid.UUID) uuid.UUID {
	return Derive("refund-transaction:" + refund.String())
}

// TransferID is the id of the one transfer of a kind that a cause (a transaction, refund or record) makes.
func TransferID(cause uuid.UUID, kind TransferKind) uuid.UUID {
	return Derive("transfer:" + cause.String() + ":" + string(kind))
}

// PayoutCause is what causes the payout of a ledger line, and its reversal, after so many reversals of the line: the line
// itself the first time.
func PayoutCause(record uuid.UUID, reversals int) uuid.UUID {
	if reversals == 0 {
		return record
	}

	return Derive("payout:" + record.String() + ":" + strconv.Itoa(reversals))
}

// RecordID is the id of the ledger line of a kind that a cause makes.
func RecordID(cause uuid.UUID, kind string) uuid.UUID {
	return Derive("record:" + cause.String() + ":" + kind)
}

// NotificationID is the id of the message to a customer on one channel about one transaction.
func NotificationID(transaction uuid.UUID, kind NotificationKind, channel NotificationChannel) uuid.UUID {
	return Derive("notification:" + transaction.String() + ":" + string(kind) + ":" + string(channel))
}

// AccountNoticeID is the id of the message to an account's owner about an event of that moment.
func AccountNoticeID(user uuid.UUID, kind NotificationKind, at time.Time) uuid.UUID {
	return Derive("account-notice:" + user.String() + ":" + string(kind) + ":" + at.UTC().Format(time.RFC3339Nano))
}

// RepeatedNotificationID is NotificationID for what a customer may be told several times about one transaction, once per cause.
func RepeatedNotificationID(transaction uuid.UUID, kind NotificationKind, channel NotificationChannel, cause string) uuid.UUID {
	return Derive("notification:" + transaction.String() + ":" + string(kind) + ":" + string(channel) + ":" + cause)
}

// IncidentID is the id of the one incident of a kind about one subject.
func IncidentID(kind IncidentKind, subject string) uuid.UUID {
	return Derive("incident:" + string(kind) + ":" + subject)
}
