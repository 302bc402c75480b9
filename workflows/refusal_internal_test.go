package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"rihla/models"
)

// TestRefusals: an error that an activity has refused with says the same to a client, whatever version has written it into the history.
func TestRefusals(t *testing.T) {
	t.Parallel()

	cause := models.NewError(models.CodeRefundExceedsRemaining, "refund.exceeds_left", "left", models.MustMoney("12.50"), "currency", models.InCurrency("SAR"))
	cause.Details = map[string][]models.Text{"amount": {models.TextOf("field.max", "max", "12.50")}}

	refusal := func(details ...any) *models.Error {
		failure := temporal.GetDefaultFailureConverter().ErrorToFailure(temporal.NewApplicationErrorWithOptions(
			cause.Message(), string(cause.Code), temporal.ApplicationErrorOptions{NonRetryable: true, Details: details}))
		err := asDomainError(temporal.GetDefaultFailureConverter().FailureToError(failure))

		var domain *models.Error
		require.ErrorAs(t, err, &domain)
		require.Equal(t, cause.Code, domain.Code)
		require.Equal(t, "The refund exceeds what is left of the payment: 12.50 SAR.", domain.Message())

		return domain
	}

	now := refusal(cause.Details, cause.Text)
	require.Equal(t, "يتجاوز الاسترداد المتبقي من الدفعة: 12.50 ريال.", now.Text.In(models.LocaleArabic))
	require.Equal(t, "يجب ألا تزيد القيمة على 12.50", now.Details["amount"][0].In(models.LocaleArabic))

	before := refusal(map[string][]string{"amount": {"must be at most 12.50"}})
	require.Equal(t, map[string][]string{"amount": {"must be at most 12.50"}}, before.EnglishDetails())

	require.Nil(t, refusal().Details)
	require.Nil(t, refusal(nil).Details)
}
