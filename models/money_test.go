package models_test

import (
	"encoding/json"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

func TestMoneyJSON(t *testing.T) {
	t.Parallel()

	good := map[string]string{
		"0": "0.00", "1150": "1150.00", "1150.5": "1150.50", "1150.05": "1150.05", "-3.10": "-3.10", "-0": "0.00",
		"999999999999.99": "999999999999.99",
	}
	for in, want := range good {
		var m models.Money

		require.NoError(t, json.Unmarshal([]byte(in), &m), in)

		out, err := json.Marshal(m)
		require.NoError(t, err)
		require.Equal(t, want, string(out), "a number with exactly two decimals")
	}

	bad := []string{
		`"1150.00"`, `1e3`, `1E3`, `1.5e1`, `1.005`, `1.000`, `null`, `true`, `{}`, `[]`, `""`, `+1`, `01`, `.5`, `1.`,
		`0x10`, `1_000`, `1,5`, `NaN`, `Infinity`, `1000000000000`, `-1000000000000`, `١٢`,
	}
	for _, in := range bad {
		var m models.Money

		require.Error(t, json.Unmarshal([]byte(in), &m), in)
		require.Error(t, m.UnmarshalJSON([]byte(in)), in)
	}
}

func TestMoneyScan(t *testing.T) {
	t.Parallel()

	for _, in := range []any{"12.30", []byte("12.30")} {
		var m models.Money

		require.NoError(t, m.Scan(in))
		require.Equal(t, "12.30", m.String())
	}

	var m models.Money

	require.Error(t, m.Scan(nil), "NULL is not 0.00")
	require.Error(t, m.Scan("twelve"))

	v, err := models.MustMoney("12.3").Value()
	require.NoError(t, err)
	require.Equal(t, "12.30", v, "text, never a float")

	_, err = models.Halalas(100_000_000_000_000).Value()
	require.Error(t, err, "numeric(14,2) holds twelve digits before the point")
	_, err = models.MustMoney("-999999999999.99").Value()
	require.NoError(t, err)
}

func TestMoneyRounding(t *testing.T) {
	t.Parallel()

	tests := []struct{ in, want string }{
		{"0.005", "0.01"}, {"0.0049", "0.00"}, {"2.675", "2.68"}, {"1.255", "1.26"}, {"-0.005", "-0.01"}, {"-0.0049", "0.00"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, models.NewMoney(decimal.RequireFromString(tt.in)).String(), tt.in)
	}

	require.Equal(t, "0.02", models.MustMoney("0.15").AtRate(models.MustRate("0.10")).String(), "0.015 goes up")
	require.Equal(t, "33.33", models.MustMoney("100").Share(models.MustMoney("1"), models.MustMoney("3")).String())
	require.Equal(t, "66.67", models.MustMoney("100").Share(models.MustMoney("2"), models.MustMoney("3")).String())
	require.Equal(t, "0.01", models.MustMoney("0.01").Share(models.MustMoney("1"), models.MustMoney("2")).String(), "a half goes up")
}

func TestMoneyArithmetic(t *testing.T) {
	t.Parallel()

	a, b := models.MustMoney("10.10"), models.MustMoney("0.20")
	require.Equal(t, "10.30", a.Add(b).String())
	require.Equal(t, "9.90", a.Sub(b).String())
	require.Equal(t, "-10.10", a.Neg().String())
	require.Equal(t, "30.30", a.Times(3).String())
	require.Equal(t, int64(1010), a.Halalas())
	require.Equal(t, 1, a.Cmp(b))
	require.Equal(t, "10.50", models.Sum(a, b, b).String())
	require.True(t, models.Sum().IsZero())
	require.True(t, models.Money{}.Equal(models.Halalas(0)), "the zero value is 0.00")
	require.True(t, a.IsPositive() && a.Neg().IsNegative())
	require.False(t, models.Money{}.IsPositive() || models.Money{}.IsNegative())
	require.Panics(t, func() { models.MustMoney("1.234") })
}

func TestMoneyRoundTrip(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(-99_999_999_999_999, 99_999_999_999_999).Draw(t, "halalas")
		m := models.Halalas(n)

		out, err := json.Marshal(m)
		require.NoError(t, err)

		var back models.Money

		require.NoError(t, json.Unmarshal(out, &back))
		require.True(t, back.Equal(m))
		require.Equal(t, n, back.Halalas())

		v, err := m.Value()
		require.NoError(t, err)
		require.NoError(t, back.Scan(v))
		require.True(t, back.Equal(m))
	})
}

func FuzzParseMoney(f *testing.F) {
	for _, s := range []string{"0", "1150.00", "-1.5", "1e9", "999999999999.99", "00", "1.005", "٣"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		m, err := models.ParseMoney(s)
		if err != nil {
			require.ErrorIs(t, err, models.ErrMoneyFormat)

			return
		}

		again, err := models.ParseMoney(m.String())
		require.NoError(t, err)
		require.True(t, m.Equal(again))

		_, err = m.Value()
		require.NoError(t, err, "what can be read can be stored")
	})
}

func TestRateJSON(t *testing.T) {
	t.Parallel()

	good := map[string]string{"0": "0.00", "1": "1.00", "0.15": "0.15", "0.2": "0.20", "0.125": "0.125", "0.0001": "0.0001", "1.0000": "1.00"}
	for in, want := range good {
		var r models.Rate

		require.NoError(t, json.Unmarshal([]byte(in), &r), in)

		out, err := json.Marshal(r)
		require.NoError(t, err)
		require.Equal(t, want, string(out), "two to four decimals")
	}

	for _, in := range []string{`"0.15"`, `15e-2`, `1E0`, `1.01`, `-0.1`, `0.00001`, `null`, `true`, `""`, `+0.1`, `15%`} {
		var r models.Rate

		require.Error(t, json.Unmarshal([]byte(in), &r), in)
	}

	var r models.Rate

	require.NoError(t, r.UnmarshalText([]byte("0.05")))
	require.True(t, r.Equal(models.MustRate("0.0500")))
	require.NoError(t, r.Scan("0.1500"))
	require.Equal(t, "0.15", r.String())
	require.Error(t, r.Scan(nil))
	require.Panics(t, func() { models.MustRate("2") })

	v, err := models.MustRate("0.1").Value()
	require.NoError(t, err)
	require.Equal(t, "0.10", v)
}
