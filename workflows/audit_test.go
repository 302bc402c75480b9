package workflows_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/workflows"
)

func newAuditWorld(t *testing.T) (*world, *activities.Audit) {
	t.Helper()

	w, auditor := newWorld(t), &activities.Audit{}
	w.RegisterActivity(auditor)

	return w, auditor
}

func TestAudit(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]activities.Audited{
		"the books agree":        {Rules: 50},
		"they do not":            {Rules: 50, Differences: 7, Incidents: 2},
		"some could not be read": {Rules: 49, Unseen: []string{"trip-seats"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, auditor := newAuditWorld(t)
			w.OnActivity(auditor.AuditBooks, mock.Anything).Return(want, nil).Once()
			w.ExecuteWorkflow(workflows.Audit, workflows.AuditOptions{})
			require.NoError(t, w.GetWorkflowError())

			var got activities.Audited

			require.NoError(t, w.GetWorkflowResult(&got))
			require.Equal(t, want, got)
		})
	}
}

// An audit that fails for good says so to people, and fails.
func TestAuditThatFails(t *testing.T) {
	t.Parallel()

	w, auditor := newAuditWorld(t)
	w.OnActivity(auditor.AuditBooks, mock.Anything).Return(activities.Audited{}, errors.New("the database is away")).Times(6)
	w.OnActivity(auditor.ReportUnaudited, mock.Anything, "the database is away").Return(errors.New("still")).Once()
	w.OnActivity(auditor.ReportUnaudited, mock.Anything, "the database is away").Return(nil).Once()
	w.ExecuteWorkflow(workflows.Audit, workflows.AuditOptions{})
	require.ErrorContains(t, w.GetWorkflowError(), "the database is away")
}

// Who starts an audit may want to hear sooner that it does not go through.
func TestAuditThatIsTriedOnce(t *testing.T) {
	t.Parallel()

	w, auditor := newAuditWorld(t)
	w.OnActivity(auditor.AuditBooks, mock.Anything).Return(activities.Audited{}, errors.New("the database is away")).Once()
	w.OnActivity(auditor.ReportUnaudited, mock.Anything, "the database is away").Return(nil).Once()
	w.ExecuteWorkflow(workflows.Audit, workflows.AuditOptions{Tries: 1})
	require.ErrorContains(t, w.GetWorkflowError(), "the database is away")
}
