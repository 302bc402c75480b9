package notify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func checkoutLink(channel models.NotificationChannel, locale models.Locale, address string) Message {
	m := testMessage(models.NotifyCheckoutLink, channel, locale)
	m.Data[DataRetryUntil], m.Link = "2026-11-20T10:00:00+03:00", address

	return m
}

// TestRenderCheckoutLink: mail and SMS lead to the page on which the booking is paid, in both languages.
func TestRenderCheckoutLink(t *testing.T) {
	t.Parallel()

	const address = "https://pay.gateway.test/pay/chk_8f2a10?a=1&b=2"

	r := newTestRenderer(t)

	for locale, want := range map[models.Locale]struct{ subject, button, sms string }{
		models.LocaleArabic: {
			"دفع قيمة الحجز \u2068RB-7XK010A\u2069: عمرة من الرياض", "ادفع الآن",
			"رحلة: ادفع \u20681,150.00 ر.س\u2069 للحجز \u2068RB-7XK010A\u2069 حتى 20/11/2026 10:00: " + address,
		},
		models.LocaleEnglish: {
			"Pay for booking RB-7XK010A: \u2068عمرة من الرياض\u2069", "Pay now",
			"Rihla: pay 1,150.00 SAR for booking RB-7XK010A until 20 Nov 2026 10:00: " + address,
		},
	} {
		out, err := r.Render(checkoutLink(models.NotifyEmail, locale, address))
		require.NoError(t, err)
		require.Equal(t, want.subject, out.Subject)
		require.Contains(t, out.Text, want.button+": "+address+"\n")
		require.Contains(t, out.HTML, `href="https://pay.gateway.test/pay/chk_8f2a10?a=1&amp;b=2"`)
		require.NotContains(t, out.Text, "rihla.test/bookings", "one button")

		out, err = r.Render(checkoutLink(models.NotifySMS, locale, address))
		require.NoError(t, err)
		require.Equal(t, Rendered{Text: want.sms}, out)
	}
}

// TestRenderCheckoutLinkWhole: an address is never cut off; one that is too long for SMS goes by mail alone.
func TestRenderCheckoutLinkWhole(t *testing.T) {
	t.Parallel()

	r := newTestRenderer(t)
	long := "https://pay.gateway.test/" + strings.Repeat("x", 400)

	for _, locale := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
		out, err := r.Render(checkoutLink(models.NotifySMS, locale, long))
		require.NoError(t, err)
		require.Contains(t, out.Text, long)
		require.LessOrEqual(t, segments(out.Text), maxLinkSegments)

		_, err = r.Render(checkoutLink(models.NotifySMS, locale, long+strings.Repeat(long, 3)))
		require.True(t, IsPermanent(err))

		out, err = r.Render(checkoutLink(models.NotifyEmail, locale, long+strings.Repeat(long, 3)))
		require.NoError(t, err)
		require.Contains(t, out.HTML, strings.Repeat(long, 3))
	}
}

// TestRenderCheckoutLinkNeedsAnAddress: without one, or with one that is none, there is no message.
func TestRenderCheckoutLinkNeedsAnAddress(t *testing.T) {
	t.Parallel()

	for _, address := range []string{"", "javascript:alert(1)", "/pay/1", "https:///pay", "https://pay.test/a b", "https://pay.test/\nhttps://other.test"} {
		for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
			_, err := newTestRenderer(t).Render(checkoutLink(channel, models.LocaleEnglish, address))
			require.True(t, IsPermanent(err), address)
		}
	}
}

// TestRenderTicketLink: a confirmation leads to the ticket first, and without a link to the booking alone.
func TestRenderTicketLink(t *testing.T) {
	t.Parallel()

	const address = "https://rihla.test/api/v1/tickets/1?signature=x&lang=ar"

	for locale, label := range map[models.Locale]string{models.LocaleArabic: "عرض التذكرة", models.LocaleEnglish: "See your ticket"} {
		m := testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, locale)

		out, err := newTestRenderer(t).Render(m)
		require.NoError(t, err)
		require.NotContains(t, out.Text, label)

		m.Link = address
		out, err = newTestRenderer(t).Render(m)
		require.NoError(t, err)
		require.Contains(t, out.Text, label+": "+address+"\n")
		require.Contains(t, out.HTML, `href="https://rihla.test/api/v1/tickets/1?signature=x&amp;lang=ar"`)
		require.Contains(t, out.Text, "rihla.test/bookings", "the booking's button stays")
	}
}
