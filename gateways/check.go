package gateways

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// CheckKey asks the gateway about a checkout that there is not. nil: it takes our key. KindUnauthorized: it refuses it.
func CheckKey(ctx context.Context, g Gateway, now time.Time) error {
	_, err := g.ReadCheckout(ctx, CheckoutRef{
		MerchantReference: uuid.New(), Method: g.Capabilities().Methods[0].Method, Currency: models.Currency,
		CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	})
	if KindOf(err) == KindNotFound {
		return nil
	}

	return err
}

// Checker is a driver that can be asked whether its account works, without moving money.
type Checker interface {
	// Check makes a few harmless calls. webhook is the address at which the service takes the company's messages; it is
	// compared with what is registered where the company tells. An error is that the company could not be asked.
	Check(ctx context.Context, webhook string) ([]Finding, error)
}

// Finding is one thing that a check has looked at.
type Finding struct {
	OK    bool
	About string // what was looked at: "key", "mode", "currency", "webhook"
	Says  string // what was found, in a sentence for an operator; never a key
}

// Mode is what an account's key is for.
type Mode string

// The modes of keys.
const (
	ModeTest    Mode = "test"
	ModeLive    Mode = "live"
	ModeUnknown Mode = "unknown" // the key does not tell
)
