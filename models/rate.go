package models

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// rateScale is the number of decimals a rate may have (rules: money.rates).
const rateScale = 4

// ErrRateFormat reports a rate outside 0–1 or with more than four decimals.
var ErrRateFormat = errors.New("must be a number from 0 to 1 with at most 4 decimals")

// Rate is a share from 0 to 1, such as a VAT or commission rate. The zero value is 0.00.
type Rate struct {
	d decimal.Decimal
}

// ParseRate reads a number from 0 to 1 with at most four decimals; anything else is ErrRateFormat.
func ParseRate(s string) (Rate, error) {
	if strings.ContainsAny(s, "eE+") {
		return Rate{}, ErrRateFormat
	}

	d, err := decimal.NewFromString(s)
	if err != nil || d.IsNegative() || d.GreaterThan(decimal.NewFromInt(1)) || !d.Equal(d.Truncate(rateScale)) {
		return Rate{}, ErrRateFormat
	}

	return Rate{d: d}, nil
}

// MustRate is ParseRate for constants; it panics on a malformed literal.
func MustRate(s string) Rate {
	r, err := ParseRate(s)
	if err != nil {
		panic(fmt.Sprintf("models: rate literal %q: %v", s, err))
	}

	return r
}

// AdvertisingCommission is the platform's share of a campaign's price: all of it.
func AdvertisingCommission() Rate { return Rate{d: decimal.NewFromInt(1)} }

// Decimal is the rate as a decimal.
func (r Rate) Decimal() decimal.Decimal { return r.d }

// Equal reports whether both are the same rate.
func (r Rate) Equal(o Rate) bool { return r.d.Equal(o.d) }

// String is the rate with two to four decimals: `0.15`, `0.125`.
func (r Rate) String() string {
	s := r.d.StringFixed(rateScale)
	for len(s) > len("0.00") && strings.HasSuffix(s, "0") {
		s = s[:len(s)-1]
	}

	return s
}

// MarshalJSON writes a JSON number with two to four decimals.
func (r Rate) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalJSON reads a JSON number from 0 to 1.
func (r *Rate) UnmarshalJSON(b []byte) error {
	p, err := ParseRate(strings.TrimSpace(string(b)))
	if err != nil {
		return err
	}

	*r = p

	return nil
}

// UnmarshalText reads a rate from configuration.
func (r *Rate) UnmarshalText(b []byte) error { return r.UnmarshalJSON(b) }

// Value hands the rate to PostgreSQL as text.
func (r Rate) Value() (driver.Value, error) { return r.String(), nil }

// Scan reads a numeric column.
func (r *Rate) Scan(src any) error {
	if src == nil {
		return errors.New("cannot scan NULL into Rate")
	}

	if err := r.d.Scan(src); err != nil {
		return fmt.Errorf("scan rate: %w", err)
	}

	return nil
}
