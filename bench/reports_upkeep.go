package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/payments"
	"rihla/models"
)

const (
	upkeepRounds   = 10 // of each way, in turn
	upkeepPayments = 60 // per round
)

// upkeep compares settling a payment with and without the triggers that keep the sums of days, and with and without the
// indexes that searches look at.
func (b *reportsBench) upkeep(ctx context.Context, out io.Writer) error {
	sales := &bench{store: b.store}
	if err := sales.seed(ctx, 3*upkeepRounds*upkeepPayments); err != nil {
		return err
	}

	ways := []struct{ name, before, after string }{
		{"as it is", "SELECT 1", "SELECT 1"},
		{
			"without the sums", "ALTER TABLE financial_records DISABLE TRIGGER records_reported",
			"ALTER TABLE financial_records ENABLE TRIGGER records_reported",
		},
		// To make them anew would take minutes: they come last.
		{
			"without the indexes of searches", "DROP INDEX IF EXISTS records_text, records_number, records_number_part, records_clawback",
			"SELECT 1",
		},
	}
	took := make([][]time.Duration, len(ways))
	inTurn := func(from, to int) error {
		for range upkeepRounds {
			for i := from; i < to; i++ {
				if err := b.settled(ctx, sales, ways[i].before, ways[i].after, &took[i]); err != nil {
					return fmt.Errorf("%s: %w", ways[i].name, err)
				}
			}
		}

		return nil
	}

	if err := errors.Join(inTurn(0, 2), inTurn(2, 3)); err != nil {
		return err
	}

	fmt.Fprintf(out, "\nsettling one payment at %d lines, median of %d, ms\n\n| way | ms | ratio |\n|---|---|---|\n",
		b.ledger.lines, upkeepRounds*upkeepPayments)

	for i, way := range ways {
		slices.Sort(took[i])
		slices.Sort(took[0])

		m, base := took[i][len(took[i])/2], took[0][len(took[0])/2]
		fmt.Fprintf(out, "| %s | %.2f | %.2f |\n", way.name, float64(m.Microseconds())/1000, float64(m)/float64(base))
	}

	return nil
}

// settled settles payments one after the other between two changes of the schema, and notes how long each took.
func (b *reportsBench) settled(ctx context.Context, sales *bench, before, after string, took *[]time.Duration) error {
	if _, err := b.db.ExecContext(ctx, before); err != nil {
		return err
	}

	for range upkeepPayments {
		tx, err := b.reported(ctx, sales)
		if err != nil {
			return err
		}

		began := time.Now()

		if _, err := b.store.Payments.SettlePayment(ctx, tx.ID, time.Now()); err != nil {
			return err
		}

		*took = append(*took, time.Since(began))
	}

	_, err := b.db.ExecContext(ctx, after)

	return err
}

// reported is a payment that its gateway has reported as paid, and that is not settled yet.
func (b *reportsBench) reported(ctx context.Context, sales *bench) (models.PaymentTransaction, error) {
	a, err := sales.book(ctx)
	if err != nil {
		return models.PaymentTransaction{}, err
	}

	tx, _, err := b.store.Payments.OpenPayment(ctx, a, time.Now)
	if err != nil {
		return tx, err
	}

	made := payments.OpenedCheckout{Reference: "ref-" + tx.ID.String(), URL: "https://gateway.test/"}
	if err := b.store.Payments.SaveCheckout(ctx, tx.ID, tx.Channel, made); err != nil {
		return tx, err
	}

	_, err = b.store.Payments.StoreEvent(ctx, models.WebhookEvent{
		ID: models.NewID(), Channel: a.Method.Channel(), WebhookID: uuid.NewString(), Type: models.EventPaymentSucceeded,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: tx.ID.String(), Amount: &tx.Amount, Currency: tx.Currency,
		PaymentMethod: a.Method, OccurredAt: time.Now(),
	}, time.Now())

	return tx, err
}
