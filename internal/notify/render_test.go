package notify

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func newTestRenderer(t *testing.T) *Renderer {
	t.Helper()

	r, err := NewRenderer(Places{BookingURL: "https://rihla.test/bookings/{booking_number}?id={booking_id}"})
	require.NoError(t, err)

	return r
}

func kinds() []models.NotificationKind {
	return []models.NotificationKind{
		models.NotifyPaymentSucceeded, models.NotifyPaymentFailed, models.NotifyRefundSucceeded, models.NotifyCampaignPaid,
	}
}

// testMessage is a complete message with the data that the outbox writes.
func testMessage(kind models.NotificationKind, channel models.NotificationChannel, locale models.Locale) Message {
	m := Message{
		ID: uuid.MustParse("6c84fb90-12c4-51e1-840d-727cc15d7fa1"), Kind: kind, Channel: channel, Locale: locale, To: "traveller@example.com",
		Data: map[string]string{
			DataName: "سارة", DataBookingID: "019a3c5e-7d10-7abc-9def-0123456789ab", DataTripTitle: "عمرة من الرياض",
			DataBookingNumber: "RB-7XK010A", DataAmount: "1150.00", "currency": "SAR", DataDepartureAt: "2026-11-27T21:30:00Z",
		},
	}
	if channel == models.NotifySMS {
		m.To = "+966 50 123 4567"
	}

	if kind == models.NotifyPaymentSucceeded {
		m.Data[DataSeats], m.Data[DataVATAmount], m.Data[DataMethod] = "2", "150.00", string(models.MethodCreditCard)
	}

	if kind == models.NotifyCampaignPaid {
		delete(m.Data, DataBookingNumber)
		delete(m.Data, DataBookingID)
		delete(m.Data, DataDepartureAt)
		m.Data[DataCampaignTitle] = "عرض رمضان"
	}

	return m
}

func TestRenderMailArabic(t *testing.T) {
	t.Parallel()

	out, err := newTestRenderer(t).Render(testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, models.LocaleArabic))
	require.NoError(t, err)
	require.Equal(t, "تأكيد الحجز \u2068RB-7XK010A\u2069: عمرة من الرياض", out.Subject)
	require.Equal(t, `مرحبًا سارة،

استلمنا دفعتك وتم تأكيد حجزك. نتمنى لك رحلة موفقة.

رقم الحجز: `+"\u2068RB-7XK010A\u2069"+`
الرحلة: عمرة من الرياض
موعد المغادرة: السبت 28 نوفمبر 2026، الساعة 00:30 (بتوقيت الرياض)
عدد المقاعد: `+"\u20682\u2069"+`
المبلغ المدفوع: 1,150.00 ر.س
منه ضريبة القيمة المضافة: 150.00 ر.س
وسيلة الدفع: بطاقة ائتمانية

عرض الحجز: https://rihla.test/bookings/RB-7XK010A?id=019a3c5e-7d10-7abc-9def-0123456789ab

فريق رحلة

أُرسلت هذه الرسالة آليًا، فنرجو عدم الرد عليها.
`, out.Text)
	require.Contains(t, out.HTML, `<html lang="ar" dir="rtl">`)
	require.Contains(t, out.HTML, `text-align:right`)
	require.Contains(t, out.HTML, `<bdi>1,150.00 ر.س</bdi>`)
}

func TestRenderMailEnglish(t *testing.T) {
	t.Parallel()

	m := testMessage(models.NotifyRefundSucceeded, models.NotifyEmail, models.LocaleEnglish)
	m.Data[DataName], m.Data[DataTripTitle], m.Data[DataAmount] = "Sara", "Umrah from Riyadh", "1234567.5"
	out, err := newTestRenderer(t).Render(m)
	require.NoError(t, err)
	require.Equal(t, "Refund of 1,234,567.50 SAR for booking RB-7XK010A", out.Subject)
	require.Equal(t, `Hello Sara,

We have refunded the amount below to the payment method you used. It may take some working days to appear, depending on your bank.

Booking: RB-7XK010A
Trip: Umrah from Riyadh
Departure: Saturday, 28 November 2026, 00:30 (Riyadh time)
Refunded now: 1,234,567.50 SAR

See your booking: https://rihla.test/bookings/RB-7XK010A?id=019a3c5e-7d10-7abc-9def-0123456789ab

The Rihla team

This message was sent automatically; please do not reply to it.
`, out.Text)
	require.Contains(t, out.HTML, `<html lang="en" dir="ltr">`)
	require.Contains(t, out.HTML, `text-align:left`)
}

