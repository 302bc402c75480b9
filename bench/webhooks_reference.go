package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"rihla/e2e/rig"
	"rihla/gateways/standardwebhook"
	"rihla/internal/config"
	"rihla/internal/process"
	"rihla/models"
)

// The reference of accepting a webhook is the least that proves and keeps one: Fiber, an HMAC, and one prepared INSERT of the body into a
// table with one unique index. It checks no age, reads no JSON, knows no payment and logs nothing.
const (
	webhookReferenceReady = "webhook reference serves"
	webhookReferenceConns = 20 // as many as the service has by default

	createReferenceTable = `CREATE TABLE bench_webhooks (webhook_id text NOT NULL UNIQUE, body text NOT NULL,
		received_at timestamptz NOT NULL DEFAULT now())`
	insertReference = "INSERT INTO bench_webhooks (webhook_id, body) VALUES ($1, $2)"
)

// newWebhookReference is a process of its own, so that its CPU can be told from that of the load.
func newWebhookReference() *cobra.Command {
	var address, database string

	c := &cobra.Command{
		Use: "webhook-reference", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveWebhookReference(cmd.Context(), address, database, func() { fmt.Fprintln(cmd.OutOrStdout(), webhookReferenceReady) })
		},
	}
	c.Flags().StringVar(&address, "address", "", "to listen on")
	c.Flags().StringVar(&database, "database", "", "of PostgreSQL")

	return c
}

func serveWebhookReference(ctx context.Context, address, database string, ready func()) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(config.DevWebhookSecret(models.ChannelGatewayA).Reveal(), "whsec_"))
	if err != nil {
		return err
	}

	cfg, err := pgxpool.ParseConfig(database)
	if err != nil {
		return err
	}

	cfg.MaxConns = webhookReferenceConns

	pool, err := pgxpool.NewWithConfig(ctx, cfg) // which prepares each text once per connection
	if err != nil {
		return err
	}
	defer pool.Close()

	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Hooks().OnListen(func(fiber.ListenData) error { ready(); return nil })
	app.Post("/", func(f *fiber.Ctx) error {
		id := f.Get(standardwebhook.HeaderID)

		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", id, f.Get(standardwebhook.HeaderTimestamp))
		mac.Write(f.Body())

		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if !hmac.Equal([]byte(f.Get(standardwebhook.HeaderSignature)), []byte(want)) {
			return fiber.ErrUnauthorized
		}

		if _, err := pool.Exec(f.Context(), insertReference, id, string(f.Body())); err != nil {
			return err
		}

		return f.JSON(fiber.Map{"received": true})
	})

	go func() {
		<-ctx.Done()

		_ = app.Shutdown()
	}()

	return app.Listen(address)
}

// webhookReference is the reference on a stage.
type webhookReference struct {
	process *process.Program
	address string
}

func (s *stage) startWebhookReference(ctx context.Context) (*webhookReference, error) {
	if _, err := s.db.ExecContext(ctx, createReferenceTable); err != nil {
		return nil, err
	}

	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}

	r := &webhookReference{address: address, process: &process.Program{
		Command: process.Command{
			Name: "webhook reference", Path: self, Orphan: syscall.SIGKILL, Log: filepath.Join(s.dir, "logs", "webhook-reference.log"),
			Args: []string{"webhook-reference", "--address", address, "--database", s.stack.DatabaseURL},
		},
		Settings: map[string]string{"PATH": os.Getenv("PATH"), "HOME": s.dir}, ReadyLine: webhookReferenceReady,
	}}

	if err := r.process.Start(); err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	return r, r.process.Await(ctx)
}
