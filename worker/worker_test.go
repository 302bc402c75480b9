package worker_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/inbox"
	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/internal/store/bookings"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

// testEnv is a worker on a task queue of its own, on a real orchestrator and a real database, with a gateway in memory.
type testEnv struct {
	*workflows.Client

	temporal client.Client
	queue    string
	store    *store.Store
	world    storetest.World
	gateway  *fake.Gateway
	mailbox  *mailbox
}

// mailbox is where all notifications go.
type mailbox struct {
	mu       sync.Mutex
	messages []notify.Message
}

func (m *mailbox) Send(_ context.Context, msg notify.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.messages = append(m.messages, msg)

	return nil
}

func (m *mailbox) count(kind models.NotificationKind) int {
	m.mu.Lock()
	defer m.mu.Unlock()

	n := 0

	for _, msg := range m.messages {
		if msg.Kind == kind {
			n++
		}
	}

	return n
}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()

	c, err := client.Dial(client.Options{
		HostPort: testkit.Temporal(t), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)

	s := storetest.New(t)
	h := &testEnv{
		temporal: c, queue: "test-" + uuid.NewString(), store: s, world: storetest.Fixture(t, s), gateway: fake.New(), mailbox: &mailbox{},
	}
	h.Client = workflows.NewClient(c, h.queue)

	return h
}

// work starts the worker.
func (h *testEnv) work(t *testing.T) {
	t.Helper()

	w := worker.New(worker.Deps{
		Log: slog.Default(), Temporal: h.temporal, Store: h.store, Sender: h.mailbox, Namespace: "default", Queue: h.queue,
		Gateways: map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: h.gateway, models.AccountWalletB: h.gateway},
	})
	require.NoError(t, w.Start(t.Context()))
	t.Cleanup(w.Stop)
}

func (h *testEnv) attempt(t *testing.T) models.Attempt {
	t.Helper()

	user := h.world.Users[models.RoleEndUser].ID
	b, err := h.store.Bookings.CreateBooking(t.Context(), bookings.NewBooking{
		UserID: user, TripID: h.world.Trip.ID, Passengers: []models.Passenger{{Name: "Passenger"}}, ContactName: "Contact",
		ContactEmail: "contact@rihla.test", ContactPhone: "+966500000000", Method: models.MethodCreditCard,
	}, time.Now())
	require.NoError(t, err)

	return models.Attempt{BookingID: b.ID, ProviderID: b.ProviderID, Number: 1, UserID: user, Method: models.MethodCreditCard}
}

// patient bounds what a caller waits for.
func patient(t *testing.T) context.Context {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)

	return ctx
}

func (h *testEnv) start(t *testing.T, a models.Attempt) {
	t.Helper()

	c, err := h.StartPayment(patient(t), a)
	require.NoError(t, err)
	require.Equal(t, models.TransactionPending, c.Status)
}

// webhook stores a gateway's webhook and delivers it, as the API does.
func (h *testEnv) webhook(t *testing.T, a models.Attempt, kind models.EventType) inbox.Stored {
	t.Helper()

	tx, err := h.store.Payments.TransactionByID(t.Context(), a.ID())
	require.NoError(t, err)

	stored, err := h.store.Inbox.StoreEvent(t.Context(), models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: uuid.NewString(), Type: kind,
		CheckoutID: *tx.Reference, MerchantReference: tx.ID.String(), Amount: &tx.Amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, OccurredAt: time.Now(),
	}, time.Now())
	require.NoError(t, err)

	if stored.Deliver {
		require.NoError(t, h.Deliver(t.Context(), stored.Delivery))
	}

	return stored
}

// becomes waits for a state of an attempt.
func (h *testEnv) becomes(t *testing.T, a models.Attempt, want models.TransactionStatus) models.PaymentTransaction {
	t.Helper()

	var tx models.PaymentTransaction

	require.Eventually(t, func() bool {
		var err error

		tx, err = h.store.Payments.TransactionByID(t.Context(), a.ID())

		return err == nil && tx.Status == want
	}, 20*time.Second, 20*time.Millisecond, want)

	return tx
}

// pays takes an attempt from its opening to its payment.
func (h *testEnv) pays(t *testing.T) models.Attempt {
	t.Helper()

	a := h.attempt(t)
	h.start(t, a)
	require.NoError(t, h.gateway.Pay(a.ID()))
	h.webhook(t, a, models.EventPaymentSucceeded)
	h.becomes(t, a, models.TransactionPaid)

	return a
}

// workflow waits for the result of a workflow.
func (h *testEnv) workflow(t *testing.T, id string, out any) {
	t.Helper()
	require.NoError(t, h.temporal.GetWorkflow(patient(t), id, "").Get(patient(t), out))
}
