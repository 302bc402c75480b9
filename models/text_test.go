package models_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestTextIn(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 11, 2, 21, 30, 0, 0, time.UTC)

	for _, test := range []struct {
		text                        models.Text
		developers, english, arabic string
	}{
		{
			models.TextOf("field.min_length", "n", 10),
			"must have at least 10 characters", "must have at least 10 characters", "يجب ألا يقل النص عن 10 أحرف",
		},
		{
			models.TextOf("field.max_length", "n", 120),
			"must have at most 120 characters", "must have at most 120 characters", "يجب ألا يزيد النص على 120 حرفًا",
		},
		{
			models.TextOf("field.max_length", "n", 200),
			"must have at most 200 characters", "must have at most 200 characters", "يجب ألا يزيد النص على 200 حرف",
		},
		{models.TextOf("field.min_items", "n", 1), "must have at least 1 item", "must have at least 1 item", "يجب إدخال عنصر واحد على الأقل"},
		{models.TextOf("field.min_items", "n", 2), "must have at least 2 items", "must have at least 2 items", "يجب إدخال عنصرين على الأقل"},
		{
			models.TextOf("list.sort_by", "fields", []string{"name", "stars", "city"}),
			"must be name, stars or city, each with an optional leading -, separated by commas",
			"must be name, stars or city, each with an optional leading -, separated by commas",
			"يجب أن تكون القيمة من: name، stars أو city، مع - اختيارية قبل كل منها، مفصولة بفواصل",
		},
		{
			models.TextOf("method.min", "amount", models.MustMoney("1150")),
			"takes at least 1150.00 SAR", "takes at least 1,150.00 SAR", "الحد الأدنى للدفع بهذه الطريقة 1,150.00 ريال",
		},
		{
			models.TextOf("booking.cancelled_state", "status", models.BookingConfirmed),
			"The booking is CONFIRMED and cannot be cancelled.", "The booking cannot be cancelled. Its status: Confirmed.",
			"لا يمكن إلغاء الحجز. حالته: مؤكد.",
		},
		{
			models.TextOf("payout.before_payment", "date", models.NewDate(2026, 11, 2)), "must not be before the payment of 2026-11-02",
			"must not be before the payment of 2 November 2026", "لا يمكن أن يسبق تاريخ الدفع 2 نوفمبر 2026",
		},
		{
			models.TextOf("refund.approval_over", "at", at), "The time to decide on the refund ended at 2026-11-02T21:30:00Z.",
			"The time to decide on the refund ended at 3 November 2026 00:30.", "انتهت مهلة القرار في الاسترداد في 3 نوفمبر 2026 00:30.",
		},
		{
			models.TextOf("trip.notice", "notice", 24*time.Hour), "must leave customers at least 24h when it is brought forward",
			"must leave customers at least 24 hours when it is brought forward", "عند تقديم موعد المغادرة يجب أن يبقى للعملاء 24 ساعة على الأقل",
		},
		{
			models.TextOf("incident.late_refund_rejected", "owed", models.TextOf("incident.still_in_suspense"), "then", models.Text{}),
			"The gateway rejected the refund of a late payment. The money is still in suspense: order the refund of this transaction again.",
			"The gateway rejected the refund of a late payment. The money is still in suspense: order the refund of this transaction again.",
			"رفضت بوابة الدفع استرداد دفعة متأخرة. المبلغ ما زال معلّقًا: اطلب استرداد هذه العملية من جديد.",
		},
		{models.Verbatim("RB-7K3M9QX"), "RB-7K3M9QX", "RB-7K3M9QX", "RB-7K3M9QX"},
		{models.TextOf("field.of_a_later_version"), "field.of_a_later_version", "field.of_a_later_version", "field.of_a_later_version"},
	} {
		require.Equal(t, test.developers, test.text.String())
		require.Equal(t, test.english, test.text.In(models.LocaleEnglish))
		require.Equal(t, test.arabic, test.text.In(models.LocaleArabic))

		// What is kept says the same when it is read.
		kept, err := json.Marshal(test.text)
		require.NoError(t, err)

		var read models.Text
		require.NoError(t, json.Unmarshal(kept, &read), "%s", kept)
		require.Equal(t, test.developers, read.String(), "%s", kept)
		require.Equal(t, test.arabic, read.In(models.LocaleArabic), "%s", kept)
		require.True(t, test.text.Equal(read), "%s", kept)
	}
}

// TestTextsInDetails: what the service has written into an audit entry is read in both languages, and older entries as they are.
func TestTextsInDetails(t *testing.T) {
	t.Parallel()

	after := map[string]any{"decision": "REJECTED"}
	models.TextOf("refund.rejected_requester_gone").KeepIn(after, "note")

	details := map[string]any{"after": after, "older": "account locked", "their_text": map[string]any{"rows": 1}}
	models.TextOf("sign_on.token_endpoint", "code", "invalid_grant").KeepIn(details, "reason")
	models.Verbatim("FORBIDDEN").KeepIn(details, "code")

	kept, err := json.Marshal(details)
	require.NoError(t, err)

	var read map[string]any
	require.NoError(t, json.Unmarshal(kept, &read))
	models.PutIntoWords(read)
	require.Equal(t, map[string]any{
		"after": map[string]any{
			"decision": "REJECTED", "note": "The account of the requester is locked or was removed.",
			"note_ar": "حساب مقدّم الطلب موقوف أو محذوف.", "note_en": "The account of the requester is locked or was removed.",
		},
		"older": "account locked", "their_text": map[string]any{"rows": 1.0}, "code": "FORBIDDEN",
		"reason": "token endpoint: invalid_grant", "reason_ar": "رفضت نقطة الرموز لدى مزوّد الهوية: invalid_grant",
		"reason_en": "token endpoint: invalid_grant",
	}, read)
}

// TestNoteIn: a note of the service has its words in both languages, one of a person is as it was written.
func TestNoteIn(t *testing.T) {
	t.Parallel()

	said := models.TextOf("incident.gateway_up")
	require.Equal(t, "عادت بوابة الدفع إلى الاستجابة.", models.NoteIn(models.LocaleArabic, said.String(), said))
	require.Equal(t, "The gateway answers again.", models.NoteIn(models.LocaleEnglish, said.String(), said))
	require.Equal(t, "looked at", models.NoteIn(models.LocaleArabic, "looked at", models.Text{}))
}

// TestTextOfBefore: histories of earlier versions have sentences.
func TestTextOfBefore(t *testing.T) {
	t.Parallel()

	var details map[string][]models.Text

	require.NoError(t, json.Unmarshal([]byte(`{"amount": ["must be more than 0"]}`), &details))
	require.Equal(t, map[string][]models.Text{"amount": {models.Verbatim("must be more than 0")}}, details)
}
