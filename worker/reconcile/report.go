package reconcile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"rihla/gateways"
	"rihla/models"
)

// Kind is what gateway and books do not agree about.
type Kind string

// The kinds.
const (
	PaidThere        Kind = "PAID_THERE"         // brought into the books
	FailedThere      Kind = "FAILED_THERE"       // brought into the books
	StillOpen        Kind = "STILL_OPEN"         // closed at the gateway
	RefundDecided    Kind = "REFUND_DECIDED"     // brought into the books
	RefundSent       Kind = "REFUND_SENT"        // its workflow finds out what became of it
	OutsideRefund    Kind = "OUTSIDE_REFUND"     // booked, with an incident
	SecondPayment    Kind = "SECOND_PAYMENT"     // booked, and goes back
	UnknownMoney     Kind = "UNKNOWN_MONEY"      // an incident: people decide
	UnknownOpen      Kind = "UNKNOWN_OPEN"       // closed with Options.CloseUnknown
	UnknownRefund    Kind = "UNKNOWN_REFUND"     // people look at it
	RefundDiffers    Kind = "REFUND_DIFFERS"     // its workflow opens an incident
	NotPaidThere     Kind = "NOT_PAID_THERE"     // the statement says what is right
	NotRefundedThere Kind = "NOT_REFUNDED_THERE" // the statement says what is right
	Foreign          Kind = "FOREIGN"            // none of ours
)

// The subjects of findings.
const (
	SubjectPayment  = "payment"
	SubjectRefund   = "refund"
	SubjectCheckout = "checkout"
)

// Finding is one thing that gateway and books do not agree about. It has no personal data.
type Finding struct {
	Kind     Kind                   `json:"kind"`
	Account  models.MerchantAccount `json:"account"`
	Subject  string                 `json:"subject"`
	ID       string                 `json:"id"`
	Checkout string                 `json:"checkout,omitempty"`
	Amount   string                 `json:"amount,omitempty"`
	Says     string                 `json:"says"`
	Changed  bool                   `json:"changed"` // by this run: of a second one all are false
}

// AccountReport counts what one account was asked.
type AccountReport struct {
	Account        models.MerchantAccount `json:"account"`
	Driver         string                 `json:"driver"`
	Attempts       int                    `json:"attempts"`
	Refunds        int                    `json:"refunds"`
	Listed         int                    `json:"listed"`
	Asked          int                    `json:"asked"`      // questions
	Unanswered     int                    `json:"unanswered"` // questions that the gateway did not answer, or was not asked any more
	ListsCheckouts bool                   `json:"lists_checkouts"`
	ListsRefunds   bool                   `json:"lists_refunds"`
	Only           []string               `json:"statement_only"` // what only the company's statement can tell
}

// Report is what a run asked, changed and cannot tell.
type Report struct {
	Since         time.Time        `json:"since"`
	From          time.Time        `json:"from"` // attempts since then were asked about
	Began         time.Time        `json:"began"`
	Took          time.Duration    `json:"took_ns"`
	DryRun        bool             `json:"dry_run"`
	Accounts      []*AccountReport `json:"accounts"`
	Findings      []Finding        `json:"findings"`
	Started       map[string]int   `json:"workflows_started,omitempty"`
	Ended         int              `json:"workflows_ended"`
	Orchestrator  string           `json:"orchestrator,omitempty"` // why not all workflows were started
	MessagesDue   int              `json:"messages_due"`
	OldestMessage time.Time        `json:"oldest_message,omitzero"`
}

func (r *Report) started(what string) {
	if r.Started == nil {
		r.Started = map[string]int{}
	}

	r.Started[what]++
}

// Changes counts what this run changed.
func (r *Report) Changes() (n int) {
	for _, f := range r.Findings {
		if f.Changed {
			n++
		}
	}

	if r.DryRun {
		return n
	}

	for _, started := range r.Started {
		n += started
	}

	return n + r.Ended
}

// Whole reports that every question was answered and every workflow started.
func (r *Report) Whole() bool {
	return r.Orchestrator == "" && !slices.ContainsFunc(r.Accounts, func(a *AccountReport) bool { return a.Unanswered > 0 })
}

// statementOnly is what no question to the account can tell.
func statementOnly(a *Account) []string {
	only := []string{"disputes, fees and transfers to the bank account"}

	if a.Checkouts == nil {
		only = append(only, "money taken for checkouts that the books do not have: the company has no list")
	}

	if a.Refunds == nil {
		only = append(only, "refunds made in the dashboard of payments older than the moment asked from")
	}

	if a.Gateway.Capabilities().Refunds == gateways.SettledBySum {
		only = append(only, "which of several refunds of one payment was made: the company knows their sum")
	}

	return append(only, "manual payouts that were confirmed after the restored moment: the bank's statement")
}

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)

	fmt.Fprintf(out, "since %s; attempts from %s\n\n", r.Since.UTC().Format(time.RFC3339), r.From.UTC().Format(time.RFC3339))
	fmt.Fprintln(out, "ACCOUNT\tDRIVER\tATTEMPTS\tREFUNDS\tLISTED\tASKED\tUNANSWERED")

	for _, a := range r.Accounts {
		fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%d\t%d\t%d\n", a.Account, a.Driver, a.Attempts, a.Refunds, a.Listed, a.Asked, a.Unanswered)
	}

	if len(r.Findings) > 0 {
		fmt.Fprintln(out, "\nFOUND\tCHANGED\tACCOUNT\tSUBJECT\tAMOUNT\tWHAT")
	}

	for _, f := range r.Findings {
		fmt.Fprintf(out, "%s\t%t\t%s\t%s %s\t%s\t%s\n", f.Kind, f.Changed, f.Account, f.Subject, f.ID, cmp.Or(f.Amount, "-"), f.Says)
	}

	r.printWorkflows(out)

	fmt.Fprintln(out, "\nOnly a statement can tell:")

	for _, a := range r.Accounts {
		for _, only := range a.Only {
			fmt.Fprintf(out, "  %s: %s\n", a.Account, only)
		}
	}

	fmt.Fprintf(out, "\n%d findings, %d changes, %.1f s\n", len(r.Findings), r.Changes(), r.Took.Seconds())

	return out.Flush()
}

func (r *Report) printWorkflows(w io.Writer) {
	verb := "started"
	if r.DryRun {
		verb = "missing"
	}

	fmt.Fprintln(w)

	for _, what := range []string{"payments", "refunds", "campaigns", "cancellation requests", "trip cancellations", "incidents"} {
		if n := r.Started[what]; n > 0 {
			fmt.Fprintf(w, "workflows %s: %d %s\n", verb, n, what)
		}
	}

	if r.Ended > 0 {
		fmt.Fprintf(w, "workflows of what the books do not have, or have resolved: %d; they are ended unless this is a dry run\n", r.Ended)
	}

	if r.Orchestrator != "" {
		fmt.Fprintln(w, r.Orchestrator)
	}

	if r.MessagesDue > 0 {
		fmt.Fprintf(w, "messages due: %d, the oldest from %s\n", r.MessagesDue, r.OldestMessage.UTC().Format(time.RFC3339))
	}
}
