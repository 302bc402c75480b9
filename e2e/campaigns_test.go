package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

func campaignIntentPath(campaign uuid.UUID) string {
	return "/api/v1/payments/ad-campaign/" + campaign.String() + "/intent"
}

// awaitTransaction waits until an attempt is decided.
func awaitTransaction(t *testing.T, s *harness.Stack, id uuid.UUID) transaction {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)

	var out transaction

	require.Eventually(t, func() bool {
		out = decoded[transaction](t, http.StatusOK, finance.Get("/api/v1/admin/payment-transactions/"+id.String()))

		return out.Status != models.TransactionPending
	}, patience, refundPoll)

	return out
}

// campaignPaid pays for campaigns that begin in the past, today and later.
func campaignPaid(t *testing.T, s *harness.Stack) {
	t.Helper()

	staff := s.As(models.RoleProviderStaff)

	for startsIn, want := range map[int]models.CampaignStatus{
		-1: models.CampaignActive, 0: models.CampaignActive, 1: models.CampaignScheduled, 30: models.CampaignScheduled,
	} {
		campaign := s.NewCampaign("333.33", startsIn)

		attempt := decoded[transaction](t, http.StatusCreated, staff.Post(campaignIntentPath(campaign), byCard()))
		require.Equal(t, "400.00", attempt.Amount.String(), "VAT is added: 333.33 + 66.67")
		require.Equal(t, "66.67", attempt.VATAmount.String())
		require.Equal(t, "0.20", attempt.VATRate.String())
		require.Equal(t, campaign, *attempt.CampaignID)
		require.Nil(t, attempt.BookingID)

		require.NoError(t, s.Pay(*attempt.CheckoutURL, "succeed"))
		require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, attempt.ID).Status)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = $2", campaign, want))

		lines := decoded[[]record](t, http.StatusOK, staff.Get(providerRecords+"?ad_campaign_id="+campaign.String()))
		require.Len(t, lines, 1)

		line := lines[0]
		require.Equal(t, models.RecordAdvertising, line.Kind)
		require.Equal(t, "Ad campaign for trip Test Trip (Campaign)", line.Details)
		require.Equal(t, "400.00", line.Gross.String())
		require.Equal(t, "400.00", line.Commission.String(), "all of it is the platform's")
		require.Equal(t, "0.00", line.Net.String())

		refused(t, staff.Post(campaignIntentPath(campaign), byCard()), http.StatusConflict, models.CodeCampaignNotPayable)
		require.Equal(t, 2, s.Count("SELECT count(*) FROM notifications WHERE transaction_id = $1 AND kind = 'CAMPAIGN_PAID'", attempt.ID))
	}
}

// campaignIntents checks who may pay for whose campaign, and that the rules of booking intents hold here too.
func campaignIntents(t *testing.T, s *harness.Stack) {
	t.Helper()

	campaign, stranger := s.NewCampaign("1000.00", 3), s.For(t)
	path := campaignIntentPath(campaign)

	for _, role := range []models.Role{models.RoleProviderAdmin, models.RoleProviderStaff} {
		refused(t, stranger.As(role).Post(path, byCard()), http.StatusNotFound, models.CodeNotFound)
	}

	for _, role := range []models.Role{models.RoleEndUser, models.RoleSupportAgent, models.RoleFinanceAdmin} {
		refused(t, s.As(role).Post(path, byCard()), http.StatusForbidden, models.CodeForbidden)
	}

	owner := s.As(models.RoleProviderAdmin)
	first := decoded[transaction](t, http.StatusCreated, owner.Post(path, byCard()))
	require.Equal(t, first.ID, decoded[transaction](t, http.StatusOK, s.As(models.RoleAdmin).Post(path, byCard())).ID)
	require.Equal(t, first.ID, decoded[transaction](t, http.StatusOK, s.As(models.RoleSuperAdmin).Post(path, byCard())).ID)

	require.NoError(t, s.Pay(*first.CheckoutURL, "decline"))
	require.Equal(t, models.FailureDeclined, *awaitTransaction(t, s, first.ID).FailureCode)

	second := decoded[transaction](t, http.StatusCreated, owner.Post(path, byCard()))
	require.Equal(t, models.CampaignAttemptID(campaign, 2), second.ID)

	third := decoded[transaction](t, http.StatusCreated, owner.Post(path, map[string]any{"payment_method": "wallet_b", "replace": true}))
	require.NoError(t, s.Pay(*third.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, third.ID).Status)
	require.Equal(t, models.FailureCancelled, *transactionByID(t, s, second.ID).FailureCode)

	gone := s.NewCampaign("10.00", 3)
	_, err := s.DB.ExecContext(t.Context(), "UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", gone)
	require.NoError(t, err)
	refused(t, owner.Post(campaignIntentPath(gone), byCard()), http.StatusNotFound, models.CodeNotFound)
}

