package operations

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/storetest"
	"rihla/internal/telemetry"
	"rihla/internal/testkit"
	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

// TestRefundOrderedWhileTheOrchestratorIsAway: the order stands whatever the orchestrator answers, started or not, and is
// executed once when a worker comes; asking again is no second refund.
func TestRefundOrderedWhileTheOrchestratorIsAway(t *testing.T) {
	t.Parallel()

	for name, excuse := range map[string]error{
		"not ready":  serviceerror.ToStatus(serviceerror.NewWorkflowNotReady("Workflow state is not ready to handle the request.")).Err(),
		"ended":      serviceerror.ToStatus(serviceerror.NewNotFound("workflow execution already completed")).Err(),
		"not loaded": serviceerror.ToStatus(serviceerror.NewNamespaceNotFound("default")).Err(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			address, queue := testkit.Temporal(t), "test-"+uuid.NewString()
			excusing := dialTemporal(t, address, excuse)
			s := storetest.New(t)
			paid, gateway := paidAttempt(t, s)
			o := &Operations{Deps: Deps{
				Log: slog.Default(), Metrics: telemetry.NewMetrics(prometheus.NewRegistry()), Store: s,
				Workflows: workflows.NewClient(excusing, queue), RefundWait: 5 * time.Second, Now: time.Now,
			}}
			request := models.RefundRequest{ID: uuid.New(), BookingID: *paid.BookingID, Type: models.RefundFull, Reason: "Plans changed"}

			for range 2 {
				ordered, err := o.refund(t.Context(), request)
				require.NoError(t, err)
				require.Equal(t, models.RefundPending, ordered.Status, "answered 202: it exists")
				require.Equal(t, "Plans changed", ordered.Reason)
			}

			// Without a key it is another refund, of which nothing is left: it was never "perhaps".
			again := request
			again.ID = uuid.New()
			_, err := o.refund(t.Context(), again)
			require.Equal(t, models.CodeRefundExceedsRemaining, models.CodeOf(err))

			reliable := dialTemporal(t, address, nil)
			w := worker.New(worker.Deps{
				Log: slog.Default(), Temporal: reliable, Store: s, Sender: nobody{}, Namespace: "default", Queue: queue,
				Gateways: map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: gateway},
			})
			require.NoError(t, w.Start(t.Context()))
			t.Cleanup(w.Stop)

			// The test does the sweep's work for refunds whose signal was never sent.
			due, _, err := s.Payments.StaleRefunds(t.Context(), time.Hour, 0, db.SweepCursor{}, 10, time.Now().Add(time.Second))
			require.NoError(t, err)

			for _, r := range due {
				require.NoError(t, workflows.NewClient(reliable, queue).ResumeRefund(t.Context(), r))
			}

			require.Eventually(t, func() bool {
				now, err := s.Refunds.RefundByID(t.Context(), request.ID)

				return err == nil && now.Status == models.RefundSucceeded
			}, 30*time.Second, 20*time.Millisecond)
			require.Len(t, gateway.Refunds(), 1)
		})
	}
}

// dialTemporal is a client whose starts are made and then answered with the excuse, if there is one.
func dialTemporal(t *testing.T, address string, excuse error) client.Client {
	t.Helper()

	c, err := client.NewLazyClient(client.Options{
		HostPort: address, Logger: slog.New(slog.DiscardHandler),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if excuse == nil || !strings.HasSuffix(method, "/ExecuteMultiOperation") {
					return invoke(ctx, method, req, reply, cc, opts...)
				}

				// There is no worker: the start is done at once, the update would wait for ever.
				short, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()

				_ = invoke(short, method, req, reply, cc, opts...)

				return excuse
			})}},
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)

	return c
}

// paidAttempt is an attempt that was paid at a gateway in memory.
func paidAttempt(t *testing.T, s *store.Store) (models.PaymentTransaction, *fake.Gateway) {
	t.Helper()

	world, gateway := storetest.Fixture(t, s), fake.New()
	user := world.Users[models.RoleEndUser].ID
	b, err := s.Bookings.CreateBooking(t.Context(), bookings.NewBooking{
		UserID: user, TripID: world.Trip.ID, Passengers: []models.Passenger{{Name: "Passenger"}}, ContactName: "Contact",
		ContactEmail: "contact@rihla.test", ContactPhone: "+966500000000", Method: models.MethodCreditCard,
	}, time.Now())
	require.NoError(t, err)

	attempt := models.Attempt{BookingID: b.ID, ProviderID: b.ProviderID, Number: 1, UserID: user, Method: models.MethodCreditCard}
	paid, _, err := s.Payments.OpenPayment(t.Context(), attempt, time.Now)
	require.NoError(t, err)

	c, err := gateway.CreateCheckout(t.Context(), gateways.CheckoutRequest{
		MerchantReference: paid.ID, Amount: paid.Amount, Currency: paid.Currency, Method: paid.PaymentMethod, ExpiresAt: paid.ExpiresAt,
	})
	require.NoError(t, err)
	require.NoError(t, gateway.Pay(paid.ID))
	require.NoError(t, s.Payments.SaveCheckout(t.Context(), paid.ID, paid.Channel, payments.OpenedCheckout{Reference: c.ID, URL: c.URL}))

	_, err = s.Inbox.StoreEvent(t.Context(), models.WebhookEvent{
		ID: models.NewID(), Channel: models.ChannelGatewayA, WebhookID: "evt-1", Type: models.EventPaymentSucceeded, CheckoutID: c.ID,
		MerchantReference: paid.ID.String(), Amount: &paid.Amount, Currency: paid.Currency, PaymentMethod: paid.PaymentMethod, OccurredAt: time.Now(),
	}, time.Now())
	require.NoError(t, err)

	settled, err := s.Payments.SettlePayment(t.Context(), paid.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, settled.Status)

	return paid, gateway
}

// A sender that drops every message.
type nobody struct{}

func (nobody) Send(context.Context, notify.Message) error { return nil }
