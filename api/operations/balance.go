package operations

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// clockSkew is how far ahead of ours a client's clock may be when it asks for the balance of this very moment.
const clockSkew = time.Minute

// GetProviderBalance is where the caller's own company stands.
func (o *Operations) GetProviderBalance(
	ctx context.Context, r gen.GetProviderBalanceRequestObject,
) (gen.GetProviderBalanceResponseObject, error) {
	own, err := actor(ctx).ProviderScope(uuid.Nil)
	if err != nil {
		return nil, err
	}

	b, err := o.balance(ctx, own, r.Params.AsOf)

	return gen.GetProviderBalance200JSONResponse{Data: b}, err
}

// GetBalanceOfProvider is where any company stands.
func (o *Operations) GetBalanceOfProvider(
	ctx context.Context, r gen.GetBalanceOfProviderRequestObject,
) (gen.GetBalanceOfProviderResponseObject, error) {
	b, err := o.balance(ctx, r.ID, r.Params.AsOf)

	return gen.GetBalanceOfProvider200JSONResponse{Data: b}, err
}

func (o *Operations) balance(ctx context.Context, provider uuid.UUID, asOf *time.Time) (gen.Balance, error) {
	if asOf != nil {
		switch ahead := asOf.Sub(o.Now()); {
		case ahead > clockSkew:
			return gen.Balance{}, models.Invalid("as_of", "must not be in the future")
		case ahead > 0:
			asOf = nil
		}
	}

	b, err := o.Store.Ledger.ProviderBalance(ctx, provider, asOf)
	if err != nil {
		return gen.Balance{}, err
	}

	return balanceOf(&b), nil
}

func balanceOf(b *ledger.Balance) gen.Balance {
	return gen.Balance{
		ProviderID: b.ProviderID, Currency: models.Currency, PayableAmount: b.Payable, PaidOutAmount: b.PaidOut,
		EarnedAmount: b.Earned(), LastPayoutAt: utcOrNil(b.LastPayout), AsOf: utc(b.AsOf),
	}
}
