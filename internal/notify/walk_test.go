package notify

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

const ticketAddress = "https://rihla.test/api/v1/tickets/019a3c5e-7d10-7abc-9def-0123456789ab?signature=x"

func newWholeRenderer(t *testing.T) *Renderer {
	t.Helper()

	r, err := NewRenderer(Places{
		BookingURL: "https://rihla.test/bookings/{booking_number}", TripURL: "https://rihla.test/trips/{trip_id}",
		SupportPhone: "+966 11 200 0000", SupportEmail: "help@rihla.test",
	})
	require.NoError(t, err)

	return r
}

// wholeDetails are those of a trip whose title and company run against the language of the message.
func wholeDetails(locale models.Locale) *Details {
	d := Details{
		Company: "Noor Travel Co.", CompanyPhone: "+966 12 345 6789", Origin: "Riyadh", Destination: "Makkah",
		ReturnAt: time.Date(2026, 12, 1, 18, 0, 0, 0, time.UTC), Passengers: []string{"Sara Alharbi", "Omar Alharbi"},
		Policy: models.DefaultCancellationPolicy(), TripID: uuid.MustParse("019a3c5e-7d10-7abc-9def-00000000aaaa"), Bookable: true,
	}
	if locale == models.LocaleEnglish {
		d.Company, d.Origin, d.Destination, d.Passengers = "شركة النور", "الرياض", "مكة المكرمة", []string{"سارة الحربي", "عمر الحربي"}
	}

	return &d
}

// whole is a message with all that any message of its kind can have.
func whole(kind models.NotificationKind, channel models.NotificationChannel, locale models.Locale) Message {
	m := Message{
		ID: uuid.MustParse("6c84fb90-12c4-51e1-840d-727cc15d7fa1"), Kind: kind, Channel: channel, Locale: locale, To: "traveller@example.com",
		Details: wholeDetails(locale),
		Data: map[string]string{
			DataName: "سارة", DataBookingID: "019a3c5e-7d10-7abc-9def-0123456789ab", DataTripTitle: "عمرة من الرياض (VIP)",
			DataBookingNumber: "RB-7XK010A", DataAmount: "575.00", DataCurrency: "SAR", DataDepartureAt: "2026-11-27T21:30:00Z",
			DataSeats: "2", DataVATAmount: "75.00", DataMethod: string(models.MethodCreditCard), DataPaymentReference: "8ac7a4a2-93f1",
		},
	}

	if locale == models.LocaleArabic {
		m.Data[DataTripTitle] = "Umrah by coach"
	}

	maps.Copy(m.Data, wholeData[kind])

	if channel == models.NotifySMS {
		m.To = "+966 50 123 4567"
	}

	if slices.Contains(linked, kind) {
		m.Link = ticketAddress
	}

	return m
}

// linked are the messages with a link of their own.
var linked = []models.NotificationKind{
	models.NotifyPaymentSucceeded, models.NotifyCheckoutLink, models.NotifyVerifyEmail, models.NotifyResetPassword, models.NotifyInvitation,
}