// inactiveProvider checks that staff of an INACTIVE provider read and do not write (rules: companies.inactive).
func inactiveProvider(t *testing.T, s *harness.Stack) {
	t.Helper()

	campaign, staff := s.NewCampaign("1000.00", 3), s.As(models.RoleProviderStaff)
	_, err := s.DB.ExecContext(t.Context(), "UPDATE providers SET status = 'INACTIVE' WHERE id = $1", s.World.Provider.ID)
	require.NoError(t, err)

	refused(t, staff.Post(campaignIntentPath(campaign), byCard()), http.StatusForbidden, models.CodeForbidden)
	refused(t, s.As(models.RoleProviderAdmin).Post(campaignIntentPath(uuid.New()), byCard()), http.StatusForbidden, models.CodeForbidden)
	require.Equal(t, http.StatusOK, staff.Get(providerRecords).Status)
	require.Equal(t, 0, s.Count("SELECT count(*) FROM payment_transactions WHERE ad_campaign_id = $1", campaign))
}

// A campaign that has not begun is refunded in full, and does not run then; of one that has begun a part goes back.
func TestRefundOfACampaign(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	company, finance := s.As(models.RoleProviderAdmin), s.As(models.RoleFinanceAdmin)
	begun, ahead, unpaid := s.NewCampaign("1000.00", 0), s.NewCampaign("1000.00", 3), s.NewCampaign("1000.00", 3)
	path := func(campaign uuid.UUID) string { return "/api/v1/admin/ad-campaigns/" + campaign.String() + "/refund" }

	for _, campaign := range []uuid.UUID{begun, ahead} {
		attempt := decoded[transaction](t, http.StatusCreated, company.Post(campaignIntentPath(campaign), byCard()))
		require.NoError(t, s.Pay(*attempt.CheckoutURL, "succeed"))
		require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, attempt.ID).Status)
	}

	full := map[string]any{"refund_type": models.RefundFull}
	refused(t, finance.Post(path(unpaid), full), http.StatusConflict, models.CodeInvalidState)
	refused(t, finance.Post(path(begun), full), http.StatusConflict, models.CodeInvalidState)
	refused(t, finance.Post(path(begun), map[string]any{"refund_type": models.RefundPartial}), http.StatusUnprocessableEntity, models.CodeValidation)
	refused(t, company.Post(path(ahead), full), http.StatusForbidden, models.CodeForbidden)
	refused(t, finance.Post(path(ahead), map[string]any{"refund_type": models.RefundFull, "expected_amount": 1199.99}),
		http.StatusConflict, models.CodeRefundAmountChanged)

	some := decoded[refund](t, http.StatusCreated, finance.Post(path(begun), map[string]any{"refund_type": models.RefundPartial, "amount": 200.01}))
	require.Equal(t, models.RefundSucceeded, some.Status)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'ACTIVE'", begun))

	all := decoded[refund](t, http.StatusCreated, finance.Post(path(ahead), full))
	require.Equal(t, "1200.00", all.Amount.String(), "with its VAT")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'CANCELLED'", ahead))
	refused(t, finance.Post(path(ahead), full), http.StatusConflict, models.CodeBookingNotRefundable)
	refused(t, company.Post("/api/v1/ad-campaigns/"+ahead.String()+"/resume", nil), http.StatusConflict, models.CodeInvalidState)
}
