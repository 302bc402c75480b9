package bookstest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// Strict are the default policies with a limit of 50.00 on what goes back without an approval.
func Strict() models.Policies {
	p := models.DefaultPolicies()
	p.Approval.Above = models.MustMoney("50.00")

	return p
}

// Approved is the approval of a refund.
func Approved(refund uuid.UUID) models.RefundApproval {
	return models.RefundApproval{RefundID: refund, Decision: models.ApprovalApproved}
}

// Disapproved is its rejection.
func Disapproved(refund uuid.UUID, why string) models.RefundApproval {
	return models.RefundApproval{RefundID: refund, Decision: models.ApprovalRejected, Note: why}
}

// DecideApproval approves or rejects a refund.
func (b *Books) DecideApproval(t *testing.T, d models.RefundApproval, by models.Role) models.Refund {
	t.Helper()

	r, err := b.Store.Refunds.DecideApproval(t.Context(), b.As(by), d, time.Now())
	require.NoError(t, err)

	return r
}
