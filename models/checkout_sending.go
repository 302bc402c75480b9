package models

import (
	"strings"
	"time"
)

// The limits of sending the link of a booking's checkout (rules: notifications.checkout-link): each of them is paid for, and one that is
// sent again and again is a nuisance. The database holds the first, too.
const (
	CheckoutSendings     = 5
	CheckoutSendingPause = 5 * time.Minute
)

const hidden = "***"

// MaskEmail leaves the first character of an address and its domain: enough for a person who knows it to recognize it.
func MaskEmail(address string) string {
	at := strings.LastIndex(address, "@")
	if at < 0 {
		return hidden
	}

	for _, first := range address[:at] {
		return string(first) + hidden + address[at:]
	}

	return hidden + address[at:]
}

// MaskPhone leaves the last 3 digits of a number.
func MaskPhone(number string) string {
	const shown = 3

	digits := []rune(number)
	if len(digits) < 2*shown {
		return hidden
	}

	return hidden + string(digits[len(digits)-shown:])
}
