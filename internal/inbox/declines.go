package inbox

import (
	"context"

	"rihla/internal/store/payments"
	"rihla/models"
)

// StoreDecline keeps a decline that the gateway told when it was asked. It is no news of the attempt, which stays open. Each try has an id
// at the company: the same answer twice is the same event.
func (s *Store) StoreDecline(ctx context.Context, t *models.PaymentTransaction, try string, d payments.Decline) error {
	e := models.WebhookEvent{
		ID: models.NewID(), Channel: t.Channel, WebhookID: models.PolledEventID(t, "declined:"+try), Type: models.EventNotice,
		MerchantReference: t.ID.String(), PaymentMethod: t.PaymentMethod, ResultCode: d.ResultCode, FailureReason: d.Reason, OccurredAt: d.At,
	}
	if t.Reference != nil {
		e.CheckoutID = *t.Reference
	}

	_, err := s.StoreEvent(ctx, e, d.At)

	return err
}
