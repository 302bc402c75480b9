package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"rihla/models"
	"rihla/workflows"
)

// Starting the same attempt again finds the workflow that runs: a booking has one attempt of each number.
func ExampleClient_StartPayment() { //nolint:testableexamples // it needs a Temporal that runs
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:7233"})
	if err != nil {
		panic(err)
	}
	defer temporal.Close()

	payments := workflows.NewClient(temporal, "payments")
	attempt := models.Attempt{BookingID: uuid.New(), Number: 1, Method: models.MethodCreditCard}

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()

	checkout, err := payments.StartPayment(ctx, attempt)

	switch {
	case errors.Is(err, workflows.ErrStillRunning):
		fmt.Println("the customer can ask again: the workflow goes on as", models.PaymentWorkflowID(attempt.ID()))
	case err != nil:
		fmt.Println("not started:", err)
	default:
		fmt.Println("to be paid until", checkout.ExpiresAt)
	}
}
