package models

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"
)

// Currency is the only currency of the service (rules: money.currency): ISO 4217, SAR.
const Currency = "SAR"

// CurrencyCode is an ISO 4217 code as the service keeps it, in capitals.
func CurrencyCode(c string) string { return strings.ToUpper(c) }

// SameCurrency reports whether two ISO 4217 codes are the same currency, in capitals or not.
func SameCurrency(a, b string) bool { return strings.EqualFold(a, b) }

// moneyScale is the number of decimals of SAR: one riyal is 100 halalas.
const moneyScale = 2

// ErrMoneyFormat reports an amount that is not a plain JSON number with at most two decimals.
var ErrMoneyFormat = errors.New("must be a number with at most 2 decimals")

// maxMoney is the largest amount a numeric(14,2) column holds.
var maxMoney = decimal.RequireFromString("999999999999.99")

// plainNumber admits numbers as amounts are written (rules: money.decimal): no exponent, no leading plus, at most two decimals.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,11})(\.[0-9]{1,2})?$`)

// Money is an exact amount in SAR with two decimals. The zero value is 0.00. It is never a binary float:
// JSON carries it as a number with exactly two decimals, PostgreSQL as numeric(14,2).
type Money struct {
	d decimal.Decimal
}

// NewMoney rounds d half-up (away from zero) to the halala.
func NewMoney(d decimal.Decimal) Money { return Money{d: d.Round(moneyScale)} }

// Halalas makes an amount of n hundredths of a riyal.
func Halalas(n int64) Money { return Money{d: decimal.New(n, -moneyScale)} }

// ParseMoney reads a plain number with at most two decimals; anything else is ErrMoneyFormat.
func ParseMoney(s string) (Money, error) {
	if !plainNumber.MatchString(s) {
		return Money{}, ErrMoneyFormat
	}

	d, err := decimal.NewFromString(s)
	if err != nil {
		return Money{}, ErrMoneyFormat
	}

	return Money{d: d}, nil
}

// MustMoney is ParseMoney for constants; it panics on a malformed literal.
func MustMoney(s string) Money {
	m, err := ParseMoney(s)
	if err != nil {
		panic(fmt.Sprintf("models: money literal %q: %v", s, err))
	}

	return m
}

// Add returns m + o.
func (m Money) Add(o Money) Money { return Money{d: m.d.Add(o.d)} }

// Sub returns m − o.
func (m Money) Sub(o Money) Money { return Money{d: m.d.Sub(o.d)} }

// Neg returns −m.
func (m Money) Neg() Money { return Money{d: m.d.Neg()} }

// Abs returns |m|.
func (m Money) Abs() Money { return Money{d: m.d.Abs()} }

// Times returns m × n, exact.
func (m Money) Times(n int) Money { return Money{d: m.d.Mul(decimal.NewFromInt(int64(n)))} }

// AtRate returns m × rate, rounded half-up to the halala.
func (m Money) AtRate(r Rate) Money { return NewMoney(m.d.Mul(r.d)) }

// Share returns m × part ÷ whole, rounded half-up to the halala; whole must not be zero.
// The product is exact, so that the one rounding is the last step.
func (m Money) Share(part, whole Money) Money {
	return Money{d: m.d.Mul(part.d).DivRound(whole.d, moneyScale)}
}

// Cmp is -1, 0 or +1 as m is less than, equal to or more than o.
func (m Money) Cmp(o Money) int { return m.d.Cmp(o.d) }

// AtMost is m, or limit where that is less.
func (m Money) AtMost(limit Money) Money {
	if limit.Cmp(m) < 0 {
		return limit
	}

	return m
}

// Equal reports whether both are the same amount.
func (m Money) Equal(o Money) bool { return m.d.Equal(o.d) }

// IsZero reports whether m is 0.00.
func (m Money) IsZero() bool { return m.d.IsZero() }

// IsPositive reports whether m > 0.
func (m Money) IsPositive() bool { return m.d.IsPositive() }

// IsNegative reports whether m < 0.
func (m Money) IsNegative() bool { return m.d.IsNegative() }

// Halalas is the amount in hundredths of a riyal.
func (m Money) Halalas() int64 { return m.d.Shift(moneyScale).IntPart() }

// Decimal is the amount as an arbitrary-precision decimal.
func (m Money) Decimal() decimal.Decimal { return m.d }

// String is the amount with exactly two decimals, `1150.00`.
func (m Money) String() string { return m.d.StringFixed(moneyScale) }

// Grouped is the amount as people write it, with Western digits, which both languages use: 1,150.00.
func (m Money) Grouped() string {
	const group = 3

	whole, cents, _ := strings.Cut(m.String(), ".")
	sign := ""

	if whole[0] == '-' {
		sign, whole = "-", whole[1:]
	}

	for i := len(whole) - group; i > 0; i -= group {
		whole = whole[:i] + "," + whole[i:]
	}

	return sign + whole + "." + cents
}

// MarshalJSON writes a JSON number with exactly two decimals.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads a JSON number with at most two decimals; a string or an exponent is ErrMoneyFormat.
func (m *Money) UnmarshalJSON(b []byte) error {
	p, err := ParseMoney(strings.TrimSpace(string(b)))
	if err != nil {
		return err
	}

	*m = p

	return nil
}

// UnmarshalText reads what ParseMoney does.
func (m *Money) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMoney(string(b))

	return err
}

// Fits reports whether the amount fits a numeric(14,2) column.
func (m Money) Fits() bool { return !m.d.Abs().GreaterThan(maxMoney) }

// Value hands the amount to PostgreSQL as text, so that no float is ever involved.
func (m Money) Value() (driver.Value, error) {
	if !m.Fits() {
		return nil, fmt.Errorf("amount %s does not fit numeric(14,2)", m)
	}

	return m.String(), nil
}

// Scan reads a numeric column. NULL is refused: use *Money for nullable columns.
func (m *Money) Scan(src any) error {
	if src == nil {
		return errors.New("cannot scan NULL into Money")
	}

	if err := m.d.Scan(src); err != nil {
		return fmt.Errorf("scan money: %w", err)
	}

	return nil
}

// Sum adds amounts; of none it is 0.00.
func Sum(amounts ...Money) Money {
	var total Money
	for _, a := range amounts {
		total = total.Add(a)
	}

	return total
}
