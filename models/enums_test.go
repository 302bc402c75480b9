package models_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// constants reads the values of every typed string constant of the package: a value that is added later is tested
// without being listed here.
func constants(t *testing.T) map[string][]string {
	t.Helper()

	all := map[string][]string{}

	for _, name := range []string{
		"enums.go", "channels.go", "catalogue.go", "audit.go", "approval.go", "bought.go", "export.go", "account_state.go", "ledger.go",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)

		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil {
				return true
			}

			kind, ok := spec.Type.(*ast.Ident)
			if !ok {
				return true
			}

			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, err := strconv.Unquote(lit.Value)
					require.NoError(t, err)

					all[kind.Name] = append(all[kind.Name], s)
				}
			}

			return true
		})
	}

	return all
}

func TestEveryStatusHasLabels(t *testing.T) {
	t.Parallel()

	labels := map[string]func(string) models.Label{
		"BookingStatus":     func(s string) models.Label { return models.BookingStatus(s).Label() },
		"TransactionStatus": func(s string) models.Label { return models.TransactionStatus(s).Label() },
		"BalanceStatus":     func(s string) models.Label { return models.BalanceStatus(s).Label() },
		"CampaignStatus":    func(s string) models.Label { return models.CampaignStatus(s).Label() },
		"RefundStatus":      func(s string) models.Label { return models.RefundStatus(s).Label() },
		"TripStatus":        func(s string) models.Label { return models.TripStatus(s).Label() },
		"FailureCode":       func(s string) models.Label { return models.FailureCode(s).Label() },
		"TransactionKind":   func(s string) models.Label { return models.TransactionKind(s).Label() },
		"Gateway":           func(s string) models.Label { return models.Gateway(s).Label() },
		"RefundType":        func(s string) models.Label { return models.RefundType(s).Label() },
		"RefundChannel":     func(s string) models.Label { return models.RefundChannel(s).Label() },
		"PolicyReason":      func(s string) models.Label { return models.PolicyReason(s).Label() },
		"ApprovalDecision":  func(s string) models.Label { return models.ApprovalDecision(s).Label() },
		"ExportKind":        func(s string) models.Label { return models.ExportKind(s).Label() },
		"AccountState":      func(s string) models.Label { return models.AccountState(s).Label() },
		"RecordKind":        func(s string) models.Label { return models.RecordKind(s).Label() },
		"PaymentMethod":     func(s string) models.Label { return models.PaymentMethod(s).Label() },
		"Role":              func(s string) models.Label { return models.Role(s).Label() },
	}
	all := constants(t)

	for kind, label := range labels {
		require.NotEmpty(t, all[kind], kind)

		for _, value := range all[kind] {
			l := label(value)
			require.NotEmpty(t, l.AR, "%s %s", kind, value)
			require.NotEmpty(t, l.EN, "%s %s", kind, value)
			require.NotEqual(t, l.AR, l.EN)
			require.Equal(t, l.EN, l.In(models.LocaleEnglish))
			require.Equal(t, l.AR, l.In(models.LocaleArabic))
			require.Equal(t, l.AR, l.In("fr"), "Arabic is the fallback")
		}
	}
}

func TestUILabels(t *testing.T) {
	t.Parallel()

	want := map[models.TransactionStatus]string{
		models.TransactionPending: "In progress", models.TransactionPaid: "Completed", models.TransactionFailed: "Failed",
		models.TransactionRefunded: "Refunded", models.TransactionPartialRefund: "Refunded",
	}
	require.Len(t, want, len(constants(t)["TransactionStatus"]))

	for s, label := range want {
		require.Equal(t, label, s.UILabel().EN)
	}
}

func TestChannelsAndMethodsBelongTogether(t *testing.T) {
	t.Parallel()

	methods := constants(t)["PaymentMethod"]
	require.Len(t, methods, 5)
	require.Len(t, models.AllChannels(), len(constants(t)["Channel"]))
	require.Len(t, models.Gateways(), len(constants(t)["Gateway"]))

	for _, m := range models.PaymentMethods() {
		require.Contains(t, models.Gateways(), m.Gateway())
		require.Contains(t, models.Channels(), m.Channel())
		require.Equal(t, m.Gateway(), m.Channel().Gateway())
		require.Equal(t, m.Gateway().Primary(), m.Channel().Account())

		require.Equal(t, m.Channel(), models.Routes{}.Channel(m), "each on its own")
		one := models.Routes{OneChannel: map[models.Gateway]bool{models.GatewayA: true}}
		require.Equal(t, models.Channel(m.Gateway()), one.Channel(m), "all on that of the gateway's name; wallet_b has no other")
		require.Equal(t, one.Channel(m), one.TakenAt(m.Channel()), "a company is heard at each path of its methods")
		require.Equal(t, m.Channel(), models.Routes{}.TakenAt(m.Channel()))
	}

	for _, g := range models.Gateways() {
		require.Contains(t, models.BackupChannels(), g.BackupChannel())
		require.Equal(t, g.Backup(), g.BackupChannel().Account())
		require.Equal(t, "webhook/"+string(g)+"/backup", g.BackupChannel().Path())

		one := models.Routes{OneChannel: map[models.Gateway]bool{g: true}}
		require.Equal(t, g.BackupChannel(), one.TakenAt(g.BackupChannel()), "another account has its own secrets")
	}

	require.Len(t, models.PaymentMethods(), len(methods))
	require.Equal(t, models.GatewayWalletB, models.MethodWalletB.Gateway())
	require.Equal(t, models.GatewayA, models.MethodBillPayment.Gateway())

	require.Equal(t, "webhook/gateway_a", models.ChannelGatewayA.Path())
	require.Equal(t, "webhook/wallet_a", models.ChannelWalletA.Path())
	require.Equal(t, "webhook-bill_payment", models.ChannelBillPayment.Path(), "has another form than the others")
}

