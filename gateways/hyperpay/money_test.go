package hyperpay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

// TestMoney: what is written is read again, every halala of a range and any amount.
func TestMoney(t *testing.T) {
	t.Parallel()

	back := func(t require.TestingT, n int64) {
		text, err := amountText(models.Halalas(n))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d.%02d", n/100, n%100), text)
		require.Regexp(t, amountForm, text)

		m, err := parseAmount(text)
		require.NoError(t, err)
		require.Equal(t, n, m.Halalas())
	}

	for n := int64(1); n <= 20_000; n++ {
		back(t, n)
	}

	rapid.Check(t, func(t *rapid.T) { back(t, rapid.Int64Range(1, maxAmount.Halalas()).Draw(t, "halalas")) })
}

// TestParsedMoney: a text is an amount in one way, or none.
func TestParsedMoney(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"92.00": "92.00", "92": "92.00", "0": "0.00", "0.01": "0.01", "000.10": "0.10", "0092": "92.00", "9999999999.99": "9999999999.99",
	} {
		m, err := parseAmount(text)
		require.NoError(t, err, text)
		require.Equal(t, want, m.String())
	}

	for _, text := range []string{"", "92.0", "92.000", ".50", "-1.00", "+1.00", "1e2", "1,000.00", " 1.00", "1.00 ", "٩٢.٠٠", "10000000000", "NaN"} {
		_, err := parseAmount(text)
		require.ErrorIs(t, err, errAmount, text)
	}

	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9.]{0,14}`)).Draw(t, "text")

		m, err := parseAmount(text)
		require.Equal(t, amountForm.MatchString(text), err == nil, text)

		if err == nil && m.IsPositive() {
			again, err := amountText(m)
			require.NoError(t, err)

			same, err := parseAmount(again)
			require.NoError(t, err)
			require.True(t, same.Equal(m))
		}
	})

	for _, m := range []models.Money{{}, models.Halalas(-1), models.Halalas(maxAmount.Halalas() + 1)} {
		_, err := amountText(m)
		require.ErrorIs(t, err, errAmount)
	}
}

// TestCodes: codes that the documents name (hyperpay.docs.oppwa.com/node/111 and /reference/resultCodes).
func TestCodes(t *testing.T) {
	t.Parallel()

	for code, want := range map[string]outcome{
		"000.000.000": success, "000.000.100": success, "000.100.110": success, "000.100.112": success, "000.300.000": success,
		"000.600.000": success, "000.400.110": success, "000.400.120": success,
		"000.400.000": review, "000.400.010": review, "000.400.100": review,
		"000.200.000": pending, "000.200.100": pending, "000.200.103": pending,
		"800.400.500": waiting, "100.400.500": waiting,
		"000.100.220": chargedBack, "000.100.221": chargedBack, "000.100.200": chargedBack,
		"900.100.300": uncertain, "900.200.100": uncertain, "900.400.100": uncertain, "000.400.030": uncertain, "900.300.600": uncertain,
		"000.400.101": rejected, "100.380.401": rejected, "800.100.152": rejected, "100.550.300": rejected, "700.400.200": rejected,
		"600.200.100": rejected, "500.100.201": rejected, "900.500.100": rejected, "800.900.399": rejected,
		"800.120.100": throttled, "800.900.300": unauthorized, "800.900.303": unauthorized, "700.400.580": noPayment, "200.300.404": noSession,
		"800.110.100": busy, "999.999.999": broken, "600.100.100": broken, "800.800.800": broken, "800.500.100": broken, "": rejected,
	} {
		require.Equal(t, want, outcomeOf(code), code)
	}
}
