package e2e_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"rihla/e2e/harness"
	"rihla/internal/codec"
	"rihla/models"
)

const codecKeys = "TEMPORAL_CODEC_KEYS"

func codecKey(t *testing.T, id string) string {
	t.Helper()

	key, err := codec.NewKey(id)
	require.NoError(t, err)

	return key
}

// restart has API and worker start anew with other keys, while whatever waits goes on waiting.
func restart(s *harness.Stack, keys string) {
	for _, p := range []*harness.Process{s.Worker, s.API} {
		p.Kill()
		p.Setenv(codecKeys, keys)
		p.Start()
	}
}

// TestEncryptionIsSwitchedOnAndKeysChange has payments wait while encryption is switched on, while the key changes, and
// while a worker without the key meets them.
func TestEncryptionIsSwitchedOnAndKeysChange(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	k1, k2 := codecKey(t, "k1"), codecKey(t, "k2")
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	paid := func(b harness.Booking) {
		t.Helper()
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
		require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)
		// The workflow that waited is the one that settled: nothing was left to others.
		require.NoError(t, s.Temporal.GetWorkflow(t.Context(), models.PaymentWorkflowID(b.Payment.TransactionID), "").Get(t.Context(), nil))
	}

	open := customer.Book(1)

	restart(s, "plain,"+k1)
	restart(s, k1+",plain")
	paid(open)
	awaitNoneRunning(t, s) // that began in plain text
	restart(s, k1)

	first, second := customer.Book(1), customer.Book(1)

	requireSealed(t, s, models.PaymentWorkflowID(first.Payment.TransactionID), "k1", first)

	requireForgeriesRefused(t, s, k1, first, second)
	restart(s, k2+","+k1)
	paid(first)

	third := customer.Book(1)

	requireSealed(t, s, models.PaymentWorkflowID(third.Payment.TransactionID), "k2", third)

	// Without its key a worker can do nothing about a payment, and must not do anything.
	stuck := func(b harness.Booking, has, lacks string) {
		t.Helper()
		s.Worker.Kill()
		s.Worker.Setenv(codecKeys, has)
		s.Worker.Start()
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
		require.Contains(t, awaitTaskFailure(t, s, models.PaymentWorkflowID(b.Payment.TransactionID), k1), `key "`+lacks+`"`)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND status = 'PENDING'", b.Payment.TransactionID))
	}
	stuck(third, k1, "k2")
	stuck(second, "", "k1")

	restart(s, k2+","+k1)

	for _, b := range []harness.Booking{second, third} {
		require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)
	}

	a := finance.Post("/api/v1/admin/bookings/"+third.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

	var refund struct {
		ID uuid.UUID `json:"id"`
	}

	require.NoError(t, a.Data(&refund))

	// A refund that is not allowed is no order, and leaves nothing in the orchestrator.
	a = finance.Post("/api/v1/admin/bookings/"+second.ID.String()+"/refund", map[string]any{"refund_type": "PARTIAL", "amount": models.MustMoney("9999.00")})
	require.Equal(t, models.CodeRefundExceedsRemaining, a.Code())
	require.NotContains(t, string(a.Body), "Encoded failure")

	requireSealed(t, s, models.RefundWorkflowID(refund.ID), "k2", third)
	requireReadable(t, s, models.RefundWorkflowID(refund.ID), k2+","+k1)
}

// awaitNoneRunning waits as an operator does before `plain` is taken out.
func awaitNoneRunning(t *testing.T, s *harness.Stack) {
	t.Helper()

	query := fmt.Sprintf("TaskQueue = '%s' AND ExecutionStatus = 'Running'", s.Queue)

	require.Eventually(t, func() bool {
		n, err := s.Temporal.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: query})

		return err == nil && n.GetCount() == 0
	}, patience, 100*time.Millisecond)
}

// requireForgeriesRefused does what those can who may write to the orchestrator and have no key: start a workflow with words of
// their own, and with words that were encrypted for another one. Neither gets further than its first task.
func requireForgeriesRefused(t *testing.T, s *harness.Stack, key string, theirs, other harness.Booking) {
	t.Helper()

	from := models.PaymentWorkflowID(theirs.Payment.TransactionID)
	input := rawHistory(t, s, from).GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads()[0]
	require.Equal(t, from, string(input.GetMetadata()["encryption-workflow-id"]))

	for id, forged := range map[string]struct {
		input any
		want  string
	}{
		"refund/" + uuid.NewString():  {uuid.New(), "is not encrypted"},
		"payment/" + uuid.NewString(): {converter.NewRawValue(input), `a payload of workflow "` + from},
	} {
		_, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: s.Queue},
			map[bool]string{true: "Refund", false: "Payment"}[strings.HasPrefix(id, "refund/")], forged.input)
		require.NoError(t, err)
		require.Contains(t, awaitTaskFailure(t, s, id, key), forged.want)
		require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), id, "", "forged"))
	}

	require.Equal(t, 2, s.Count("SELECT count(*) FROM payment_transactions WHERE status = 'PENDING' AND id IN ($1, $2)",
		theirs.Payment.TransactionID, other.Payment.TransactionID))
}