func TestRoles(t *testing.T) {
	t.Parallel()

	require.Len(t, models.Roles(), len(constants(t)["Role"]))

	for _, r := range models.Roles() {
		require.Equal(t, r == models.RoleProviderAdmin || r == models.RoleProviderStaff, r.IsProvider(), r)
		require.Equal(t, r == models.RoleAdmin || r == models.RoleSuperAdmin, r.IsAdmin(), r)
		require.Equal(t, !r.IsProvider() && r != models.RoleEndUser, r.ReadsAnyBooking(), r)
	}
}

func TestMismatchIsFinal(t *testing.T) {
	t.Parallel()

	for _, f := range constants(t)["FailureCode"] {
		want := f == "AMOUNT_MISMATCH" || f == "CURRENCY_MISMATCH"
		require.Equal(t, want, models.FailureCode(f).IsMismatch(), f)
	}
}

// Ids are kept for ever: a change here would pay, refund or tell people a second time.
func TestDerivedIDsNeverChange(t *testing.T) {
	t.Parallel()

	id := uuid.MustParse("11111111-2222-3333-4444-555555555555")
	got := map[string]uuid.UUID{
		"booking":      models.BookingAttemptID(id, 1),
		"campaign":     models.CampaignAttemptID(id, 1),
		"refund":       models.RefundID(id, "key"),
		"refund tx":    models.RefundTransactionID(id),
		"transfer":     models.TransferID(id, models.TransferPayout),
		"record":       models.RecordID(id, "SALE"),
		"notification": models.NotificationID(id, models.NotifyPaymentSucceeded, models.NotifySMS),
		"incident":     models.IncidentID(models.IncidentLatePayment, id.String()),
	}
	want := map[string]string{
		"booking":      "15615562-76f7-5c86-ac97-306bfabd02c3",
		"campaign":     "bd74f435-a472-5ecf-9c2b-949a7ca08e1f",
		"refund":       "4547e9d6-2d7b-55be-b862-8da5fadf414a",
		"refund tx":    "a102d6c0-74b5-5762-b26c-a19dfdd18e15",
		"transfer":     "c27fbfd0-7289-5e2c-929b-675bb52572d8",
		"record":       "74309444-5fc7-5035-b74b-165eda08e85e",
		"notification": "ad7305b7-ac2f-52a0-bd71-fe0f11646a21",
		"incident":     "b0067310-fdb4-5887-bdc1-de2c916b079c",
	}

	for name, u := range got {
		require.Equal(t, want[name], u.String(), name)
		require.EqualValues(t, 5, u.Version())
	}

	require.NotEqual(t, models.BookingAttemptID(id, 1), models.BookingAttemptID(id, 2))
	require.NotEqual(t, models.BookingAttemptID(id, 1), models.CampaignAttemptID(id, 1))

	attempt := models.Attempt{BookingID: id, Number: 1}
	require.Equal(t, models.BookingAttemptID(id, 1), attempt.ID())
	attempt = models.Attempt{CampaignID: id, Number: 2}
	require.Equal(t, models.CampaignAttemptID(id, 2), attempt.ID())
	require.EqualValues(t, 7, models.NewID().Version())
}

func TestErrors(t *testing.T) {
	t.Parallel()

	err := fmt.Errorf("read: %w", models.NewError(models.CodeBookingNotPayable, "booking.not_payable", "status", models.BookingCancelled))
	require.Equal(t, models.CodeBookingNotPayable, models.CodeOf(err))
	require.Equal(t, "read: BOOKING_NOT_PAYABLE: The booking is CANCELLED and cannot be paid.", err.Error())
	require.ErrorIs(t, err, &models.Error{Code: models.CodeBookingNotPayable, Text: models.Verbatim("other words")})
	require.NotErrorIs(t, err, models.NotFound())
	require.Equal(t, models.CodeInternal, models.CodeOf(errors.New("x")))
	require.Equal(t, models.CodeInternal, models.CodeOf(nil))
	require.Equal(t, map[string][]string{"amount": {"must be at least 1"}}, models.Invalid("amount", "field.min", "min", 1).EnglishDetails())
}

func TestSettledIsFinal(t *testing.T) {
	t.Parallel()

	require.False(t, models.Settled{}.Final())
	require.False(t, models.Settled{Status: models.TransactionPending}.Final())
	require.True(t, models.Settled{Status: models.TransactionPaid}.Final())
	require.True(t, models.Settled{Status: models.TransactionFailed}.Final())
}
