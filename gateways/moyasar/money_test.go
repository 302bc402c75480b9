package moyasar

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

func TestEveryHalalaOfARange(t *testing.T) {
	t.Parallel()

	for n := int64(1); n <= 200_000; n++ {
		units, err := toMinor(models.Halalas(n), "SAR")
		if err != nil || units != n {
			require.Failf(t, "not exact", "%d halalas became %d: %v", n, units, err)
		}

		back, err := fromMinor(units, "sar")
		if err != nil || !back.Equal(models.Halalas(n)) {
			require.Failf(t, "not exact", "%d halalas came back as %s: %v", n, back, err)
		}
	}
}

// TestMoneyIsExact: what is converted comes back as it was, and what has no exact form is refused.
func TestMoneyIsExact(t *testing.T) {
	t.Parallel()

	currencies := rapid.SampledFrom([]string{"SAR", "USD", "AED", "KWD", "BHD", "JPY", "KRW"})

	rapid.Check(t, func(t *rapid.T) {
		currency, halalas := currencies.Draw(t, "currency"), rapid.Int64Range(1, 99_999_999_999_999).Draw(t, "halalas")
		amount := models.Halalas(halalas)

		units, err := toMinor(amount, currency)
		if err != nil {
			require.Zero(t, decimalsOf(currency), "only a currency without decimals refuses")
			require.NotZero(t, halalas%100)

			return
		}

		back, err := fromMinor(units, currency)
		require.NoError(t, err)
		require.True(t, back.Equal(amount), "%s became %s", amount, back)
	})

	rapid.Check(t, func(t *rapid.T) {
		currency, units := currencies.Draw(t, "currency"), rapid.Int64Range(1, 99_999_999_999_999).Draw(t, "units")

		amount, err := fromMinor(units, currency)
		if err != nil {
			require.NotEqual(t, int32(2), decimalsOf(currency), "halalas are exact")

			return
		}

		back, err := toMinor(amount, currency)
		require.NoError(t, err)
		require.Equal(t, units, back)
	})
}

func TestAmountsThatHaveNoForm(t *testing.T) {
	t.Parallel()

	for _, units := range []int64{-1, math.MinInt64, math.MaxInt64} {
		_, err := fromMinor(units, "SAR")
		require.Error(t, err, units)
	}

	for _, currency := range []string{"", "S", "SARS", "1AR", "ريا"} {
		_, err := fromMinor(100, currency)
		require.Error(t, err, currency)
		_, err = toMinor(models.Halalas(100), currency)
		require.Error(t, err, currency)
	}

	for _, amount := range []models.Money{{}, models.Halalas(-1), models.Halalas(math.MaxInt64).Times(1000)} {
		_, err := toMinor(amount, "SAR")
		require.Error(t, err, amount)
	}

	_, err := fromMinor(1005, "KWD") // 1.005: three decimals
	require.Error(t, err)
	_, err = toMinor(models.MustMoney("0.50"), "JPY")
	require.Error(t, err)

	units, err := toMinor(models.MustMoney("1.00"), "KWD")
	require.NoError(t, err)
	require.EqualValues(t, 1000, units)
	units, err = toMinor(models.MustMoney("1.00"), "JPY")
	require.NoError(t, err)
	require.EqualValues(t, 1, units)
}
