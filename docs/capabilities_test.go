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

// capabilitiesTable has a row per driver and per group of its methods that can do the same.
func capabilitiesTable(t *testing.T) string {
	t.Helper()

	var b strings.Builder

	b.WriteString("\n| Driver | Methods | Amount | Time to pay | Refunds | Lost answer: checkouts, refunds | Cancel |\n|---|---|---|---|---|---|---|\n")

	for _, name := range drivers.Names() {
		d, err := drivers.Of(name)
		require.NoError(t, err)

		// As of an account that has everything.
		every := drivers.Config{EntityIDs: map[models.PaymentMethod]string{}}
		for _, m := range models.PaymentMethods() {
			every.EntityIDs[m] = "id"
		}

		can := d.Capabilities(every)

		for i := 0; i < len(can.Methods); {
			m := can.Methods[i]
			same := []string{string(m.Method)}

			for i++; i < len(can.Methods) && limitsOf(can.Methods[i]) == limitsOf(m); i++ {
				same = append(same, string(can.Methods[i].Method))
			}

			fmt.Fprintf(&b, "| `%s` | %s | %s | %s, %s | %s |\n", name, strings.Join(same, ", "), limitsOf(m), settled(can.Checkouts),
				settled(can.Refunds), map[bool]string{true: "yes", false: "no"}[can.Cancel])
		}
	}

	return b.String() + "\n"
}

// limitsOf are the cells of a method that others of its driver may have, too.
func limitsOf(m gateways.MethodCapability) string {
	return amounts(m) + " | " + timeToPay(m.MaxTimeToPay) + " | " + string(m.Refunds)
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
		return "no limit"
	case d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%d hours", d/time.Hour)
	default:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
}

func settled(s gateways.Settlement) string { return strings.ReplaceAll(string(s), "_", " ") }
