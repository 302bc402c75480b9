package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestHasLink(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"Your refund waits: https://evil.example/x", "http:/evil", "HTTPS://EVIL", "see www.evil.example", "WWW.evil", "evil.example/refund",
		"go to bit.ly/abc", "مرحبا example.com/استرداد", "rihla-app://x", "ｈｔｔｐｓ：／／evil", "evil。com/x", "e\u200bvil.co\u200dm/x", "evil.com:8080/x",
		"evil.com?token=1", "mailto:a@b", "ftp://x", "evil.xn--p1ai/claim", "evil.भारत/claim", "203.0.113.7/r", "203.0.113.7:8080/r",
	} {
		require.True(t, models.HasLink(text), text)
	}

	for _, text := range []string{
		"Traveller One", "عبد الله بن محمد", "J. R. Tolkien", "Dr. Ali / Omar", "O'Neill-Smith", "Ali (Abu Omar)", "St.John", "Martin Luther King, Jr.",
		"Mary/Anne", "A.B. Smith", "name: x",
	} {
		require.False(t, models.HasLink(text), text)
	}
}

func TestE164(t *testing.T) {
	t.Parallel()

	for given, want := range map[string]string{
		"+966501234567": "+966501234567", "0501234567": "+966501234567", "501234567": "+966501234567", "966501234567": "+966501234567",
		"00966501234567": "+966501234567", "+966 50 123-4567": "+966501234567", "٠٥٠١٢٣٤٥٦٧": "+966501234567", "(050) 123.4567": "+966501234567",
		"+9660501234567": "+966501234567", "+14155550123": "+14155550123", "14155550123": "+14155550123", "+441632960961": "+441632960961",
		"\u202a+966501234567\u202c": "+966501234567",
	} {
		got, ok := models.E164(given)
		require.True(t, ok, given)
		require.Equal(t, want, got, given)
	}

	for _, given := range []string{"", "+", "12", "+0501234567", "phone", "+96650123456789012", "0000000000"} {
		_, ok := models.E164(given)
		require.False(t, ok, given)
	}
}
