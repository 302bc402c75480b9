package notify

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rihla/models"
)

// money is an amount with its currency: in words for SAR, and its ISO 4217 code for money that was taken in another one.
func (w *writer) money(m models.Money, currency string) string {
	if currency == "" || currency == models.Currency {
		return w.text("money", map[string]string{"Amount": m.Grouped()})
	}

	return m.Grouped() + " " + clean(currency)
}

var arabicWeekdays = [...]string{"الأحد", "الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت"}

// moment writes an RFC 3339 time as people in Riyadh read it, short for SMS and long for mail; nothing stays nothing.
func (w *writer) moment(text string) (short, long string, err error) {
	if text == "" {
		return "", "", nil
	}

	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", "", permanentf("a moment is not RFC 3339")
	}

	t = t.In(models.Riyadh)
	weekday, month := t.Weekday().String(), models.MonthName(t.Month(), w.locale)

	if w.locale == models.LocaleArabic {
		weekday = arabicWeekdays[t.Weekday()]
	}

	return t.Format("02/01/2006 15:04"), w.text("moment", map[string]string{
		"Weekday": weekday, "Day": strconv.Itoa(t.Day()), "Month": month, "Year": strconv.Itoa(t.Year()), "Clock": t.Format("15:04"),
	}), nil
}

const (
	maxSegments = 2
	// maxLinkSegments is for messages with the address of a checkout, which some gateways make of 400 characters and which must be whole.
	maxLinkSegments = 8
	// gsm7 is the alphabet of GSM 03.38 that costs one septet; gsm7Extended costs two. Anything else makes the whole
	// message UCS-2.
	gsm7 = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿" +
		"abcdefghijklmnopqrstuvwxyzäöñüà"
	gsm7Extended = "^{}\\[~]|€"
)

// segments is how many SMS a text is sent, and paid, as.
func segments(text string) int {
	septets, units := 0, 0

	for _, r := range text {
		switch {
		case strings.ContainsRune(gsm7, r):
			septets++
		case strings.ContainsRune(gsm7Extended, r):
			septets += 2
		default:
			septets = -1 << 30 // the text is UCS-2, however it goes on
		}

		units += max(1, utf8.RuneLen(r)-2) // two UTF-16 units beyond the basic plane, else one
	}

	count := func(n, single, each int) int {
		if n <= single {
			return 1
		}

		return (n + each - 1) / each
	}

	if septets >= 0 {
		return count(septets, 160, 153)
	}

	return count(units, 70, 67)
}

// segmentsOf is as how many SMS a message of a kind may be sent.
func segmentsOf(kind models.NotificationKind) int {
	if kind == models.NotifyCheckoutLink {
		return maxLinkSegments
	}

	return maxSegments
}

// fitSMS shortens the title, of trip or campaign, until the text fits in so many segments.
func fitSMS(v *values, most int, write func() string) (string, error) {
	trip, campaign := v.Trip, v.Campaign

	for n := maxValue; n >= 0; n-- {
		v.Trip, v.Campaign = truncate(trip, n), truncate(campaign, n)

		if text := write(); segments(text) <= most {
			return text, nil
		}
	}

	return "", permanentf("the text does not fit in %d SMS", most)
}
