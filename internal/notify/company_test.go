package notify

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// TestMessagesToCompanies say what happened in both languages, as mails alone, and lead to no page of a customer.
func TestMessagesToCompanies(t *testing.T) {
	t.Parallel()

	r := newTestRenderer(t)
	data := map[string]string{
		DataName: "Booking desk", DataBookingNumber: "RB-7XK010A", DataTripTitle: "AlUla", DataSeats: "2", DataAmount: "230.00", DataCurrency: "SAR",
	}
	payout := map[string]string{DataName: "Accounts", DataAmount: "1035.00", DataEntries: "3", DataPayoutReference: "TRF-1"}

	for _, message := range models.CompanyMessages() {
		has, values := []string{"RB-7XK010A", "AlUla", "2"}, data
		if message == models.CompanyPayout {
			has, values = []string{"1,035.00", "3", "TRF-1"}, payout
		}

		for _, locale := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
			m := Message{Kind: message.Kind(), Channel: models.NotifyEmail, Locale: locale, Data: values}
			out, err := r.Render(m)
			require.NoError(t, err, message)
			require.NotContains(t, out.Text+out.Subject, "no value", message)
			require.NotContains(t, out.HTML, "<a ", message)

			for _, part := range has {
				require.Contains(t, out.Text, part, message)
			}

			m.Channel = models.NotifySMS
			_, err = r.Render(m)
			require.True(t, IsPermanent(err), message)
		}
	}
}

// TestCorrectedBookings names the kinds of data that were changed, and nothing else of them.
func TestCorrectedBookings(t *testing.T) {
	t.Parallel()

	r := newTestRenderer(t)

	for locale, want := range map[models.Locale]string{
		models.LocaleEnglish: "Corrected: the email address, names of passengers", models.LocaleArabic: "البريد الإلكتروني، أسماء مسافرين",
	} {
		out, err := r.Render(Message{Kind: models.NotifyBookingCorrected, Channel: models.NotifyEmail, Locale: locale, Data: map[string]string{
			DataBookingNumber: "RB-7XK010A", DataChanged: string(models.CorrectedEmail) + "," + string(models.CorrectedPassengers),
		}})
		require.NoError(t, err)
		require.Contains(t, out.Text, want)
		require.Contains(t, out.Subject, "RB-7XK010A")
	}

	for _, field := range []models.CorrectedField{
		models.CorrectedName, models.CorrectedEmail, models.CorrectedPhone, models.CorrectedPassengers,
	} {
		_, err := r.Render(Message{
			Kind: models.NotifyBookingCorrected, Channel: models.NotifyEmail, Locale: models.LocaleArabic, Data: map[string]string{DataChanged: string(field)},
		})
		require.NoError(t, err, field)
	}
}
