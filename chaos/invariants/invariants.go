// Package invariants looks, after every schedule of the chaos harness, for what must not be, whatever was killed: by SQL
// of its own, by the gateway's books, by the answers that people got, and by what Temporal says. It shares nothing with
// the service that it looks at but the words of models.
package invariants

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rihla/chaos/actors"
	"rihla/chaos/env"
	"rihla/e2e/rig"
	"rihla/models"
)

// Evidence is what there is to look at after a schedule.
type Evidence struct {
	Env    *env.Environment
	Run    *actors.Run
	Ledger rig.Ledger // of the gateway: CompanyLedger
	// Rejected is what the gateway has refused: env.Gateway.Rejected.
	Rejected []string
}

// Invariant is one thing that always holds. Check returns what contradicts it, in words.
type Invariant struct {
	Name  string
	Says  string
	Check func(ctx context.Context, s *Evidence) ([]string, error)
}

// All are the invariants, in the order in which they are looked at.
func All() []Invariant {
	all := slices.Concat(aboutProcesses, aboutMoney, aboutRefunds, aboutSubjects, aboutMoves, aboutDesk, aboutAnswers, aboutReports)

	return append(all, Invariant{"audit", "`rihla audit` finds no difference", audit})
}

// Violation is an invariant that does not hold.
type Violation struct {
	Name  string
	Found []string
}

// Check looks at all of them. WaitIdle has to come before.
func Check(ctx context.Context, s *Evidence) ([]Violation, error) {
	var err error

	if s.Ledger, err = companyLedger(ctx, s.Env); err != nil {
		return nil, err
	}

	if s.Rejected, err = s.Env.Gateway.Rejected(); err != nil {
		return nil, err
	}

	var broken []Violation

	for _, i := range All() {
		found, err := i.Check(ctx, s)
		if err != nil {
			return broken, fmt.Errorf("%s: %w", i.Name, err)
		}

		if len(found) > 0 {
			broken = append(broken, Violation{i.Name, found})
		}
	}

	return broken, nil
}

// rows is a check by a query whose every row is a contradiction, in words.
func rows(query string, args ...func(*Evidence) any) func(context.Context, *Evidence) ([]string, error) {
	return func(ctx context.Context, s *Evidence) ([]string, error) {
		values := make([]any, len(args))
		for i, arg := range args {
			values[i] = arg(s)
		}

		return texts(ctx, s.Env.DB, query, values...)
	}
}

func texts(ctx context.Context, db *sql.DB, query string, args ...any) ([]string, error) {
	found, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()

	var all []string

	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			return nil, err
		}

		all = append(all, text)
	}

	return all, found.Err()
}

// The arguments that queries get about the world outside the database, as JSON.
func checkouts(s *Evidence) any { return asJSON(s.Ledger.Checkouts) }

// gatewayRefunds are those that the service has asked for.
func gatewayRefunds(s *Evidence) any { return asJSON(refundsBy(s, false)) }

// outsideRefunds are those that a person has made in the company's dashboard.
func outsideRefunds(s *Evidence) any { return asJSON(refundsBy(s, true)) }

func refundsBy(s *Evidence, dashboard bool) []rig.Refund {
	found := []rig.Refund{}

	for _, r := range s.Ledger.Refunds {
		if r.Dashboard == dashboard {
			if dashboard {
				r.MerchantReference = "" // ours or not, it names none of our refunds
			}

			found = append(found, r)
		}
	}

	return found
}

func approvalLimit(*Evidence) any { return env.ApprovalAbove }

func refusedByGateway(s *Evidence) any { return asJSON(append([]string{}, s.Rejected...)) }

// precision is how exactly the company says when something was, in seconds.
func precision(s *Evidence) any {
	if s.Env.Company.Exact {
		return 0.001
	}

	return 1.0
}

func unknownWebhooks(s *Evidence) any { return asJSON(append([]string{}, s.Run.Unknown...)) }

func madeUp(s *Evidence) any { return asJSON(append([]string{}, s.Env.MadeUp...)) }

// takenWebhooks are those that the service has answered with 200.
func takenWebhooks(s *Evidence) any {
	type one struct {
		Channel models.Channel `json:"channel"`
		ID      string         `json:"id"`
	}

	all := []one{}

	for _, w := range s.Env.WebhookProxy.Taken() {
		for _, c := range models.Channels() {
			if strings.HasSuffix(w.Path, "/"+c.Path()) {
				all = append(all, one{c, w.ID})
			}
		}
	}

	return asJSON(all)
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers
	}

	return string(text)
}

func audit(ctx context.Context, s *Evidence) ([]string, error) {
	text, err := s.Env.Audit(ctx)
	if err == nil {
		return nil, nil
	}

	return []string{err.Error() + "\n" + text}, nil
}