// requireSealed looks at a history as the orchestrator has it: each payload is encrypted with the key, and nothing about
// the booking can be read but the ids by which operators search.
func requireSealed(t *testing.T, s *harness.Stack, workflowID, key string, b harness.Booking) {
	t.Helper()

	history, payloads := rawHistory(t, s, workflowID), 0

	for _, event := range history.GetEvents() {
		if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
			started.SearchAttributes, started.WorkflowId = nil, ""
		}

		if upserted := event.GetUpsertWorkflowSearchAttributesEventAttributes(); upserted != nil {
			upserted.SearchAttributes = nil
		}

		eachPayload(event.ProtoReflect(), func(p *commonpb.Payload) {
			payloads++

			require.Equal(t, "binary/encrypted", string(p.GetMetadata()["encoding"]), event)
			require.Equal(t, key, string(p.GetMetadata()["encryption-key-id"]), event)
		})

		text, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(event)
		require.NoError(t, err)

		for _, id := range []uuid.UUID{b.ID, s.World.Provider.ID, b.Payment.TransactionID} {
			// The workflow's own id is the transaction's.
			open := strings.ReplaceAll(string(text), workflowID, "")
			require.NotContains(t, open, id.String())
			require.NotContains(t, open, base64.StdEncoding.EncodeToString([]byte(id.String()))[:20])
		}
	}

	require.Greater(t, payloads, 2)
}

func rawHistory(t *testing.T, s *harness.Stack, workflowID string) *historypb.History {
	t.Helper()

	history := &historypb.History{}

	events := s.Temporal.GetWorkflowHistory(t.Context(), workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)

		history.Events = append(history.Events, e)
	}

	return history
}

// eachPayload walks a message down to its payloads.
func eachPayload(m protoreflect.Message, look func(*commonpb.Payload)) {
	if p, ok := m.Interface().(*commonpb.Payload); ok {
		look(p)

		return
	}

	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				eachPayload(v.Message(), look)

				return true
			})
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				eachPayload(v.List().Get(i).Message(), look)
			}
		case f.Message() != nil && !f.IsMap():
			eachPayload(v.Message(), look)
		}

		return true
	})
}

// awaitTaskFailure waits until a worker could not take the workflow on, and returns what it said, which it has encrypted
// with the key that it had.
func awaitTaskFailure(t *testing.T, s *harness.Stack, workflowID, key string) (message string) {
	t.Helper()

	keys, err := codec.ParseKeys([]string{key})
	require.NoError(t, err)
	c, err := codec.New(keys)
	require.NoError(t, err)

	var reader client.Options

	c.Install(&reader)
	require.Eventually(t, func() bool {
		for _, event := range rawHistory(t, s, workflowID).GetEvents() {
			if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
				message = reader.FailureConverter.FailureToError(failed.GetFailure()).Error()
			}
		}

		return message != ""
	}, patience, 100*time.Millisecond)

	d, err := s.Temporal.DescribeWorkflow(t.Context(), workflowID, "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, d.Status)

	return message
}

func codecClient(address, token string) converter.PayloadCodec {
	return converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
		Endpoint: address,
		ModifyRequest: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)

			return nil
		},
	})
}

// requireReadable reads a history through the codec server, as the UI does.
func requireReadable(t *testing.T, s *harness.Stack, workflowID, keys string) {
	t.Helper()

	const token = "harness-codec-token-4711"

	address := s.Codec(map[string]string{codecKeys: keys, "TEMPORAL_CODEC_TOKEN": token})
	remote := codecClient(address, token)
	read := 0

	for _, event := range rawHistory(t, s, workflowID).GetEvents() {
		if event.GetUpsertWorkflowSearchAttributesEventAttributes() != nil {
			continue
		}

		eachPayload(event.ProtoReflect(), func(p *commonpb.Payload) {
			opened, err := remote.Decode([]*commonpb.Payload{p})
			require.NoError(t, err)
			require.NotEqual(t, "binary/encrypted", string(opened[0].GetMetadata()["encoding"]))

			if !proto.Equal(p, opened[0]) {
				read++
			}
		})
	}

	require.Greater(t, read, 2)

	_, err := codecClient(address, "another").Decode([]*commonpb.Payload{{}})
	require.ErrorContains(t, err, "token")
}
