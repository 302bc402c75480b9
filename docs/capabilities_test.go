package docs_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/drivers"
	"rihla/models"
)

// update is what `go generate ./docs` sets.
var update = flag.Bool("update", false, "write what is made from the code into the documents")

// TestCapabilitiesAreThoseOfTheCode: the table in gateways.md is what drivers state; `go generate ./docs` writes it.
func TestCapabilitiesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()

	const begin, end = "<!-- capabilities: begin -->\n", "<!-- capabilities: end -->"

	text, err := os.ReadFile("gateways.md")
	require.NoError(t, err)

	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	table, after, ok := strings.Cut(rest, end)
	require.True(t, ok)

	if *update {
		require.NoError(t, os.WriteFile("gateways.md", []byte(before+begin+capabilitiesTable(t)+end+after), 0o600))

		return
	}

	require.Equal(t, capabilitiesTable(t), table)
}

func capabilitiesTable(t *testing.T) string {
	t.Helper()

	var b strings.Builder

	b.WriteString("\n| Driver | Method | Amount | Time to pay | Refunds | A lost answer | Cancel |\n|---|---|---|---|---|---|---|\n")

	for _, name := range drivers.Names() {
		d, err := drivers.Of(name)
		require.NoError(t, err)

		// As of an account that has everything.
		every := drivers.Config{EntityIDs: map[models.PaymentMethod]string{}}
		for _, m := range models.PaymentMethods() {
			every.EntityIDs[m] = "id"
		}

		can := d.Capabilities(every)
		for _, m := range can.Methods {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s; refunds %s | %s |\n", name, m.Method, amounts(m), timeToPay(m.MaxTimeToPay), m.Refunds,
				settled(can.Checkouts), settled(can.Refunds), map[bool]string{true: "yes", false: "no"}[can.Cancel])
		}
	}

	return b.String() + "\n"
}

func amounts(m gateways.MethodCapability) string {
	switch {
	case m.MinAmount.IsZero() && m.MaxAmount.IsZero():
		return "any"
	case m.MaxAmount.IsZero():
		return "from " + m.MinAmount.String()
	case m.MinAmount.IsZero():
		return "up to " + m.MaxAmount.String()
	default:
		return models.MustMoney(m.MinAmount.String()).String() + " to " + m.MaxAmount.String()
	}
}

func timeToPay(d time.Duration) string {
	const day = 24 * time.Hour

	switch {
	case d == 0:
		return "as long as ours"
	case d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	default:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
}

func settled(s gateways.Settlement) string { return strings.ReplaceAll(string(s), "_", " ") }
