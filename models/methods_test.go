package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestMethodsCheck(t *testing.T) {
	t.Parallel()

	methods := models.Methods{
		models.MethodCreditCard:  {},
		models.MethodBillPayment: {MinAmount: models.MustMoney("100.00"), MaxAmount: models.MustMoney("5000.00")},
	}

	for _, tt := range []struct {
		method models.PaymentMethod
		amount string
		want   models.Code
	}{
		{models.MethodCreditCard, "0.01", ""},
		{models.MethodCreditCard, "99999999.99", ""},
		{models.MethodBillPayment, "99.99", models.CodeValidation},
		{models.MethodBillPayment, "100.00", ""},
		{models.MethodBillPayment, "5000.00", ""},
		{models.MethodBillPayment, "5000.01", models.CodeValidation},
		{models.MethodWalletA, "100.00", models.CodeMethodNotAvailable},
	} {
		if err := methods.Check(tt.method, models.MustMoney(tt.amount)); tt.want == "" {
			require.NoError(t, err, "%s %s", tt.method, tt.amount)
		} else {
			require.Equal(t, tt.want, models.CodeOf(err), "%s %s", tt.method, tt.amount)
		}

		require.NoError(t, models.Methods(nil).Check(tt.method, models.MustMoney(tt.amount)), "none are stated: all are taken")
	}
}

func TestHoldIsAsLongAsTheCompanyLets(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	require.Equal(t, p.BookingHold, p.Hold(models.MethodCreditCard))
	require.Equal(t, p.BillHold, p.Hold(models.MethodBillPayment))

	p.Methods = models.Methods{models.MethodCreditCard: {MaxTimeToPay: 20 * time.Minute}, models.MethodBillPayment: {MaxTimeToPay: 29 * 24 * time.Hour}}
	require.Equal(t, 20*time.Minute, p.Hold(models.MethodCreditCard))
	require.Equal(t, p.BillHold, p.Hold(models.MethodBillPayment))
}
