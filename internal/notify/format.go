package notify

import (
	"strings"
	"unicode/utf8"

	"rihla/models"
)

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
		if septets++; strings.ContainsRune(gsm7Extended, r) {
			septets++
		}

		units += max(1, utf8.RuneLen(r)-2) // two UTF-16 units beyond the basic plane, else one
	}

	count := func(n, single, each int) int {
		if n <= single {
			return 1
		}

		return (n + each - 1) / each
	}

	if isGSM(text) {
		return count(septets, 160, 153)
	}

	return count(units, 70, 67)
}

// isGSM reports a text of which every character is in the alphabet of GSM.
func isGSM(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(gsm7, r) && !strings.ContainsRune(gsm7Extended, r) })
}

// segmentsOf is as how many SMS a message of a kind may be sent.
func segmentsOf(kind models.NotificationKind) int {
	if kind == models.NotifyCheckoutLink {
		return maxLinkSegments
	}

	return maxSegments
}

// fitSMS shortens the title, of trip or campaign, word by word until the text fits in so many segments.
func fitSMS(v *values, most int, write func() string) (string, error) {
	trip, campaign := v.Trip, v.Campaign

	for n := maxValue; n >= 0; n-- {
		// Only a text that is UCS-2 already has room for the ellipsis in one character.
		v.Trip, v.Campaign = truncate(trip, n, threeDots), truncate(campaign, n, threeDots)

		if text := write(); isGSM(text) {
			if segments(text) <= most {
				return text, nil
			}

			continue
		}

		v.Trip, v.Campaign = truncate(trip, n, ellipsis), truncate(campaign, n, ellipsis)

		if text := write(); segments(text) <= most {
			return text, nil
		}
	}

	return "", permanentf("the text does not fit in %d SMS", most)
}
