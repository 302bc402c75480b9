package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/sandbox"
	sandboxsim "rihla/gateways/simulator/sandbox"
	"rihla/models"
)

const (
	envChildFile = "SANDBOX_TEST_CHILD_FILE"
	envChildHook = "SANDBOX_TEST_CHILD_HOOK"
)

// TestMain lets the test binary be the sandbox of TestKill, a process that can be killed.
func TestMain(m *testing.M) {
	if file := os.Getenv(envChildFile); file != "" {
		if err := child(file, os.Getenv(envChildHook)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}

		return
	}

	os.Exit(m.Run())
}

func child(file, hook string) error {
	cfg := config(hook, file)
	cfg.NoSync = false

	s, err := sandboxsim.New(cfg)
	if err != nil {
		return err
	}

	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		return err
	}

	fmt.Println(url) //nolint:forbidigo // the parent reads it

	time.Sleep(time.Minute) // killed long before

	return nil
}

// TestKill: what was answered before a kill -9 is there afterwards, and its webhooks are still sent.
func TestKill(t *testing.T) {
	t.Parallel()

	b := &bundle{inbox: newInbox(t), file: t.TempDir() + "/state.db"}
	b.inbox.refuseNext(1_000_000)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	process := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	process.Env = append(os.Environ(), envChildFile+"="+b.file, envChildHook+"="+b.inbox.URL)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())

	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)

	b.URL = strings.TrimSpace(line)
	b.driver, err = sandbox.New(sandbox.Config{BaseURL: b.URL, APIKey: apiKey})
	require.NoError(t, err)

	b.Authorize = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+apiKey) }

	request := gatewaytest.Request()
	before, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Press(t, before.ID, "succeed")

	refund := gateways.RefundRequest{Checkout: gateways.CheckoutRef{ID: before.ID}, MerchantReference: uuid.New(), Amount: before.Amount, Currency: "SAR"}
	refunded, err := b.driver.CreateRefund(t.Context(), refund)
	require.NoError(t, err)

	require.NoError(t, process.Process.Kill())
	require.Error(t, process.Wait())

	b.inbox.refuseNext(0)
	b.start(t, config(b.inbox.URL, b.file))

	got, err := b.driver.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: request.MerchantReference})
	require.NoError(t, err)
	require.Equal(t, before.ID, got.ID)
	require.Equal(t, gateways.CheckoutPaid, got.Status)
	require.Equal(t, "1150.00", got.RefundedAmount.String())

	again, err := b.driver.CreateRefund(t.Context(), refund)
	require.NoError(t, err)
	require.Equal(t, refunded, again, "the key's answer outlived the kill")

	b.inbox.waitFor(t, 2)
}

func TestOneProcessPerFile(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, err := sandboxsim.New(config(b.inbox.URL, b.file))
	require.ErrorContains(t, err, "in use by another process")
}

func TestTemporaryStateIsRemoved(t *testing.T) {
	t.Parallel()

	b := setup(t, func(cfg *sandboxsim.Config) { cfg.DataFile = "" })
	b.paid(t)
	b.inbox.waitFor(t, 1)
	b.stop(t)
	b.stop(t) // a second Close does nothing
}

func TestNewRefusesBadConfiguration(t *testing.T) {
	t.Parallel()

	for name, merchants := range map[string][]sandboxsim.Merchant{
		"no merchant":      nil,
		"no name":          {{APIKey: "k"}},
		"no key":           {{Name: "a"}},
		"the same name":    {{Name: "a", APIKey: "k"}, {Name: "a", APIKey: "l"}},
		"the same key":     {{Name: "a", APIKey: "k"}, {Name: "b", APIKey: "k"}},
		"a weak secret":    {{Name: "a", APIKey: "k", Channels: map[models.PaymentMethod]sandboxsim.Channel{"credit_card": {Secret: "whsec_AAAA"}}}},
		"a missing secret": {{Name: "a", APIKey: "k", Channels: map[models.PaymentMethod]sandboxsim.Channel{"credit_card": {WebhookURL: "http://x"}}}},
	} {
		_, err := sandboxsim.New(sandboxsim.Config{Merchants: merchants})
		require.Error(t, err, name)
	}
}
