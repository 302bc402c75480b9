package operations

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// The resources that an incident links to exist.
func TestIncidentLinks(t *testing.T) {
	t.Parallel()

	runbook, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)

	o := New(Deps{TemporalUI: "https://temporal.rihla.test/namespaces/default", Runbook: "https://docs.rihla.test/operations"})

	for _, kind := range models.IncidentKinds() {
		anchor := "incident-" + strings.ToLower(string(kind))

		links := o.incidentOf(&models.Incident{Kind: kind, WorkflowID: "late-payment/gateway_a/1"}).Links
		require.Equal(t, "https://docs.rihla.test/operations#"+anchor, *links.Runbook)
		require.Contains(t, string(runbook), `<a id="`+anchor+`"></a>`)
		require.Equal(t, "https://temporal.rihla.test/namespaces/default/workflows/late-payment%2Fgateway_a%2F1", *links.Workflow)
	}

	none := New(Deps{}).incidentOf(&models.Incident{Kind: models.IncidentLatePayment, WorkflowID: "payment/1"}).Links
	require.Nil(t, none.Runbook)
	require.Nil(t, none.Workflow)
}