// wholeData is what only some kinds have.
var wholeData = map[models.NotificationKind]map[string]string{
	models.NotifyPaymentFailed: {DataExpired: "true", DataUnpaid: "true"},
	models.NotifyCampaignPaid: {
		DataBookingID: "", DataBookingNumber: "", DataDepartureAt: "", DataSeats: "", DataCampaignTitle: "Ramadan عرض",
		DataStartsOn: "2026-12-01", DataEndsOn: "2026-12-07",
	},
	models.NotifyCampaignRefunded: {
		DataBookingID: "", DataBookingNumber: "", DataDepartureAt: "", DataSeats: "", DataCampaignTitle: "Ramadan عرض", DataTripTitle: "",
		DataStartsOn: "2026-12-01", DataEndsOn: "2026-12-07", DataPaidAmount: "1150.00", DataVATAmount: "", DataPaymentReference: "",
		DataRefundChannel: string(models.RefundByGateway), DataExpectedBy: "2026-12-12",
	},
	models.NotifyRefundSucceeded: {
		DataPaidAmount: "1150.00", DataRefundedBefore: "115.00", DataFeeAmount: "460.00", DataVATAmount: "", DataSeats: "",
		DataPaymentReference: "", DataRefundChannel: string(models.RefundByGateway), DataExpectedBy: "2026-12-12",
	},
	models.NotifyBookingCancelled: {
		DataPaidAmount: "1150.00", DataFeeAmount: "575.00", DataBookingStays: "true", DataVATAmount: "", DataPaymentReference: "",
		DataRefundChannel: string(models.RefundByHand), DataExpectedBy: "2026-12-12",
	},
	models.NotifyTripMoved: {
		DataDepartureWas: "2026-11-26T21:30:00Z", DataRefundable: "true", DataVATAmount: "", DataPaymentReference: "", DataSeats: "",
		DataRefundChannel: string(models.RefundByGateway),
	},
	models.NotifyCancellationRejected: {DataNote: "The bus is full.", DataAmount: "", DataVATAmount: "", DataMethod: "", DataPaymentReference: ""},
	models.NotifyBookingCorrected:     {DataChanged: string(models.CorrectedEmail), DataAmount: "", DataVATAmount: "", DataMethod: "", DataPaymentReference: ""},
	models.NotifyCheckoutLink:         {DataRetryUntil: "2026-11-20T10:00:00+03:00", DataMethod: "", DataPaymentReference: ""},
	models.NotifyAccountLocked:        {DataLockedUntil: "2026-11-27T21:30:00Z"},
	models.NotifyAdminAdded:           {DataAccount: "omar@rihla.test", DataRole: "FINANCE_ADMIN"},
	models.NotifyCompanyPayout: {
		DataEntries: "3", DataPayoutReference: "8f-TRF-1", DataBookingNumber: "", DataBookingID: "", DataTripTitle: "", DataSeats: "",
		DataDepartureAt: "", DataVATAmount: "", DataMethod: "", DataPaymentReference: "",
	},
}

var (
	placeholder = regexp.MustCompile(`\{\{|\}\}|no value|%!|\{[a-z_]+\}|[a-z]+_[a-z]+_|\bMISSING\b|label_`)
	webAddress  = regexp.MustCompile(`https?://\S+`)
	isolatedRun = regexp.MustCompile("\u2068[^\u2069]*\u2069")
	// otherway is a reference, an amount or a phone number in Arabic, and Arabic in English.
	otherway = map[models.Locale]*regexp.Regexp{
		models.LocaleArabic: regexp.MustCompile(`[A-Za-z]`), models.LocaleEnglish: regexp.MustCompile(`\p{Arabic}`),
	}
)

// TestEveryMessage walks all messages in both languages: nothing raw is in them, and what runs against the language is isolated.
func TestEveryMessage(t *testing.T) {
	t.Parallel()

	r := newWholeRenderer(t)

	for kind := range prefixes {
		for _, locale := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
			for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
				if channel == models.NotifySMS && kind.MailOnly() {
					continue
				}

				out, err := r.Render(whole(kind, channel, locale))
				require.NoError(t, err, kind)

				shown := webAddress.ReplaceAllString(out.Subject+"\n"+out.Text, "")
				require.NotRegexp(t, placeholder, shown, "%s %s", kind, locale)
				require.Equal(t, strings.Count(shown, isolate), strings.Count(shown, endIsolate), kind)

				outside := isolatedRun.ReplaceAllString(shown, "")
				require.NotRegexp(t, otherway[locale], outside, "%s %s %s", kind, locale, channel)

				if channel == models.NotifySMS {
					require.LessOrEqual(t, segments(out.Text), segmentsOf(kind), out.Text)

					continue
				}

				require.NotContains(t, out.HTML, "ZgotmplZ", kind)
				require.Contains(t, out.HTML, `src="cid:logo@rihla"`)
				require.Contains(t, out.HTML, `<bdi dir="ltr">help@rihla.test</bdi>`)
				require.Contains(t, out.Text, "+966 11 200 0000")
			}
		}
	}
}