func TestRenderSMS(t *testing.T) {
	t.Parallel()

	r := newTestRenderer(t)

	for locale, want := range map[models.Locale][]string{
		models.LocaleArabic: {
			"رحلة: تم تأكيد حجزك \u2068RB-7XK010A\u2069 (عمرة من الرياض) واستلام \u20681,150.00 ر.س\u2069. المغادرة 28/11/2026 00:30.",
			"رحلة: لم تكتمل عملية الدفع للحجز \u2068RB-7XK010A\u2069 (عمرة من الرياض).",
			"رحلة: تم استرداد \u20681,150.00 ر.س\u2069 للحجز \u2068RB-7XK010A\u2069 (عمرة من الرياض). قد يستغرق ظهوره بضعة أيام عمل.",
			"رحلة: تم استلام \u20681,150.00 ر.س\u2069 للحملة الإعلانية عرض رمضان. ستُعرض في التواريخ التي اخترتها.",
		},
		models.LocaleEnglish: {
			"Rihla: booking RB-7XK010A (\u2068عمرة من الرياض\u2069) is confirmed, 1,150.00 SAR received. Departure 28 Nov 2026 00:30.",
			"Rihla: the payment for booking RB-7XK010A (\u2068عمرة من الرياض\u2069) was not completed.",
			"Rihla: 1,150.00 SAR refunded for booking RB-7XK010A (\u2068عمرة من الرياض\u2069). It may take some working days to appear.",
			"Rihla: 1,150.00 SAR received for the advertising campaign \u2068عرض رمضان\u2069. It runs on the dates you chose.",
		},
	} {
		for i, kind := range kinds() {
			out, err := r.Render(testMessage(kind, models.NotifySMS, locale))
			require.NoError(t, err)
			require.Equal(t, Rendered{Text: want[i]}, out)
		}
	}

	m := testMessage(models.NotifyPaymentFailed, models.NotifySMS, "fr")
	m.Data[DataRetryUntil] = "2026-11-20T10:00:00+03:00"
	out, err := r.Render(m)
	require.NoError(t, err)
	require.Contains(t, out.Text, "يمكنك الدفع مرة أخرى حتى 20/11/2026 10:00.", "any other language is Arabic")
}

func TestSMSFitsInTwoSegments(t *testing.T) {
	t.Parallel()

	r := newTestRenderer(t)

	for _, title := range []string{
		strings.Repeat("رحلة طويلة جدا ", 30), strings.Repeat("A very long trip ", 30), strings.Repeat("🕋", 200), strings.Repeat("€", 200), "",
	} {
		for _, kind := range kinds() {
			for _, locale := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
				m := testMessage(kind, models.NotifySMS, locale)
				m.Data[DataTripTitle], m.Data[DataCampaignTitle], m.Data[DataAmount] = title, title, "999999999999.99"
				m.Data[DataRetryUntil] = m.Data[DataDepartureAt]
				out, err := r.Render(m)
				require.NoError(t, err)
				require.LessOrEqual(t, segments(out.Text), maxSegments, out.Text)
				require.NotContains(t, out.Text, "()")
			}
		}
	}

	m := testMessage(models.NotifyPaymentSucceeded, models.NotifySMS, models.LocaleArabic)
	m.Data[DataBookingNumber] = strings.Repeat("ب", 200)
	_, err := r.Render(m)
	require.True(t, IsPermanent(err))
}

func TestSegments(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 1},
		{strings.Repeat("a", 160), 1},
		{strings.Repeat("a", 161), 2},
		{strings.Repeat("a", 306), 2},
		{strings.Repeat("a", 307), 3},
		{strings.Repeat("€", 80), 1},
		{strings.Repeat("€", 81), 2},
		{strings.Repeat("ع", 70), 1},
		{strings.Repeat("ع", 71), 2},
		{strings.Repeat("ع", 134), 2},
		{strings.Repeat("ع", 135), 3},
		{strings.Repeat("🕋", 35), 1},
		{strings.Repeat("🕋", 36), 2},
	} {
		require.Equal(t, tt.want, segments(tt.text), "%d of %.4s", len(utf16.Encode([]rune(tt.text))), tt.text)
	}
}

