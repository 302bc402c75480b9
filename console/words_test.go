package console_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// What the audit log calls by codes has words in both languages, and there are no words for codes that no entry has.
func TestWordsOfTheAuditLog(t *testing.T) {
	t.Parallel()

	for _, language := range []string{"ar", "en"} {
		text, err := os.ReadFile("src/i18n/" + language + ".json")
		require.NoError(t, err)

		var words struct {
			Actions  map[models.AuditAction]string `json:"auditAction"`
			Entities map[models.AuditEntity]string `json:"auditEntity"`
		}

		require.NoError(t, json.Unmarshal(text, &words))
		require.ElementsMatch(t, models.AuditActions(), slices.Collect(maps.Keys(words.Actions)), language)
		require.ElementsMatch(t, models.AuditEntities(), slices.Collect(maps.Keys(words.Entities)), language)
	}
}

// States have the same words in lists to choose from, which are the console's, as on what is listed, which are the API's.
func TestWordsOfStates(t *testing.T) {
	t.Parallel()

	type labels map[string]models.Label

	want := map[string]labels{
		"incident": {models.IncidentOpen: models.IncidentStatusLabel(models.IncidentOpen), models.IncidentResolved: models.IncidentStatusLabel(models.IncidentResolved)},
		"company":  {}, "bus": {}, "booking": {}, "transaction": {}, "refund": {}, "balance": {}, "trip": {}, "campaign": {}, "cancellation": {}, "tripCancellation": {},
	}
	for _, s := range []models.BookingStatus{
		models.BookingPendingPayment, models.BookingConfirmed, models.BookingPaymentFailed, models.BookingCancelled,
	} {
		want["booking"][string(s)] = s.Label()
	}

	for _, s := range []models.TransactionStatus{
		models.TransactionPending, models.TransactionPaid, models.TransactionFailed, models.TransactionRefunded, models.TransactionPartialRefund,
	} {
		want["transaction"][string(s)] = s.Label()
	}

	for _, s := range []models.RefundStatus{models.RefundPending, models.RefundSucceeded, models.RefundFailed} {
		want["refund"][string(s)] = s.Label()
	}

	for _, s := range []models.BalanceStatus{models.BalanceInCurrent, models.BalanceTransferred, models.BalanceRefunded} {
		want["balance"][string(s)] = s.Label()
	}

	for _, s := range []models.TripStatus{models.TripDraft, models.TripPublished, models.TripCancelling, models.TripCancelled} {
		want["trip"][string(s)] = s.Label()
	}

	for _, s := range []models.CampaignStatus{
		models.CampaignPendingPayment, models.CampaignPaymentFailed, models.CampaignScheduled, models.CampaignActive, models.CampaignPaused, models.CampaignEnded, models.CampaignCancelled,
	} {
		want["campaign"][string(s)] = s.Label()
	}

	for _, s := range []models.CancellationRequestStatus{
		models.CancellationRequested, models.CancellationApproved, models.CancellationRejected, models.CancellationWithdrawn,
		models.CancellationExpired,
	} {
		want["cancellation"][string(s)] = s.Label()
	}

	for _, s := range []models.TripCancellationStatus{
		models.TripCancellationRunning, models.TripCancellationDone, models.TripCancellationRejected, models.TripCancellationExpired,
	} {
		want["tripCancellation"][string(s)] = s.Label()
	}

	for _, s := range []string{models.StatusActive, models.StatusInactive, models.StatusUnderMaintenance} {
		want["bus"][s] = models.ResourceStatusLabel(s)
		if s != models.StatusUnderMaintenance {
			want["company"][s] = models.ResourceStatusLabel(s)
		}
	}

	for _, language := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
		text, err := os.ReadFile("src/i18n/" + string(language) + ".json")
		require.NoError(t, err)

		var words struct {
			State map[string]map[string]string `json:"state"`
		}

		require.NoError(t, json.Unmarshal(text, &words))
		require.Len(t, words.State, len(want))

		for kind, states := range want {
			for state, label := range states {
				require.Equal(t, label.In(language), words.State[kind][state], "%s: %s %s", language, kind, state)
			}

			require.Len(t, words.State[kind], len(states), kind)
		}
	}
}

// Histories say why a payment failed, where the API has codes alone, in the words that it has for them elsewhere.
func TestWordsOfFailures(t *testing.T) {
	t.Parallel()

	for _, language := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
		text, err := os.ReadFile("src/i18n/" + string(language) + ".json")
		require.NoError(t, err)

		var words struct {
			Failure map[models.FailureCode]string `json:"failure"`
		}

		require.NoError(t, json.Unmarshal(text, &words))
		require.Len(t, words.Failure, 7)

		for code, word := range words.Failure {
			require.Equal(t, code.Label().In(language), word, "%s: %s", language, code)
		}
	}
}

// By when a refund is with the customer is a rule of the service, which the console puts in words.
func TestDaysUntilARefundArrives(t *testing.T) {
	t.Parallel()

	from := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)

	days := 0
	for models.DateIn(from.AddDate(0, 0, days)).String() < models.RefundExpectedBy(from).String() {
		days++
	}

	for _, language := range []string{"ar", "en"} {
		text, err := os.ReadFile("src/i18n/" + language + ".json")
		require.NoError(t, err)

		var words struct {
			Cancel map[string]any `json:"cancel"`
		}

		require.NoError(t, json.Unmarshal(text, &words))
		require.Contains(t, words.Cancel["arrivesLater"], fmt.Sprintf(" %d ", days), language)
	}
}
