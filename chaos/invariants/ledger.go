package invariants

import (
	"context"
	"slices"

	"rihla/chaos/env"
	"rihla/e2e/rig"
	"rihla/models"
)

// companyLedger is what the gateway says it has done, in the terms of the sandbox: refunds have our ids, and there is no checkout that
// neither a customer nor the company itself can find.
func companyLedger(ctx context.Context, e *env.Environment) (rig.Ledger, error) {
	books, err := e.Gateway.Ledger()
	if err != nil {
		return books, err
	}

	if e.Company.Leaves() {
		if books.Checkouts, err = reachable(ctx, e, books.Checkouts); err != nil {
			return books, err
		}
	}

	if !e.Company.NamesRefunds() {
		err = nameRefunds(ctx, e, books.Refunds)
	}

	return books, err
}

// reachable leaves out open checkouts whose ids were never saved, so that no page of ours shows them. One that was paid stays.
func reachable(ctx context.Context, e *env.Environment, all []rig.Checkout) ([]rig.Checkout, error) {
	saved, err := texts(ctx, e.DB, "SELECT reference FROM payment_transactions WHERE reference IS NOT NULL")

	return slices.DeleteFunc(all, func(c rig.Checkout) bool {
		return c.Status == "open" && !slices.Contains(saved, c.ID)
	}), err
}

// nameRefunds gives each refund at the gateway the id of one of ours that succeeded, of the same checkout and amount. One without such
// keeps the company's id, of which we know nothing.
func nameRefunds(ctx context.Context, e *env.Environment, made []rig.Refund) error {
	found, err := e.DB.QueryContext(ctx, `SELECT r.id, t.reference, r.amount::text FROM refunds AS r
		JOIN payment_transactions AS t ON t.id = r.payment_transaction_id
		WHERE r.channel = 'GATEWAY' AND r.status = 'SUCCEEDED' AND t.reference IS NOT NULL ORDER BY r.created_at, r.id`)
	if err != nil {
		return err
	}
	defer found.Close()

	named := make([]bool, len(made))

	for found.Next() {
		var id, checkout, text string

		if err := found.Scan(&id, &checkout, &text); err != nil {
			return err
		}

		amount, err := models.ParseMoney(text)
		if err != nil {
			return err
		}

		for i := range made {
			if !named[i] && made[i].CheckoutID == checkout && made[i].Amount.Equal(amount) {
				made[i].MerchantReference, named[i] = id, true

				break
			}
		}
	}

	return found.Err()
}
