package models_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

// Joiners stay where they shape letters, as in Persian and Arabic names and in emoji, and nowhere else.
func TestJoiners(t *testing.T) {
	t.Parallel()

	for text, kept := range map[string]string{
		"نور\u200cالدین": "نور\u200cالدین", "می\u200cخواهم": "می\u200cخواهم", "ه\u200dه": "ه\u200dه", "क्\u200dष": "क्\u200dष",
		"👩\u200d💻": "👩\u200d💻", "❤\ufe0f\u200d🔥": "❤\ufe0f\u200d🔥", "1\ufe0f": "1\ufe0f",
		"Mo\u200dhamed": "Mohamed", "\u200cعلي\u200d": "علي", "علي\u200c محمد": "علي محمد", "ن\u200c\u200c\u200cو": "ن\u200cو",
		"a\ufe0f": "a", "❤\u200d\ufe0fa": "❤\ufe0fa", "علي\u200c123": "علي123", "\u200c\u200d": "",
	} {
		require.Equal(t, kept, models.CleanText(text), "%+q", text)
	}
}

func TestCleaningTwiceChangesNothingMore(t *testing.T) {
	t.Parallel()

	cleaners := map[string]func(string) string{
		"text": models.CleanText, "lines": models.CleanLines, "reference": models.CleanReference, "number": models.CleanNumber,
		"phone": models.CleanPhone, "code": models.CleanCode, "exact": models.CleanExact, "amount": models.CleanAmount,
	}

	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{
			"a", " ", "\u00a0", "\n", "\r", "\u2028", "\u200c", "\u200d", "\u200e", "\u202e", "ن", "❤", "\ufe0f", "٣", "–", "-", ",", "\u066c", "\u066b", "Ａ",
			"\u3000", "\u0301", "1", "123",
		})
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "") + rapid.String().Draw(t, "more")

		for name, clean := range cleaners {
			once := clean(text)
			require.Equal(t, once, clean(once), "%s %+q", name, text)
		}
	})
}

func TestAmountsAreNotGuessed(t *testing.T) {
	t.Parallel()

	for text, amount := range map[string]string{
		"575": "575.00", "1,050": "1050.00", "1,050.5": "1050.50", "١٬٠٥٠٫٢٥": "1050.25", "۱۲٫۵": "12.50", "12,345,678.90": "12345678.90", "\u200e691.00\u00a0": "691.00",
	} {
		read, err := models.ParseMoney(models.CleanAmount(text))
		require.NoError(t, err, text)
		require.Equal(t, amount, read.String(), text)
	}

	for _, text := range []string{"10,50", "99,5", "1,1500", ",5", "1.050,25", "1٬05", "", "1 2.345", "575.005", "1e3", "١٫٢٫٣"} {
		_, err := models.ParseMoney(models.CleanAmount(text))
		require.Error(t, err, text)
	}
}

// What a text costs is in proportion to its length, whatever it is made of.
func TestCleaningIsLinear(t *testing.T) {
	t.Parallel()

	for _, unit := range []string{"\u200d", "ن\u200c", "\u202e", "❤\ufe0f", " ", "\u00a0", "و", "وو ", "ابو "} {
		text := "ن" + strings.Repeat(unit, 1<<17/len(unit)) + "ن"
		began := time.Now()

		_ = models.CleanText(text)
		_ = models.CleanReference(text)
		_ = models.Fold(text)
		require.Less(t, time.Since(began), 10*time.Second, "%+q", unit)
	}
}
