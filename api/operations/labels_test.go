package operations

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/models"
)

// Of each answer with labels all are filled where there is a value, and none where there is none.
func TestLabelsAreFilled(t *testing.T) {
	t.Parallel()

	code, reason, refused := models.FailureDeclined, models.PolicyAtBooking, "PAYOUT_REJECTED"
	role, why := models.RoleAdmin, "PAUSED"

	for _, filled := range []int{
		countLabels(t, labelled(gen.PaymentTransaction{
			Kind: models.KindPayment, PaymentMethod: models.MethodCreditCard, Provider: models.GatewayA, Status: models.TransactionPaid, FailureCode: &code,
		})) - 5,
		countLabels(t, labelled(gen.Refund{
			RefundType: models.RefundPolicy, ReasonCode: &reason, Channel: models.RefundByHand, Status: models.RefundFailed, FailureCode: &refused,
		})) - 5,
		countLabels(t, labelled(gen.FinancialRecord{Kind: models.RecordSale, BalanceStatus: models.BalanceInCurrent})) - 2,
		countLabels(t, labelled(gen.PaymentStatus{
			BookingStatus: models.BookingConfirmed, PaymentStatus: models.TransactionPaid, PaymentMethod: models.MethodWalletA, FailureCode: &code,
		})) - 4,
		countLabels(t, labelled(gen.AuditLog{ActorKind: "OPERATOR", ActorRole: &role})) - 2,
		countLabels(t, labelled(gen.PaymentMethodOffer{
			Method: models.MethodWalletB, Provider: models.GatewayWalletB, Refunds: "FULL", UnavailableReason: &why,
		})) - 4,
		countLabels(t, labelled(gen.CheckoutMessage{Channel: "SMS"})) - 1,
		countLabels(t, labelled(gen.TimelineEntry{Kind: "WEBHOOK"})) - 1,
		countLabels(t, labelled(gen.IncidentRepair{Kind: models.RepairPayOutRefund, State: models.RepairUnderWay})) - 2,
		countLabels(t, labelled(gen.OwnAccount{Role: models.RoleSuperAdmin, Factor: models.FactorIssuer})) - 2,
		countLabels(t, labelled(gen.PaymentTransaction{})),
	} {
		require.Zero(t, filled)
	}

	one := labelled(gen.FinancialRecord{Kind: models.RecordClawback})
	require.Equal(t, "Claw-back", *one.KindLabelEn)
	require.Equal(t, "استرجاع من الشركة", *one.KindLabelAr)
}

// countLabels counts the values of an answer that have both labels.
func countLabels[T any](t *testing.T, answer T) int {
	t.Helper()

	n := 0

	for _, f := range labelsIn(answer) {
		require.Equal(t, f.AR == "", f.EN == "")

		if f.AR != "" {
			n++
		}
	}

	return n
}

func labelsIn[T any](answer T) []models.Label {
	v := reflect.ValueOf(answer)
	text := func(i int) string {
		f := reflect.Indirect(v.Field(i))
		if !f.IsValid() {
			return ""
		}

		return f.String()
	}

	fields := labelledFields(v.Type())
	out := make([]models.Label, 0, len(fields))

	for _, f := range fields {
		out = append(out, models.Label{AR: text(f.ar), EN: text(f.en)})
	}

	return out
}
