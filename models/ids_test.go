package models_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// What follows from a subject of version 8 has its time, and never changes either.
func TestIDsThatFollowASubjectNeverChange(t *testing.T) {
	t.Parallel()

	id := uuid.MustParse("019ab0c2-7123-8aaa-8bbb-000000000001")
	attempt := models.BookingAttemptID(id, 1)
	record := models.RecordID(attempt, "SALE")

	got := map[string]uuid.UUID{
		"booking":      attempt,
		"second":       models.BookingAttemptID(id, 2),
		"campaign":     models.CampaignAttemptID(id, 1),
		"refund":       models.RefundID(id, "key"),
		"refund tx":    models.RefundTransactionID(models.RefundID(id, "key")),
		"record":       record,
		"transfer":     models.TransferID(record, models.TransferPayout),
		"payout again": models.TransferID(models.PayoutCause(record, 1), models.TransferPayout),
		"notification": models.NotificationID(attempt, models.NotifyPaymentSucceeded, models.NotifySMS),
		"told again":   models.RepeatedNotificationID(attempt, models.NotifyPaymentSucceeded, models.NotifySMS, "x"),
	}
	want := map[string]string{
		"booking":      "019ab0c2-7123-8f6c-a548-6951d920f0c0",
		"second":       "019ab0c2-7123-8b80-9f0d-6a4e187bbc87",
		"campaign":     "019ab0c2-7123-8fe2-9cc0-4e2ef8be7ba9",
		"refund":       "019ab0c2-7123-8164-abe1-cbe9080b040a",
		"refund tx":    "019ab0c2-7123-849f-8e2f-17d2d35350c8",
		"record":       "019ab0c2-7123-8ef1-9b07-5a8e699927d0",
		"transfer":     "019ab0c2-7123-8033-9e79-f606c82837a0",
		"payout again": "019ab0c2-7123-8c83-bac8-2c60e4c05d7a",
		"notification": "019ab0c2-7123-80a9-abb9-62a937695c53",
		"told again":   "019ab0c2-7123-82d4-90d9-acbb56eaf93f",
	}

	seen := map[uuid.UUID]bool{}

	for name, u := range got {
		require.Equal(t, want[name], u.String(), name)
		require.EqualValues(t, 8, u.Version(), name)
		require.Equal(t, uuid.RFC4122, u.Variant(), name)
		require.Equal(t, id[:6], u[:6], name)
		require.False(t, seen[u], name)

		seen[u] = true
	}
}

// Later subjects, and what follows from them, sort later, to the millisecond.
func TestSubjectsAreInTheOrderOfTime(t *testing.T) {
	t.Parallel()

	before := time.Now().Add(-time.Second)
	early, now := models.SubjectIDAt(before), models.NewSubjectID()

	require.EqualValues(t, 8, now.Version())
	require.Negative(t, bytes.Compare(early[:], now[:]))

	first, second := models.BookingAttemptID(early, 1), models.BookingAttemptID(now, 1)
	require.Negative(t, bytes.Compare(first[:], second[:]))

	milliseconds := int64(0)
	for _, b := range early[:6] {
		milliseconds = milliseconds<<8 | int64(b)
	}

	require.Equal(t, before.UnixMilli(), milliseconds)
}