func TestRenderKeepsOutsideTextHarmless(t *testing.T) {
	t.Parallel()

	m := testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, models.LocaleEnglish)
	m.Data[DataName] = "<script>alert(1)</script>"
	m.Data[DataTripTitle] = "Hajj\r\nBcc: everyone@example.com\x00 \u202egpj.exe {{.Name}} \xff" + strings.Repeat("x", 500)
	out, err := newTestRenderer(t).Render(m)
	require.NoError(t, err)
	require.NotContains(t, out.HTML, "<script>")
	require.Contains(t, out.HTML, "Hello &lt;script&gt;alert(1)&lt;/script&gt;,")
	require.NotContains(t, out.Subject, "\n")
	require.NotContains(t, out.Subject, "\r")
	require.Contains(t, out.Subject, "Hajj Bcc: everyone@example.com gpj.exe {{.Name}}…")
	require.Less(t, len(out.Subject), 200)
}

func TestRenderRefusesWhatItCannotWrite(t *testing.T) {
	t.Parallel()

	r := newTestRenderer(t)

	for name, spoil := range map[string]func(*Message){
		"kind":      func(m *Message) { m.Kind = "BIRTHDAY" },
		"no amount": func(m *Message) { delete(m.Data, DataAmount) },
		"amount":    func(m *Message) { m.Data[DataAmount] = "1e3" },
		"departure": func(m *Message) { m.Data[DataDepartureAt] = "tomorrow" },
		"retry":     func(m *Message) { m.Data[DataRetryUntil] = "2026-13-01T00:00:00Z" },
		"no data":   func(m *Message) { m.Data = nil },
	} {
		for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
			m := testMessage(models.NotifyPaymentSucceeded, channel, models.LocaleArabic)
			spoil(&m)
			_, err := r.Render(m)
			require.True(t, IsPermanent(err), name)
		}
	}
}

func TestRenderWithTheLeastData(t *testing.T) {
	t.Parallel()

	r := newTestRenderer(t)

	for _, kind := range kinds() {
		for _, locale := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
			for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
				out, err := r.Render(Message{Kind: kind, Channel: channel, Locale: locale, Data: map[string]string{DataAmount: "0.5"}})
				require.NoError(t, err)

				if kind != models.NotifyPaymentFailed || channel == models.NotifyEmail { // that SMS has no amount
					require.Contains(t, out.Text, "0.50 ")
				}

				require.NotContains(t, out.Text+out.Subject, "no value")
			}
		}
	}
}

func TestCataloguesHaveTheSameMessages(t *testing.T) {
	t.Parallel()

	keys := map[string][]string{}

	for _, language := range []string{"ar", "en"} {
		var catalogue map[string]string

		text, err := files.ReadFile("locales/active." + language + ".json")
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &catalogue))

		keys[language] = slices.Sorted(maps.Keys(catalogue))
	}

	require.Equal(t, keys["ar"], keys["en"])
}

func TestGrouped(t *testing.T) {
	t.Parallel()

	for amount, want := range map[string]string{
		"0": "0.00", "999.9": "999.90", "1000": "1,000.00", "-1150": "-1,150.00", "999999999999.99": "999,999,999,999.99", "-100": "-100.00",
	} {
		require.Equal(t, want, models.MustMoney(amount).Grouped())
	}
}

func TestRefundThatLeavesTheBooking(t *testing.T) {
	t.Parallel()

	for locale, want := range map[models.Locale]string{models.LocaleEnglish: "booking stays confirmed.", models.LocaleArabic: "مؤكدًا."} {
		for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
			m := testMessage(models.NotifyRefundSucceeded, channel, locale)
			out, err := newTestRenderer(t).Render(m)
			require.NoError(t, err)
			require.NotContains(t, out.Text, want)

			m.Data[DataBookingStays] = "true"
			out, err = newTestRenderer(t).Render(m)
			require.NoError(t, err)
			require.Contains(t, out.Text, want)
		}
	}
}