// TestConfirmationIsComplete: the mail has what its traveller needs without signing in, in both languages.
func TestConfirmationIsComplete(t *testing.T) {
	t.Parallel()

	for locale, want := range map[models.Locale][]string{
		models.LocaleEnglish: {
			"Route: \u2068الرياض\u2069 to \u2068مكة المكرمة\u2069", "Company: \u2068شركة النور\u2069", "Company's phone: +966 12 345 6789",
			"Departure: Saturday, 28 November 2026, 00:30 (Riyadh time)", "Return: Tuesday, 1 December 2026, 21:00 (Riyadh time)",
			"Passengers\n- \u2068سارة الحربي\u2069\n- \u2068عمر الحربي\u2069\n", "Seats: 2", "Amount paid: 575.00 SAR", "of which VAT: 75.00 SAR",
			"Payment reference: 8ac7a4a2-93f1", "If you cancel\n- 72 hours or more before departure: the full amount is refunded\n",
			"To cancel, open your booking with the button below and give the booking number.", "See your ticket: " + ticketAddress,
			"Customer support:\n+966 11 200 0000\nhelp@rihla.test\n",
		},
		models.LocaleArabic: {
			"المسار: من \u2068Riyadh\u2069 إلى \u2068Makkah\u2069", "الشركة: \u2068Noor Travel Co.\u2069", "هاتف الشركة: \u2068+966 12 345 6789\u2069",
			"موعد العودة: الثلاثاء 1 ديسمبر 2026، الساعة 21:00 (بتوقيت الرياض)", "المسافرون\n- \u2068Sara Alharbi\u2069\n",
			"مرجع الدفع: \u20688ac7a4a2-93f1\u2069", "عند الإلغاء\n- قبل المغادرة بـ72 ساعة أو أكثر: يُسترد كامل المبلغ\n",
			"للإلغاء افتح حجزك بالزر أدناه واذكر رقم الحجز.",
		},
	} {
		out, err := newWholeRenderer(t).Render(whole(models.NotifyPaymentSucceeded, models.NotifyEmail, locale))
		require.NoError(t, err)

		for _, part := range want {
			require.Contains(t, out.Text, part)
		}
	}
}

// TestRefundMailsAddUp: what was paid is what goes back, went back before and is kept, by which way and until when.
func TestRefundMailsAddUp(t *testing.T) {
	t.Parallel()

	r := newWholeRenderer(t)

	for kind, want := range map[models.NotificationKind][]string{
		models.NotifyRefundSucceeded: {
			"Paid: 1,150.00 SAR", "Refunded now: 575.00 SAR", "Refunded before: 115.00 SAR", "Cancellation fee kept: 460.00 SAR",
			"Refunded to: Credit card", "In your account by: 12 December 2026",
		},
		models.NotifyBookingCancelled: {
			"Paid: 1,150.00 SAR", "To be refunded: 575.00 SAR", "Cancellation fee kept: 575.00 SAR", "by transfer to your bank account;",
			"Refunded to: your bank account, by transfer", "In your account by: 12 December 2026", "stays confirmed for the other passengers",
		},
		models.NotifyTripMoved: {
			"get back all that you paid: 575.00 SAR, to the payment method you used", "Refund if you cancel: 575.00 SAR",
			"Departure until now: Friday, 27 November 2026, 00:30",
		},
		models.NotifyCampaignPaid: {"Dates of the ad: 1 December 2026 to 7 December 2026", "of which VAT: 75.00 SAR", "Payment reference: 8ac7a4a2-93f1"},
		models.NotifyCampaignRefunded: {
			"Refunded now: 575.00 SAR", "Campaign: \u2068Ramadan عرض\u2069", "Dates of the ad: 1 December 2026 to 7 December 2026", "Paid: 1,150.00 SAR",
			"In your account by: 12 December 2026",
		},
		models.NotifyPaymentFailed: {
			"The time to pay for your booking is over, and its seats are no longer held for you. Nothing was charged.",
			"Book again: https://rihla.test/trips/019a3c5e-7d10-7abc-9def-00000000aaaa",
		},
	} {
		out, err := r.Render(whole(kind, models.NotifyEmail, models.LocaleEnglish))
		require.NoError(t, err)

		for _, part := range want {
			require.Contains(t, out.Text, part, kind)
		}
	}
}

