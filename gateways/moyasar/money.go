package moyasar

import (
	"errors"
	"math/big"
	"regexp"

	"github.com/shopspring/decimal"

	"rihla/models"
)

// errAmount reports an amount that has no exact form on the other side.
var errAmount = errors.New("the amount cannot be written exactly in the currency's smallest unit")

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// decimals are how many a currency has, where they are not two: 1.00 KWD is 1000, 1 JPY is 1
// (docs.moyasar.com/api/invoices/01-create-invoice; the others by ISO 4217).
var decimals = map[string]int32{
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0,
	"UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
}

func decimalsOf(currency string) int32 {
	if n, ok := decimals[currency]; ok {
		return n
	}

	return 2
}

// toMinor writes an amount in the currency's smallest unit: halalas of SAR. Error: errAmount.
func toMinor(m models.Money, currency string) (int64, error) {
	code := models.CurrencyCode(currency)
	if !currencyCode.MatchString(code) || !m.IsPositive() {
		return 0, errAmount
	}

	units := m.Decimal().Shift(decimalsOf(code))
	if !units.IsInteger() || !units.BigInt().IsInt64() {
		return 0, errAmount
	}

	return units.IntPart(), nil
}

// fromMinor reads an amount of the currency's smallest unit. Error: errAmount, also for what is negative or beyond what the
// service keeps.
func fromMinor(units int64, currency string) (models.Money, error) {
	code := models.CurrencyCode(currency)
	if !currencyCode.MatchString(code) || units < 0 {
		return models.Money{}, errAmount
	}

	exact := decimal.NewFromBigInt(big.NewInt(units), -decimalsOf(code))

	m := models.NewMoney(exact)
	if !m.Decimal().Equal(exact) || !m.Fits() {
		return models.Money{}, errAmount
	}

	return m, nil
}
