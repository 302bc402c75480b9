package reconcile

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// missing is something open in the books, and how its workflow is started.
type missing struct {
	what  string
	ids   []string // its workflows: one of them has to run
	start func(context.Context) error
}

// JustStarted is how young a workflow may be that has no row yet: it is not ended.
const JustStarted = 10 * time.Second

// startMissing starts the workflows of what is open in the books and has none, and ends those whose row the books do not have.
func (r *run) startMissing(ctx context.Context, began time.Time) error {
	for _, list := range []func(context.Context) ([]missing, error){
		r.openPayments, r.openRefunds, r.campaigns, r.cancellations, r.trips, r.incidents,
	} {
		open, err := list(ctx)
		if err != nil {
			return err
		}

		for _, m := range open {
			if err := ctx.Err(); err != nil {
				return err
			}

			r.ensure(ctx, m)
		}
	}

	if err := r.endUnknown(ctx, began); err != nil || r.how.DryRun {
		return err
	}

	if err := r.Workflows.WakeOutbox(ctx); err != nil {
		r.noteOrchestrator(ctx, err)
	}

	return nil
}

// ensure starts one that does not run.
func (r *run) ensure(ctx context.Context, m missing) {
	if r.report.Orchestrator != "" {
		return // it does not answer
	}

	for _, id := range m.ids {
		runs, err := r.Workflows.IsRunning(ctx, id)
		if err != nil {
			r.noteOrchestrator(ctx, err)
		}

		if runs || err != nil {
			return
		}
	}

	if !r.how.DryRun {
		if err := m.start(ctx); err != nil {
			r.noteOrchestrator(ctx, err)

			return
		}
	}

	r.report.started(m.what)
}

func (r *run) openPayments(ctx context.Context) (open []missing, err error) {
	for i := range r.Accounts {
		for after, more := (db.SweepCursor{}), true; more; {
			rows, next, err := r.Store.Payments.AttemptsSince(ctx, r.Accounts[i].Channels, r.Now(), after, batch)
			if err != nil {
				return nil, err
			}

			for j := range rows {
				t := &rows[j]
				if t.Status != models.TransactionPending || r.delivered[t.ID] {
					continue // another workflow settles what was heard
				}

				m := missing{what: "payments", ids: []string{models.PaymentWorkflowID(t.ID), models.ReconcileWorkflowID(t.ID)}}
				m.start = func(ctx context.Context) error { return r.Workflows.ResumePayment(ctx, t) }

				if !r.Now().Before(t.ExpiresAt) {
					m.start = func(ctx context.Context) error { return r.Workflows.Reconcile(ctx, t.ID, t.Gateway) }
				}

				open = append(open, m)
			}

			after, more = next, !next.Is(db.SweepCursor{})
		}
	}

	return open, nil
}

func (r *run) openRefunds(ctx context.Context) (open []missing, err error) {
	for i := range r.Accounts {
		for after, more := (db.SweepCursor{}), true; more; {
			rows, next, err := r.Store.Refunds.RefundsSince(ctx, r.Accounts[i].Channels, r.Now(), after, batch)
			if err != nil {
				return nil, err
			}

			for _, row := range rows {
				if row.Status == models.RefundPending {
					open = append(open, missing{
						what: "refunds", ids: []string{models.RefundWorkflowID(row.ID)},
						start: func(ctx context.Context) error { return r.Workflows.ResumeRefund(ctx, row) },
					})
				}
			}

			after, more = next, !next.Is(db.SweepCursor{})
		}
	}

	return open, nil
}

func (r *run) campaigns(ctx context.Context) (open []missing, err error) {
	rows, err := r.Store.Payments.LiveCampaigns(ctx)
	for _, row := range rows {
		open = append(open, missing{
			what: "campaigns", ids: []string{models.CampaignWorkflowID(row.ID)},
			start: func(ctx context.Context) error { return r.Workflows.ResumeCampaign(ctx, row) },
		})
	}

	return open, err
}

func (r *run) cancellations(ctx context.Context) (open []missing, err error) {
	ids, err := r.Store.Cancellations.Undecided(ctx)
	for _, id := range ids {
		open = append(open, missing{
			what: "cancellation requests", ids: []string{models.CancellationWorkflowID(id)},
			start: func(ctx context.Context) error { return r.Workflows.LookAtCancellation(ctx, id) },
		})
	}

	return open, err
}

func (r *run) trips(ctx context.Context) (open []missing, err error) {
	rows, err := r.Store.TripCancellations.Running(ctx)
	for _, row := range rows {
		open = append(open, missing{
			what: "trip cancellations", ids: []string{models.TripCancellationWorkflowID(row.TripID)},
			start: func(ctx context.Context) error { return r.Workflows.LookAtTripCancellation(ctx, row) },
		})
	}

	return open, err
}

// incidents shows those that are open, and ends the workflows of those that were resolved: an older orchestrator still shows them.
func (r *run) incidents(ctx context.Context) (open []missing, err error) {
	rows, err := r.Store.Incidents.ShownSince(ctx, r.from)

	for _, row := range rows {
		if row.Status == models.IncidentOpen {
			open = append(open, missing{
				what: "incidents", ids: []string{models.ReviewWorkflowID(row.ID)},
				start: func(ctx context.Context) error { return r.Workflows.Show(ctx, row) },
			})

			continue
		}

		runs, err := r.Workflows.IsRunning(ctx, models.ReviewWorkflowID(row.ID))
		if err == nil && runs {
			r.report.Ended++

			if !r.how.DryRun {
				err = r.Workflows.Show(ctx, row)
			}
		}

		if err != nil {
			r.noteOrchestrator(ctx, err)

			break
		}
	}

	return open, err
}

// endUnknown ends the workflows of payments and refunds that the books do not have: they were restored to an earlier moment, and an attempt
// that is opened again has the same id.
func (r *run) endUnknown(ctx context.Context, began time.Time) error {
	for workflow, name := range map[string]func(uuid.UUID) string{"Payment": models.PaymentWorkflowID, "Refund": models.RefundWorkflowID} {
		ids, err := r.Workflows.RunningFor(ctx, workflow, began.Add(-JustStarted))
		if err != nil {
			r.noteOrchestrator(ctx, err)

			return nil // the report says it
		}

		known, err := r.known(ctx, workflow, ids)
		if err != nil {
			return err
		}

		for _, id := range ids {
			if known[id] {
				continue
			}

			r.report.Ended++

			if r.how.DryRun {
				continue
			}

			if err := r.Workflows.Terminate(ctx, name(id), "rihla reconcile: the books do not have it"); err != nil {
				r.noteOrchestrator(ctx, err)

				return nil // the report says it
			}
		}
	}

	return nil
}

// known are those of the subjects that the books have.
func (r *run) known(ctx context.Context, workflow string, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	if workflow == "Refund" {
		return r.Store.Refunds.KnownRefunds(ctx, ids)
	}

	rows, err := r.Store.Payments.AttemptsByID(ctx, ids)

	known := make(map[uuid.UUID]bool, len(rows))
	for id := range rows {
		known[id] = true
	}

	return known, err
}
