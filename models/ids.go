package models

import (
	"encoding/binary"
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

// subjectVersion marks the ids of what is paid for, and those that follow from them: UUIDs that begin with a time, as those of version 7.
const subjectVersion = 8

// NewSubjectID makes the id of something that is paid for, a booking or a campaign. Ids of later ones sort later, and so do the ids of all
// that follows from them: what is written for one payment is side by side in every index, however large that has become.
func NewSubjectID() uuid.UUID { return asSubject(NewID()) }

// SubjectIDAt is NewSubjectID at a moment that is over.
func SubjectIDAt(at time.Time) uuid.UUID {
	id := NewSubjectID()

	var moment [8]byte
	binary.BigEndian.PutUint64(moment[:], uint64(at.UnixMilli()))
	copy(id[:timeBytes], moment[len(moment)-timeBytes:])

	return id
}

// timeBytes is how much of such an id is the time.
const timeBytes = 6

func asSubject(id uuid.UUID) uuid.UUID {
	id[6] = id[6]&0x0f | subjectVersion<<4

	return id
}

// follow is Derive of what follows from something: a subject's, or what follows from one, passes its time on, and with it that the next
// one does. Ids that predate such subjects are as they were, and what follows from them too.
func follow(from uuid.UUID, name string) uuid.UUID {
	id := Derive(name)
	if from.Version() != subjectVersion {
		return id
	}

	copy(id[:timeBytes], from[:timeBytes])

	return asSubject(id)
}

// BookingAttemptID is the transaction id of a booking's nth payment attempt, n ≥ 1.
func BookingAttemptID(booking uuid.UUID, attempt int) uuid.UUID {
	return follow(booking, "booking:"+booking.String()+":attempt:"+strconv.Itoa(attempt))
}

// CampaignAttemptID is the transaction id of a campaign's nth payment attempt, n ≥ 1.
func CampaignAttemptID(campaign uuid.UUID, attempt int) uuid.UUID {
	return follow(campaign, "ad-campaign:"+campaign.String()+":attempt:"+strconv.Itoa(attempt))
}

// RefundID is the id of the refund that one request for it makes; request is what identifies the
// request: the caller and its Idempotency-Key, or a fresh id.
func RefundID(booking uuid.UUID, request string) uuid.UUID {
	return follow(booking, "refund:"+booking.String()+":"+request)
}

// RefundTransactionID is the id of the transaction that a refund adds when it succeeds.
func RefundTransactionID(refund uuid.UUID) uuid.UUID {
	return follow(refund, "refund-transaction:"+refund.String())
}

// TransferID is the id of the one transfer of a kind that a cause (a transaction, refund or record) makes.
func TransferID(cause uuid.UUID, kind TransferKind) uuid.UUID {
	return follow(cause, "transfer:"+cause.String()+":"+string(kind))
}

// PayoutCause is what causes the payout of a ledger entry, and its reversal, after so many reversals of the entry: the entry
// itself the first time.
func PayoutCause(record uuid.UUID, reversals int) uuid.UUID {
	if reversals == 0 {
		return record
	}

	return follow(record, "payout:"+record.String()+":"+strconv.Itoa(reversals))
}

// OutsideCause is what causes the transfer of the nth sum that a gateway gave back of a payment without an order.
func OutsideCause(payment uuid.UUID, n int) uuid.UUID {
	return follow(payment, "outside-refund:"+payment.String()+":"+strconv.Itoa(n))
}

// SecondDebitID is the transaction id of what the gateway took once more for a payment, by the gateway's id of that debit.
func SecondDebitID(payment uuid.UUID, gateway string) uuid.UUID {
	return follow(payment, "second-debit:"+payment.String()+":"+gateway)
}

// RecordID is the id of the ledger entry of a kind that a cause makes.
func RecordID(cause uuid.UUID, kind string) uuid.UUID {
	return follow(cause, "record:"+cause.String()+":"+kind)
}

// NotificationID is the id of the message to a customer on one channel about one transaction.
func NotificationID(transaction uuid.UUID, kind NotificationKind, channel NotificationChannel) uuid.UUID {
	return follow(transaction, "notification:"+transaction.String()+":"+string(kind)+":"+string(channel))
}

// AccountNoticeID is the id of the message to an account's owner about an event of that moment.
func AccountNoticeID(user uuid.UUID, kind NotificationKind, at time.Time) uuid.UUID {
	return Derive("account-notice:" + user.String() + ":" + string(kind) + ":" + at.UTC().Format(time.RFC3339Nano))
}

// RepeatedNotificationID is NotificationID for what a customer may be told several times about one transaction, once per cause.
func RepeatedNotificationID(transaction uuid.UUID, kind NotificationKind, channel NotificationChannel, cause string) uuid.UUID {
	return follow(transaction, "notification:"+transaction.String()+":"+string(kind)+":"+string(channel)+":"+cause)
}

// DisputeID is the id of a dispute of a payment, by what the gateway calls it.
func DisputeID(payment uuid.UUID, gateway string) uuid.UUID {
	return Derive("dispute:" + payment.String() + ":" + gateway)
}

// IncidentID is the id of the one incident of a kind about one subject.
func IncidentID(kind IncidentKind, subject string) uuid.UUID {
	return Derive("incident:" + string(kind) + ":" + subject)
}
