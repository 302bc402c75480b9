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

// ListProviderBalances is where every company stands.
func (o *Operations) ListProviderBalances(
	ctx context.Context, r gen.ListProviderBalancesRequestObject,
) (gen.ListProviderBalancesResponseObject, error) {
	asOf, err := o.pastMoment(r.Params.AsOf)
	if err != nil {
		return nil, err
	}

	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Ledger.ListBalances(ctx, ledger.BalanceFilter{
		Search: valueOf(r.Params.Search), OnlyOwed: valueOf(r.Params.OnlyOwed), AsOf: asOf, Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListProviderBalances200JSONResponse{Data: mapEach(list.Items, providerBalanceOf), Meta: metaOf(p, list)}, nil
}

func (o *Operations) balance(ctx context.Context, provider uuid.UUID, asOf *time.Time) (gen.Balance, error) {
	asOf, err := o.pastMoment(asOf)
	if err != nil {
		return gen.Balance{}, err
	}

	b, err := o.Store.Ledger.ProviderBalance(ctx, provider, asOf)
	if err != nil {
		return gen.Balance{}, err
	}

	return balanceOf(&b), nil
}

// pastMoment is a moment that a balance is asked for of; nil is now.
func (o *Operations) pastMoment(asOf *time.Time) (*time.Time, error) {
	if asOf == nil {
		return nil, nil //nolint:nilnil // now has no moment of its own
	}

	switch ahead := asOf.Sub(o.Now()); {
	case ahead > clockSkew:
		return nil, models.Invalid("as_of", "field.future")
	case ahead > 0:
		return nil, nil //nolint:nilnil // as above
	default:
		return asOf, nil
	}
}

func providerBalanceOf(p *ledger.ProviderBalance) gen.ProviderBalance {
	label := models.ResourceStatusLabel(p.Status)

	return gen.ProviderBalance{
		ID: p.ID, Name: p.Name, Status: p.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN, Balance: balanceOf(&p.Balance),
	}
}

func balanceOf(b *ledger.Balance) gen.Balance {
	return gen.Balance{
		ProviderID: b.ProviderID, Currency: models.Currency, PayableAmount: b.Payable, PaidOutAmount: b.PaidOut,
		EarnedAmount: b.Earned(), LastPayoutAt: utcOrNil(b.LastPayout), AsOf: utc(b.AsOf),
	}
}