// TestRowsOfOlderVersions: a row without the newer data still makes a message, in which nothing is empty.
func TestRowsOfOlderVersions(t *testing.T) {
	t.Parallel()

	r := newWholeRenderer(t)
	older := []string{
		DataPaymentReference, DataPaidAmount, DataRefundedBefore, DataKeptAmount, DataFeeAmount, DataRefundChannel, DataExpectedBy, DataStartsOn,
		DataEndsOn, DataExpired, DataUnpaid,
	}

	for kind := range prefixes {
		for _, locale := range []models.Locale{models.LocaleArabic, models.LocaleEnglish} {
			m := whole(kind, models.NotifyEmail, locale)
			m.Details = nil

			for _, key := range older {
				delete(m.Data, key)
			}

			out, err := r.Render(m)
			require.NoError(t, err, kind)
			require.NotRegexp(t, placeholder, webAddress.ReplaceAllString(out.Text, ""), kind)
			require.NotRegexp(t, `(?m): $`, out.Text, kind)
			require.NotContains(t, out.HTML, "<bdi></bdi>", kind)
		}
	}
}

// TestTitleIsCutAtAWord: a title that does not fit ends with a whole word, in the alphabet that the rest of the SMS has.
func TestTitleIsCutAtAWord(t *testing.T) {
	t.Parallel()

	require.Equal(t, "جولة في…", truncate("جولة في العلا", 12, ellipsis))
	require.Equal(t, "جولة…", truncate("جولة في العلا", 7, ellipsis))
	require.Empty(t, truncate("جولة في العلا", 4, ellipsis))
	require.Equal(t, "Tour...", truncate("Tour, AlUla", 9, threeDots))

	r := newWholeRenderer(t)

	for locale, want := range map[models.Locale]string{models.LocaleArabic: `\((?:رحلة|طويلة|جدا| )+…`, models.LocaleEnglish: `\((?:long|trip| )+\.\.\.\)`} {
		m := whole(models.NotifyPaymentSucceeded, models.NotifySMS, locale)

		m.Data[DataTripTitle] = strings.Repeat("long trip ", 40)
		if locale == models.LocaleArabic {
			m.Data[DataTripTitle] = strings.Repeat("رحلة طويلة جدا ", 30)
		}

		out, err := r.Render(m)
		require.NoError(t, err)
		require.Regexp(t, want, out.Text)
		require.LessOrEqual(t, segments(out.Text), maxSegments)
	}
}

// A ticket that is sent again is no second confirmation: mail and SMS say what they are about.
func TestTicketsThatAreSentAgain(t *testing.T) {
	t.Parallel()

	r := newWholeRenderer(t)

	for locale, words := range map[models.Locale]struct{ ticket, confirmed string }{
		models.LocaleArabic: {"تذكرت?ك?", "تأكيد|استلم"}, models.LocaleEnglish: {"[Yy]our ticket", "confirmed|received"},
	} {
		for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
			m := whole(models.NotifyPaymentSucceeded, channel, locale)
			first, err := r.Render(m)
			require.NoError(t, err)
			require.Regexp(t, words.confirmed, first.Subject+first.Text)

			m.Data[DataTicket] = "true"
			again, err := r.Render(m)
			require.NoError(t, err)
			require.Regexp(t, words.ticket, again.Subject+again.Text)
			require.NotRegexp(t, words.confirmed, again.Subject+again.Text)

			if channel == models.NotifySMS {
				require.LessOrEqual(t, segments(again.Text), segments(first.Text))
			}
		}
	}
}
